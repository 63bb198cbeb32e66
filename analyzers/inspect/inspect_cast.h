/* SPDX-License-Identifier: Apache-2.0
   What a cast to a format or a block format does to arrays: counts and errors, and the measures that follow. */
#ifndef HU_ANALYZERS_INSPECT_CAST_H
#define HU_ANALYZERS_INSPECT_CAST_H

#include "analyzers/formats/flush.h"
#include "analyzers/formats/targets.h"

#include <stddef.h>

/* The error of an element is its value after the cast minus its value before. Sums run over the `finite` elements,
   those that are finite before and after; flush.harm has the sums of squares. hu_cast_step_rel_l2 explains step2 and
   step_error2. */
typedef struct hu_cast_effect {
	hu_flush flush;   /* flush.overflow counts finite elements that became infinite or NaN */
	size_t nonfinite; /* elements that are not finite before the cast */
	size_t saturated; /* elements that became the largest finite value in place of a larger one, or of an infinity
			     or NaN that the format lacks */
	size_t finite;
	double amax, smallest; /* magnitudes before the cast: the largest finite one (-1: none) and the smallest nonzero
				  one (INFINITY: none) */
	double max_error; /* the largest |error|, of the first element that has it, whose index is max_at; -1 where no
			     element is finite */
	size_t max_at;
	long double error2, error; /* Σ error², Σ |error| */
	int moments;               /* the array holds Adam's second moments */
	long double step2, step_error2;
	/* The scale found best, which values are divided by before the cast and multiplied by after it; NaN where there
	   is none for all elements. Under it best_finite elements are finite; the sums of squares of their values and
	   errors. */
	double best_scale;
	size_t best_finite;
	long double best_exact2, best_error2;
} hu_cast_effect;

/* Starts an effect that no element has entered. */
void hu_cast_effect_init(hu_cast_effect *e);
/* Adds `more`, of elements that follow those of e. */
void hu_cast_effect_merge(hu_cast_effect *e, const hu_cast_effect *more);
/* Returns 1 where the array has the name of Adam's second moments: as in PyTorch's, Keras's and this program's
   checkpoints. */
int hu_cast_is_moment(const char *name);

/* The following functions return NaN where the measure is undefined: all of them where no element is finite before and
   after, the last two also where all these elements are 0. */
double hu_cast_rel_l2(const hu_cast_effect *e); /* ‖errors‖ / ‖values‖; for values that are all 0 it is 0 where
						   they stay 0, else infinite */
double hu_cast_sqnr_db(const hu_cast_effect *e);    /* -20 log10 of rel_l2; infinite where there is no error */
double hu_cast_best_sqnr_db(const hu_cast_effect *e); /* the same under the best scales */
double hu_cast_mean_error(const hu_cast_effect *e); /* mean |error| */
double hu_cast_share_lost(const hu_cast_effect *e); /* ‖values that became 0‖ / ‖values‖ */
double hu_cast_cosine(const hu_cast_effect *e);
/* For an array of Adam's second moments v: the relative L2 error of the steps g / (sqrt(v) + 1e-8) when v is cast, for
   the gradient g = sqrt(v) that is as large as the moment says. NaN for other arrays. */
double hu_cast_step_rel_l2(const hu_cast_effect *e);

/* Which columns apply: block formats have scales but no FTZ hardware; blocks of integers have no subnormals; blocks
   that are shorter than a tensor run along an axis. */
int hu_cast_has_blocks(const hu_target *t);
int hu_cast_has_axis(const hu_target *t);
int hu_cast_has_subnormals(const hu_target *t);
#endif
