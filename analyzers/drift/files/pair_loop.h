/* SPDX-License-Identifier: Apache-2.0
   The inner loops of a comparison, one set for each instruction set; for this folder alone. */
#ifndef HU_ANALYZERS_PAIR_LOOP_H
#define HU_ANALYZERS_PAIR_LOOP_H

#include "lib/number/format.h"

#include <stddef.h>
#include <stdint.h>

/* What n pairs come to: the sums of squares and products of scale·a, scale·b and their difference; the largest |a|,
   |b| and |b - a|; the largest |b - a| in ulps, at a, of a format; and how many pairs differ in a bit. */
typedef struct hu_pair_sums {
	double aa, bb, ab, dd, a, b, d, ulps;
	size_t differ;
} hu_pair_sums;

/* How the elements lie in memory that the loops read as they are. */
typedef enum hu_pair_kind { HU_PAIR_FP64, HU_PAIR_FP32, HU_PAIR_FP16, HU_PAIR_BF16, HU_PAIR_KINDS } hu_pair_kind;

typedef struct hu_pair_loops {
	int (*finite64)(const void *a, const void *b, size_t n); /* doubles */
	/* Ulps are those of a format of precision p whose smallest normal number is 2^emin; n is a multiple of 8. SCALE
	   is of doubles alone; of the others aa + bb is finite where, and only where, all elements are. */
	void (*sums[HU_PAIR_KINDS])(
		hu_pair_sums *s, const void *a, const void *b, size_t n, double scale, int emin, int p);
	/* The ulps alone. */
	double (*ulps[HU_PAIR_KINDS])(const void *a, const void *b, size_t n, int emin, int p);
	/* The sums of elements of 16 bits in less time, n being a multiple of 16 and below 2^20, but that each |b - a|
	   in ulps is rounded to a float. Ulps are those of the elements' own format, of precision p. NULL: none. */
	void (*brief[HU_PAIR_KINDS])(hu_pair_sums *s, const void *a, const void *b, size_t n, int emin, int p);
} hu_pair_loops;

extern const hu_pair_loops hu_pair_loops_plain, hu_pair_loops_avx2, hu_pair_loops_avx512;
#endif
