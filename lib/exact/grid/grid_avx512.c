/* SPDX-License-Identifier: Apache-2.0
   Grid kernels for AVX-512. A right panel is two vectors wide; sums take up to 24 of 32 registers. */
#include "lib/exact/grid/grid.h"

#if defined(__AVX512F__)
#include <immintrin.h>

#define HU_V __m512d
#define HU_W 8
#define HU_VECTORS 2
#define HU_LOAD(p) _mm512_loadu_pd(p)
#define HU_STORE(p, v) _mm512_storeu_pd(p, v)
#define HU_SPLAT(x) _mm512_set1_pd(x)
#define HU_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define HU_MAGNITUDE(x) _mm512_abs_pd(x)
#define HU_R2 6
#define HU_R3 6
#define HU_R5 3
#define HU_NAME(x) x
#define HU_DOT narrow_dot
#include "lib/exact/grid/table.inc"
#include "lib/exact/grid/wide.inc"

#include "lib/exact/grid/grid.inc"

const hu_grid hu_grid_avx512 = { HU_W * HU_VECTORS, sums, magnitudes, sums, magnitudes, wides, narrow_dot, wide_dot,
	measure, scale, gather, carry, pairs, round_levels, join };
#endif
