/* SPDX-License-Identifier: Apache-2.0
   The inner loops of inspect, one set for each instruction set; for this folder alone. Every set gives the same
   bits. */
#ifndef HU_ANALYZERS_CAST_LOOP_H
#define HU_ANALYZERS_CAST_LOOP_H

#include "lib/number/round.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers from the smallest to the largest; NaN are passed over. finite is 1 where all of them are finite. */
typedef struct hu_cast_range {
	double low, high;
	int finite;
} hu_cast_range;

/* What n elements x come to when they become got. Pairs of which one is not finite enter the counts alone: nonfinite
   and overflow are such x, and finite x that became so; finite is the number of the other pairs. nonzeros, zeroed,
   subnormal and lost are those of hu_underflow. */
typedef struct hu_cast_sums {
	double exact2, got2, lost2, dot, error,
		error2;                   /* Σx², Σgot², Σx² where got is 0, Σx·got, Σ|got - x|, its squares */
	double amax, smallest, max_error; /* the largest |x| of the finite ones, the smallest that is not 0, the largest
					     |got - x|; 0, INFINITY and 0 where there are none */
	size_t nonfinite, overflow, finite, nonzeros, zeroed, subnormal, lost, saturated;
} hu_cast_sums;

/* How one block's elements are cast: as integers (p = 0) with so many steps to the scale, or to a format of precision p
   whose smallest normal number is 2^emin and whose largest number is top. */
typedef struct hu_cast_scaled {
	double scale, zero, steps, low, top;
	int p, emin;
} hu_cast_scaled;

typedef struct hu_cast_loops {
	hu_cast_range (*range)(const double *x, size_t n);
	/* normal: the smallest normal number, 0 where subnormal and lost are not wanted. An x of at least
	   above[1], or at most -above[0], whose got is finite counts as saturated, and so does one that is not finite.
	 */
	void (*sums)(hu_cast_sums *s, const double *x, const double *got, size_t n, double normal, const double *above);
	/* x are the exact values in fp32. Adds to s's saturated, subnormal and lost. */
	void (*scaled)(
		hu_cast_sums *s, double *got, const double *x, const double *exact, size_t n, const hu_cast_scaled *b);
} hu_cast_loops;

extern const hu_cast_loops hu_cast_loops_plain, hu_cast_loops_avx2, hu_cast_loops_avx512;
#endif
