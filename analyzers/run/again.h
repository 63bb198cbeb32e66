/* SPDX-License-Identifier: Apache-2.0
   Notes in the head of every table, always in the same words, on how its values were found, how many of them MPFR
   computed a second time, and with what outcome. */
#ifndef HU_ANALYZERS_AGAIN_H
#define HU_ANALYZERS_AGAIN_H

#include "analyzers/run/analyzer.h"
#include "lib/store/run.h"

/* The counts since hu_again_start. */
typedef struct hu_again {
	hu_ladder ladder;              /* the caller adds to it */
	unsigned long long sums;       /* exact sums that MPFR had computed a second time in this process before */
} hu_again;

void hu_again_start(hu_again *g);

/* Writes the notes "ladder" and "judged again". A disagreement has already ended the program, so the second one reports
   0. */
void hu_again_note(const hu_again *g, hu_tsv *t);

/* Writes the note "exact step" on how the exact steps so far were computed; nothing where there was none. */
void hu_again_note_step(const hu_analysis *a, hu_tsv *t);
#endif
