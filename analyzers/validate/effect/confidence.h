/* SPDX-License-Identifier: Apache-2.0
   How large a share may be that was counted on a sample: exact limits of Clopper and Pearson, and how many inputs a
   limit needs. */
#ifndef HU_ANALYZERS_CONFIDENCE_H
#define HU_ANALYZERS_CONFIDENCE_H

#include <stddef.h>

/* Returns the share that K of N inputs, drawn independently, do not exceed at the one-sided confidence C, 0 < C < 1:
   the p with P(X <= K) = 1 - C for the binomial X of N and p (Clopper & Pearson 1934), within 1e-12 of itself and never
   below it by more than rounding; 1 where K = N. The sum is exact but for the rounding of long double. */
double hu_confidence_most(size_t k, size_t n, double c);
/* Returns the fewest inputs N of which K do not exceed LIMIT at the confidence C; 0 where fewer than 2^40 do not
   suffice, and where LIMIT is not above 0. */
size_t hu_confidence_inputs(size_t k, double limit, double c);
#endif
