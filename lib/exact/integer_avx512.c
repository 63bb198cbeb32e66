/* SPDX-License-Identifier: Apache-2.0
   The integer kernel: 6 x 16 outputs, whose halves take 24 registers. */
#include "lib/exact/integer.h"

#include "lib/exact/grid/grid.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#include <string.h>

#define FRACTION ((1ll << 52) - 1)

static int64_t
bits_of(double x)
{
	int64_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

/* A few rows of a panel together fill whole registers, and each lane then always belongs to the same vector: 4 rows
   of 6 elements fill 3 registers, one row of 16 fills 2. */
static void
convert(size_t k, size_t width, double *x, int w, int64_t *sum)
{
	double factor = (double)(1ll << w), offset = 0x1p52 + (double)(2ll << w);
	size_t n = width == HU_GRID_COLS ? 2 : 3, rows = n == 2 ? 1 : 4, k0 = 0;
	__m512i s[3] = { _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512() };
	__m512d f = _mm512_set1_pd(factor), c = _mm512_set1_pd(offset);
	int64_t zero = bits_of(offset), lane[24];

	for (; k0 + rows <= k; k0 += rows)
		for (size_t v = 0; v < n; v++) {
			/* exact: an integer below 2^53 */
			__m512d y = _mm512_fmadd_pd(_mm512_loadu_pd(x + k0 * width + v * 8), f, c);
			_mm512_storeu_pd(x + k0 * width + v * 8, y);
			s[v] = _mm512_add_epi64(s[v], _mm512_sub_epi64(_mm512_castpd_si512(y), _mm512_castpd_si512(c)));
		}
	for (size_t v = 0; v < n; v++)
		_mm512_storeu_si512(lane + v * 8, s[v]);
	for (size_t i = 0; i < n * 8; i++)
		sum[i % width] += lane[i];
	for (; k0 < k; k0++)
		for (size_t i = 0; i < width; i++) {
			double y = x[k0 * width + i] * factor + offset;
			x[k0 * width + i] = y;
			sum[i] += bits_of(y) - zero;
		}
}

static void __attribute__((target("avx512ifma")))
sum(size_t kc, const double *a, const double *b, uint64_t *lo, uint64_t *hi)
{
	enum { R = HU_GRID_ROWS, COLS = HU_GRID_COLS };
	__m512i l[R][2], h[R][2];

	for (int i = 0; i < R; i++)
		for (int j = 0; j < 2; j++) {
			l[i][j] = _mm512_loadu_si512(lo + i * COLS + j * 8);
			h[i][j] = _mm512_loadu_si512(hi + i * COLS + j * 8);
		}
	for (; kc--; a += R, b += COLS) {
		__m512i y0 = _mm512_castpd_si512(_mm512_loadu_pd(b)), y1 = _mm512_castpd_si512(_mm512_loadu_pd(b + 8));
#pragma GCC unroll 6
		for (int i = 0; i < R; i++) {
			__m512i x = _mm512_castpd_si512(_mm512_set1_pd(a[i]));
			l[i][0] = _mm512_madd52lo_epu64(l[i][0], x, y0);
			h[i][0] = _mm512_madd52hi_epu64(h[i][0], x, y0);
			l[i][1] = _mm512_madd52lo_epu64(l[i][1], x, y1);
			h[i][1] = _mm512_madd52hi_epu64(h[i][1], x, y1);
		}
	}
	for (int i = 0; i < R; i++)
		for (int j = 0; j < 2; j++) {
			_mm512_storeu_si512(lo + i * COLS + j * 8, l[i][j]);
			_mm512_storeu_si512(hi + i * COLS + j * 8, h[i][j]);
		}
}

static void
fold(size_t n, const uint64_t *restrict lo, const uint64_t *restrict hi, hu_integer_offset row,
	const hu_integer_offset *restrict column, int64_t *restrict p, int64_t *restrict q)
{
	for (size_t i = 0; i < n; i++) {
		int64_t low = q[i] + (int64_t)(lo[i] & FRACTION) - row.low - column[i].low;
		uint64_t high = (uint64_t)p[i] + hi[i] + (lo[i] >> 52) - (uint64_t)row.high - (uint64_t)column[i].high;
		p[i] = (int64_t)(high + (uint64_t)(low >> 52));
		q[i] = low & FRACTION;
	}
}

const hu_integer hu_integer_avx512 = { convert, sum, fold };
#endif
