/* SPDX-License-Identifier: Apache-2.0
   The inner loops of a comparison, one set for each instruction set; for this room alone. */
#ifndef HU_ANALYZERS_PAIR_LOOP_H
#define HU_ANALYZERS_PAIR_LOOP_H

#include "lib/number/format.h"

#include <stddef.h>
#include <stdint.h>

/* What n pairs come to: the sums of squares and products of scale·a, scale·b and their difference; the largest |a|, |b|
   and |b - a|; and how many pairs differ in a bit. */
typedef struct hu_pair_sums {
	double aa, bb, ab, dd, a, b, d;
	size_t differ;
} hu_pair_sums;

typedef struct hu_pair_loops {
	int (*finite32)(const float *a, const float *b, size_t n);
	int (*finite64)(const double *a, const double *b, size_t n);
	void (*sums32)(hu_pair_sums *s, const float *a, const float *b, size_t n, double scale);
	void (*sums64)(hu_pair_sums *s, const double *a, const double *b, size_t n, double scale);
	/* The largest |b - a| in ulps, at a, of a format of precision p whose smallest normal number is 2^emin. */
	double (*ulps32)(const float *a, const float *b, size_t n, int emin, int p);
	double (*ulps64)(const double *a, const double *b, size_t n, int emin, int p);
} hu_pair_loops;

extern const hu_pair_loops hu_pair_loops_plain, hu_pair_loops_avx2, hu_pair_loops_avx512;
#endif
