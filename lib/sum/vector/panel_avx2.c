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

/* kernel_f32 on rows where they lie. Six pointers, which one index moves, leave general registers for the rest. */
static void
pieces_f32(size_t n, const hu_panel_piece *piece, const float *b, float *c, size_t ldc)
{
	__m256 acc[HU_ROWS][HU_COLS];

#pragma GCC unroll 6
	for (int i = 0; i < HU_ROWS; i++)
#pragma GCC unroll 2
		for (int j = 0; j < HU_COLS; j++)
			acc[i][j] = _mm256_loadu_ps(c + (size_t)i * ldc + j * 8);
	for (; n; n--, piece++) {
		const float *a0 = piece->row[0], *a1 = piece->row[1], *a2 = piece->row[2], *a3 = piece->row[3],
			    *a4 = piece->row[4], *a5 = piece->row[5];
		size_t stride = piece->stride, end = piece->terms * stride;
		for (size_t k = 0; k != end; k += stride, b += HU_COLS * 8) {
			__m256 left = _mm256_loadu_ps(b), right = _mm256_loadu_ps(b + 8);
#define HU_ROW(i) \
	do { \
		__m256 x = _mm256_broadcast_ss(a##i + k); \
		acc[i][0] = _mm256_fmadd_ps(x, left, acc[i][0]); \
		acc[i][1] = _mm256_fmadd_ps(x, right, acc[i][1]); \
	} while (0)
			HU_ROW(0);
			HU_ROW(1);
			HU_ROW(2);
			HU_ROW(3);
			HU_ROW(4);
			HU_ROW(5);
#undef HU_ROW
		}
	}
#pragma GCC unroll 6
	for (int i = 0; i < HU_ROWS; i++)
#pragma GCC unroll 2
		for (int j = 0; j < HU_COLS; j++)
			_mm256_storeu_ps(c + (size_t)i * ldc + j * 8, acc[i][j]);
}

_Static_assert(HU_ROWS == HU_PANEL_PIECE_ROWS, "a piece has the rows of a tile");
const hu_panel hu_panel_avx2 = { HU_ROWS, HU_COLS * 8, HU_COLS * 4, kernel_f32, kernel_f64, narrow_fma,
	narrow_sequential, interleave, pieces_f32 };
#endif
