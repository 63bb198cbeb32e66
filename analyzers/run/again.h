/* SPDX-License-Identifier: Apache-2.0
   What a table's head says of the judging behind it: how its values were found, how many of them MPFR judged
   again, and with what outcome; the same words in every table. */
#ifndef HU_ANALYZERS_AGAIN_H
#define HU_ANALYZERS_AGAIN_H

#include "analyzers/run/analyzer.h"
#include "lib/store/run.h"

/* Judging from hu_again_start on. */
typedef struct hu_again {
	hu_ladder ladder;              /* added to by the caller */
	unsigned long long sums;       /* of the process, exact sums that MPFR judged again before */
} hu_again;

void hu_again_start(hu_again *g);

/* The notes "ladder" and "judged again". A disagreement has ended the program, so 0 is what is left to say. */
void hu_again_note(const hu_again *g, hu_tsv *t);

/* The note "exact step": what the exact steps so far rest on; none where there was none. */
void hu_again_note_step(const hu_analysis *a, hu_tsv *t);
#endif
