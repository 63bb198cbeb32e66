/* SPDX-License-Identifier: Apache-2.0
   Grid kernels for AVX2 with FMA. A right panel is two vectors wide; sums take up to 12 of 16 registers. */
#include "lib/exact/grid/grid.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define HU_V __m256d
#define HU_W 4
#define HU_VECTORS 2
#define HU_LOAD(p) _mm256_loadu_pd(p)
#define HU_STORE(p, v) _mm256_storeu_pd(p, v)
#define HU_SPLAT(x) _mm256_set1_pd(x)
#define HU_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define HU_MAGNITUDE(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
#define HU_R2 3
#define HU_R3 3
#define HU_R5 2
#define HU_NAME(x) x
#define HU_DOT narrow_dot
#include "lib/exact/grid/table.inc"
#include "lib/exact/grid/wide.inc"

#include "lib/exact/grid/grid.inc"

const hu_grid hu_grid_avx2 = { HU_W * HU_VECTORS, sums, magnitudes, sums, magnitudes, wides, narrow_dot, wide_dot,
	measure, scale, gather, carry, pairs, round_levels, join };
#endif
