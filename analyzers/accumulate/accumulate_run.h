/* SPDX-License-Identifier: Apache-2.0
   Sums a series by one summation model and compares with the exact sum: the computation of the command accumulate. */
#ifndef HU_ANALYZERS_ACCUMULATE_RUN_H
#define HU_ANALYZERS_ACCUMULATE_RUN_H

#include "lib/number/format.h"
#include "lib/sum/table/model.h"

/* The terms a[k] b[k]; the factors are already rounded to one format. */
typedef struct hu_series {
	const double *a, *b;
	int start;
} hu_series; /* 1 where a[0] b[0] is a start value that precedes term 1 */

/* The exact sum of the first n terms, the start included in n. */
typedef struct hu_series_exact { size_t n; char *text; void *value; double magnitude; } hu_series_exact;

typedef struct hu_accumulated {
	hu_format f;                   /* the format of value */
	double value;
	double ulps;                   /* the error in ulps: error_ulps of doc/formats.md */
	double relative;               /* |error| / |exact| */
	double backward;               /* |error| / Σ|a b| */
	double bound;    /* the model's proven error bound over Σ|a b|; infinite where overflow cannot be excluded */
	double sqrt_n_u; /* √n times the accumulator's unit roundoff u: the bound of Higham and Mary (2019) with λ = 1,
			    which holds only with some probability */
	double share;                  /* share of the additions that were swamped */
	long long first, stop;         /* The first swamped term (a nonzero one that left the sum as it was), and the
					  last term that moved a sum which then stopped. Stochastic rounding stops no
					  sum. -1: none; 0: the start. */
} hu_accumulated;

/* Computes the exact sum of the first n terms, and Σ|a b| with a relative error of at most n 2^-53. The caller
   releases
   it. */
void hu_series_exact_init(hu_series_exact *x, const hu_series *s, size_t n);
void hu_series_exact_release(hu_series_exact *x);

/* Sums the series by `sum`, which is resolved for the series' format, and fills *r. Stochastic rounding draws from
   seed. */
void hu_accumulate(hu_accumulated *r, const hu_series *s, const hu_series_exact *x, hu_sum sum, uint64_t seed);
#endif
