/* SPDX-License-Identifier: Apache-2.0
   Micro-kernels for AVX-512: tiles of 12 x 32 floats, which take 24 of 32 registers. */
#include "lib/sum/vector/panel.h"

#if defined(__AVX512F__)
#include <immintrin.h>

#define HU_ROWS 12
#define HU_COLS 2

#define HU_KERNEL kernel_f32
#define HU_T float
#define HU_V __m512
#define HU_W 16
#define HU_LOAD(p) _mm512_loadu_ps(p)
#define HU_STORE(p, v) _mm512_storeu_ps(p, v)
#define HU_SPLAT(x) _mm512_set1_ps(x)
#define HU_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "lib/sum/vector/panel.inc"

#define HU_KERNEL kernel_f64
#define HU_T double
#define HU_V __m512d
#define HU_W 8
#define HU_LOAD(p) _mm512_loadu_pd(p)
#define HU_STORE(p, v) _mm512_storeu_pd(p, v)
#define HU_SPLAT(x) _mm512_set1_pd(x)
#define HU_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "lib/sum/vector/panel.inc"

#define HU_W 8
#include "lib/sum/vector/narrow.inc"

#undef HU_W
#define HU_W 16
#define HU_STAGES 4
#define HU_V __m512
#define HU_LOAD(p) _mm512_loadu_ps(p)
#define HU_STORE(p, v) _mm512_storeu_ps(p, v)
#define HU_ZERO _mm512_setzero_ps()
#define HU_ZIP_LOW(a, b) _mm512_permutex2var_ps(a, \
	_mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b)
#define HU_ZIP_HIGH(a, b) _mm512_permutex2var_ps(a, \
	_mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b)
#include "lib/sum/vector/interleave.inc"

#define HU_SPLAT(x) _mm512_set1_ps(x)
#define HU_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define HU_EACH_ROW(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
#include "lib/sum/vector/pieces.inc"

const hu_panel hu_panel_avx512 = { HU_ROWS, HU_COLS * 16, HU_COLS * 8, kernel_f32, kernel_f64, narrow_fma,
	narrow_sequential, interleave, pieces_f32 };
#endif
