/* SPDX-License-Identifier: Apache-2.0
   The plain micro-kernel, and the choice of the kernels for this processor. */
#include "lib/number/round.h"
#include "lib/number/simd.h"
#include "lib/sum/vector/panel.h"

#include <math.h>

enum { MR = 4, NR = 8 };

static void
plain_f32(size_t kc, const float *a, const float *b, float *c, size_t ldc)
{
	for (size_t k = 0; k < kc; k++, a += MR, b += NR)
		for (size_t i = 0; i < MR; i++)
			for (size_t j = 0; j < NR; j++)
				c[i * ldc + j] = fmaf(a[i], b[j], c[i * ldc + j]);
}

static void
plain_f64(size_t kc, const double *a, const double *b, double *c, size_t ldc)
{
	for (size_t k = 0; k < kc; k++, a += MR, b += NR)
		for (size_t i = 0; i < MR; i++)
			for (size_t j = 0; j < NR; j++)
				c[i * ldc + j] = fma(a[i], b[j], c[i * ldc + j]);
}

#define HU_ROWS MR
#define HU_COLS (NR / 2)
#define HU_W 2
#include "lib/sum/vector/narrow.inc"

/* Some terms of all rows at a time, so that what is written stays in the cache. */
static void
interleave(size_t lanes, size_t kc, const float *const *row, float *to)
{
	enum { SOME = 16 };

	for (size_t k = 0; k < kc; k += SOME) {
		size_t end = k + SOME < kc ? k + SOME : kc;
		for (size_t i = 0; i < lanes; i++)
			for (size_t j = k; j < end; j++)
				to[j * lanes + i] = row[i][j];
	}
}

const hu_panel hu_panel_scalar = { MR, NR, NR, plain_f32, plain_f64, narrow_fma, narrow_sequential,
	interleave, NULL };

int
hu_narrow_of(hu_narrow *n, hu_format f)
{
	/* Exponents must stay within double's range: up to 53 more above, and the error of TwoSum below. */
	if (f.p > 25 || f.emax > 500 || f.emin < -400 || !hu_has_minus_zero(f) || !hu_has_nan(f) || f.flags)
		return 0;
	n->least = (int64_t)(f.emin + 1023) << 52;
	n->shift = (int64_t)(53 - f.p) << 52;
	n->max = f.max;
	n->beyond = hu_pow2(f.emax + 1);
	n->over = hu_overflow(0, f, HU_RNE, 0);
	return 1;
}

const hu_panel *
hu_panel_get(void)
{
	return HU_SIMD_PICK(&hu_panel_avx512, &hu_panel_avx2, &hu_panel_scalar);
}
