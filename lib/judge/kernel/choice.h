/* SPDX-License-Identifier: Apache-2.0
   Decisions: the indexes of the k largest of each row. A choice is wrong only where the margin exceeds the radii. */
#ifndef HU_JUDGE_CHOICE_H
#define HU_JUDGE_CHOICE_H

#include "lib/judge/kernel/balls.h"

/* open: rows whose radii leave more than one choice. wrong: rows where an index is no index, is there twice, or where a
   chosen value is certainly below one that was not chosen. first_wrong: the first such row. */
typedef struct hu_choice {
	size_t rows, k, open, wrong, first_wrong;
} hu_choice;

/* index has rows k numbers; x are the values that were chosen from, along the last axis. */
void hu_choice_judge(hu_choice *d, const double *index, size_t k, const hu_balls *x);
#endif
