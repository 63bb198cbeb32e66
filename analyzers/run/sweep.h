/* SPDX-License-Identifier: Apache-2.0
   What a loss scale 2^k would lose and overflow of a gradient in a format, for every
   k at once: an element needs a smallest k to survive and has a smallest k at which
   it overflows, so two histograms answer all questions. */
#ifndef HU_ANALYZERS_SWEEP_H
#define HU_ANALYZERS_SWEEP_H

#include "lib/number/format.h"

enum { HU_SWEEP_LOW = -1400, HU_SWEEP_HIGH = 1400, HU_SWEEP_BINS = HU_SWEEP_HIGH - HU_SWEEP_LOW + 1 };

typedef struct hu_scale_sweep {
	size_t need[HU_SWEEP_BINS], over[HU_SWEEP_BINS], nonzeros;
	long double need2[HU_SWEEP_BINS], norm2;     /* squares, by the k the element needs */
	double amax;
} hu_scale_sweep;

/* Adds the unscaled value x to the sweep for f under RNE; zeros and what is not finite add nothing. */
void hu_sweep_add(hu_scale_sweep *s, double x, hu_format f);
void hu_sweep_join(hu_scale_sweep *s, const hu_scale_sweep *other);

/* At scale 2^k: elements that round to zero, elements that overflow, and the zeroed ones' share of the L2 norm. */
void hu_sweep_at(const hu_scale_sweep *s, int k, size_t *lost, size_t *overflow, double *l2_share);

/* The largest k at which nothing overflows, and the smallest at which at most share of the
   nonzeros and u of the L2 norm are lost. Of an empty sweep both are 0 and the result is 0. */
int hu_sweep_safe(const hu_scale_sweep *s, double share, double u, int *min, int *max);

/* The magnitude from which RNE to f overflows (65520 for fp16). */
double hu_sweep_threshold(hu_format f);
#endif
