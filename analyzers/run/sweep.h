/* SPDX-License-Identifier: Apache-2.0
   What every loss scale 2^k would lose of a gradient in a format, for all k at once. An element survives from a
   smallest k on and overflows from another k on, so two histograms over these k answer all questions. */
#ifndef HU_ANALYZERS_SWEEP_H
#define HU_ANALYZERS_SWEEP_H

#include "lib/number/format.h"

enum { HU_SWEEP_LOW = -1400, HU_SWEEP_HIGH = 1400, HU_SWEEP_BINS = HU_SWEEP_HIGH - HU_SWEEP_LOW + 1 };

typedef struct hu_scale_sweep {
	size_t need[HU_SWEEP_BINS], over[HU_SWEEP_BINS], nonzeros;
	long double need2[HU_SWEEP_BINS], norm2;     /* sums of squares, by the k that the element needs; of all
						        elements */
	double amax;
} hu_scale_sweep;

/* Adds the unscaled value x, to be rounded to f to nearest even; zeros and values that are not finite add nothing. */
void hu_sweep_add(hu_scale_sweep *s, double x, hu_format f);
/* The same of x[0] / by ... x[n-1] / by; returns how many of these are not finite. */
size_t hu_sweep_add_all(hu_scale_sweep *s, const double *x, size_t n, double by, hu_format f);
void hu_sweep_merge(hu_scale_sweep *s, const hu_scale_sweep *other);

/* At scale 2^k: sets *lost to the elements that round to zero, *overflow to those that overflow, and *l2_share to the
   share of the L2 norm that the lost ones have. */
void hu_sweep_at(const hu_scale_sweep *s, int k, size_t *lost, size_t *overflow, double *l2_share);

/* Sets *max to the largest k at which nothing overflows and *min to the smallest at which at most share of the nonzeros
   and u of the L2 norm are lost; returns 1 where there is a k that satisfies both. For an empty sweep both are 0 and so
   is the result. */
int hu_sweep_safe(const hu_scale_sweep *s, double share, double u, int *min, int *max);

/* Returns the magnitude from which rounding to f to nearest even overflows (65520 for fp16). */
double hu_sweep_threshold(hu_format f);
#endif
