/* SPDX-License-Identifier: Apache-2.0
   What a cast to a format, or to a block format, does to one array: counts and errors. */
#ifndef HU_ANALYZERS_INSPECT_CAST_H
#define HU_ANALYZERS_INSPECT_CAST_H

#include "analyzers/formats/flush.h"
#include "analyzers/op/foreign.h"
#include "analyzers/formats/targets.h"

/* The error of an element is its value after the cast minus its value before. Sums run over the finite elements, which
   are finite before and after; flush.harm has those of squares. step2, step_error2: see hu_cast_step_rel_l2. */
typedef struct hu_cast_effect {
	hu_flush flush;             /* its overflow: finite elements that became infinite or NaN */
	size_t nonfinite;           /* not finite before the cast */
	size_t saturated; /* became the largest finite value in place of a larger one, or of an infinity or NaN that the
			     format lacks */
	size_t finite;
	double amax,
		smallest; /* magnitudes before the cast: largest finite (-1: none), smallest nonzero (INFINITY: none) */
	double max_error; /* largest |error|, of the first element that has it, which is number MAX_AT; -1: nothing is
			     finite */
	size_t max_at;
	long double error2, error;  /* Σ error², Σ |error| */
	int moments;                /* the array holds Adam's second moments */
	long double step2, step_error2;
} hu_cast_effect;

/* A cast to `to`, RNE, without scaling but a block format's own. Any number of threads gives the same bits. */
void hu_cast_judge(hu_cast_effect *e, const hu_array *a, const hu_target *to);

/* NaN in what follows: undefined, since no element is finite before and after (all), or since all of these are 0 (the
   last two). */
double hu_cast_rel_l2(
	const hu_cast_effect *e); /* ‖errors‖ / ‖values‖; of zeros alone 0 where they stay zeros, else inf */
double hu_cast_sqnr_db(const hu_cast_effect *e);    /* -20 log10 of it; inf: no error */
double hu_cast_mean_error(const hu_cast_effect *e); /* mean |error| */
double hu_cast_share_lost(const hu_cast_effect *e); /* ‖values that became 0‖ / ‖values‖ */
double hu_cast_cosine(const hu_cast_effect *e);
/* Of second moments v: the relative L2 error of the steps g / (sqrt(v) + 1e-8) that a gradient g = sqrt(v), as large as
   the moment says, gets from the moments after the cast. NaN for other arrays. */
double hu_cast_step_rel_l2(const hu_cast_effect *e);

/* Which columns apply: block formats have scales but no FTZ hardware; integers among their elements have no subnormals.
 */
int hu_cast_has_blocks(const hu_target *t);
int hu_cast_has_subnormals(const hu_target *t);
#endif
