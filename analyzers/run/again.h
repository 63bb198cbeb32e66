/* SPDX-License-Identifier: Apache-2.0
   Notes in the head of every table, always in the same words, on how its values were found, how many of them MPFR
   computed a second time, and with what outcome. */
#ifndef HU_ANALYZERS_AGAIN_H
#define HU_ANALYZERS_AGAIN_H

#include "analyzers/run/analyzer.h"
#include "lib/exact/gemm.h"
#include "lib/store/run.h"

/* How the values of some units were found. */
typedef struct hu_again {
	hu_methods methods;     /* the caller adds to it */
	uint64_t integers;    /* single sums of products that were computed exactly on grids */
	uint64_t sums;        /* exact sums that MPFR computed a second time */
	hu_exact_tally tally; /* whole products */
} hu_again;

/* Between these two calls one thread computes a unit; hu_again_stop sets what lib/exact counted meanwhile. */
void hu_again_start(hu_again *g);
void hu_again_stop(hu_again *g);
/* Packs the counts; unpacking, it also adds them to `to`. */
void hu_again_pack(hu_pack *r, hu_again *g, hu_again *to);

/* Writes the notes "methods" and "judged again". The second one also reports the calls without a
   verdict (a->disagreed). */
void hu_again_note(const hu_analysis *a, const hu_again *g, hu_tsv *t);
void hu_again_note_twice(const hu_analysis *a, const hu_again *g, hu_tsv *t); /* the second of them alone */

/* Writes the note "exact step" on how the exact steps so far were computed; nothing where there was none. */
void hu_again_note_step(const hu_analysis *a, hu_tsv *t);
#endif
