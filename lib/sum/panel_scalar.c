/* SPDX-License-Identifier: Apache-2.0
   The plain micro-kernel, and the choice among those of this processor. */
#include "lib/number/simd.h"
#include "lib/sum/panel.h"

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

const hu_panel hu_panel_scalar = { MR, NR, NR, plain_f32, plain_f64 };

const hu_panel *
hu_panel_get(void)
{
#if defined(__x86_64__)
	switch (hu_simd_level()) {
	case HU_SIMD_AVX512: return &hu_panel_avx512;
	case HU_SIMD_AVX2: return &hu_panel_avx2;
	default: break;
	}
#endif
	return &hu_panel_scalar;
}
