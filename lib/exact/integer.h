/* SPDX-License-Identifier: Apache-2.0
   Exact sums of products by 52-bit integer multiply-adds (AVX-512 IFMA), where the processor has them: two
   instructions a term for operands of up to 52 bits, against four on grids. An element x in (-2,2) that is a
   multiple of 2^-w becomes the double x 2^w + 2^52 + 2^(w+1). Its fraction field is the integer X' = X + 2^(w+1),
   which the multiplier reads; the offset is there because the multiplier knows no sign. The offsets' products are
   subtracted at the end: Σ X Y = Σ X'Y' - 2^(v+1) Σ X - 2^(w+1) Σ Y - k 2^(w+v+2). */
#ifndef HU_EXACT_INTEGER_H
#define HU_EXACT_INTEGER_H

#include <stddef.h>
#include <stdint.h>

enum {
	HU_INTEGER_WIDTH = 50,   /* the largest w, with which X' has 52 bits */
	HU_INTEGER_TERMS = 4096, /* terms of a sum before it is folded: sums of so many 52-bit halves fit 64 bits */
	HU_INTEGER_BITS =
		114 /* the largest w + v + 2 + log2(all terms), with which the result's high part fits 63 bits */
};

/* Converts a panel of `width` (6 or 16) vectors of k elements in place into the doubles above. sum[i] += Σ X of
   vector i. */
typedef void hu_integer_convert(size_t k, size_t width, double *x, int w, int64_t *sum);
/* lo and hi (rows x cols of the grids' panels) += the low and the high 52 bits of the products. */
typedef void hu_integer_sum(size_t kc, const double *a, const double *b, uint64_t *lo, uint64_t *hi);

/* What the offsets add to a row's sums, split at 2^52 as the sums are: one for the row, alike for all outputs, and
   one for each column. */
typedef struct hu_integer_offset { int64_t high, low; } hu_integer_offset;
/* p 2^52 + q += Σ X Y for n outputs of a row, with q in [0, 2^52). */
typedef void hu_integer_fold(size_t n, const uint64_t *lo, const uint64_t *hi, hu_integer_offset row,
	const hu_integer_offset *column, int64_t *p, int64_t *q);
typedef struct hu_integer {
	hu_integer_convert *convert;
	hu_integer_sum *sum;
	hu_integer_fold *fold;
} hu_integer;

extern const hu_integer hu_integer_avx512;

/* NULL where the processor, or the instruction set in use, lacks it. */
const hu_integer *hu_integer_get(void);
#endif
