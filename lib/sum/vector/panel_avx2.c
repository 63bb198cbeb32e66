/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels for AVX2 with FMA: tiles of 6 x 16 floats, which take 12 of 16 registers. */
#include "lib/sum/vector/panel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define HU_ROWS 6
#define HU_COLS 2

#define HU_KERNEL kernel_f32
#define HU_T float
#define HU_V __m256
#define HU_W 8
#define HU_LOAD(p) _mm256_loadu_ps(p)
#define HU_STORE(p, v) _mm256_storeu_ps(p, v)
#define HU_SPLAT(x) _mm256_set1_ps(x)
#define HU_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "lib/sum/vector/panel.inc"

#define HU_KERNEL kernel_f64
#define HU_T double
#define HU_V __m256d
#define HU_W 4
#define HU_LOAD(p) _mm256_loadu_pd(p)
#define HU_STORE(p, v) _mm256_storeu_pd(p, v)
#define HU_SPLAT(x) _mm256_set1_pd(x)
#define HU_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#include "lib/sum/vector/panel.inc"

#define HU_W 4
#include "lib/sum/vector/narrow.inc"

#undef HU_W
#define HU_W 8
#define HU_STAGES 3
#define HU_V __m256
#define HU_LOAD(p) _mm256_loadu_ps(p)
#define HU_STORE(p, v) _mm256_storeu_ps(p, v)
#define HU_ZERO _mm256_setzero_ps()
#define HU_ZIP_LOW(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20)
#define HU_ZIP_HIGH(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31)
#include "lib/sum/vector/interleave.inc"

#define HU_SPLAT(x) _mm256_set1_ps(x)
#define HU_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define HU_EACH_ROW(f) f(0) f(1) f(2) f(3) f(4) f(5)
#include "lib/sum/vector/pieces.inc"

const hu_panel hu_panel_avx2 = { HU_ROWS, HU_COLS * 8, HU_COLS * 4, kernel_f32, kernel_f64, narrow_fma,
	narrow_sequential, interleave, pieces_f32 };
#endif
