/* SPDX-License-Identifier: Apache-2.0
   One sum of a series by one summation model, judged: what the command accumulate computes. */
#ifndef HU_ANALYZERS_ACCUMULATE_RUN_H
#define HU_ANALYZERS_ACCUMULATE_RUN_H

#include "lib/number/format.h"
#include "lib/sum/model.h"

/* The terms a[k] b[k], their factors rounded to one format. */
typedef struct hu_series {
	const double *a, *b;
	int start;
} hu_series; /* start: 1 where a[0] b[0] stands before term 1 */

/* What the first N of them amount to; the start is counted in N. */
typedef struct hu_series_exact { size_t n; char *text; void *value; double magnitude; } hu_series_exact;

typedef struct hu_accumulated {
	hu_format f;                   /* of the value */
	double value;
	double ulps;                   /* error_ulps of doc/formats.md */
	double relative;               /* |error| / |exact| */
	double backward;               /* |error| / Σ|a b| */
	double bound;    /* the model's a-priori bound over Σ|a b|; infinite where overflow cannot be excluded */
	double sqrt_n_u; /* √n u of the accumulator: Higham and Mary's 2019 bound with λ = 1, which may fail */
	double share;                  /* of the additions that were swamped */
	long long first, stop;         /* first swamped term; last one that moved a sum that has stopped, which no
	                                  stochastic rounding does. -1: none; 0: the start */
} hu_accumulated;

/* The exact sum of the first n terms, and Σ|a b| to within n 2^-53 of itself. Released by the caller. */
void hu_series_exact_init(hu_series_exact *x, const hu_series *s, size_t n);
void hu_series_exact_release(hu_series_exact *x);

/* sum resolved for the series' format. SR draws from seed. */
void hu_accumulate(hu_accumulated *r, const hu_series *s, const hu_series_exact *x, hu_sum sum, uint64_t seed);
#endif
