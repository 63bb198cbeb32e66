/* SPDX-License-Identifier: Apache-2.0
   Cuts packed operands into integer slices, multiplies these on the BLAS, and puts the sums together. */
#include "lib/exact/slices.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/exact/blas.h"

#include <stdlib.h>
#include <string.h>

/* The fewest terms for three products: with fewer, the slices cost more than their products. */
enum { LEAST = 256 };

/* Integers of at most w + 1 bits are cut at bit s: |low| <= 2^(s-1), |high| <= 2^(w+1-s) + 1. cut returns s, and
   largest bounds |high + low|. */
static int
cut(int wa, int wb)
{
	return ((wa > wb ? wa : wb) + 2) / 2;
}

static double
largest(int w, int s)
{
	return (double)(1ll << (w + 1 - s)) + 1 + (double)(1ll << (s - 1));
}

/* How many terms keep the products of the sums high + low within 2^53. */
static size_t
terms(int wa, int wb)
{
	int s = cut(wa, wb);

	if (wa + 1 < s || wb + 1 < s)
		return 0;
	return (size_t)(0x1p53 / (largest(wa, s) * largest(wb, s)));
}

int
hu_slices_products(int wa, int wb, size_t k)
{
	if (wa > 48 || wb > 48)
		return 0;
	if (wa + wb + 2 <= 52 && (double)k <= (double)(1ll << (51 - wa - wb)))
		return 1;
	return terms(wa, wb) >= LEAST && k >= LEAST ? 3 : 0;
}

/* Writes the integers X = x 2^w of terms k0 .. k0+kc-1 of a packed operand as row-major matrices kc x n: X itself,
   or, for parts = 3, its high part, its low part, and the sum of these. */
static void
slice(double *out, const hu_operand *o, size_t n, size_t k0, size_t kc, int w, int s, int parts)
{
	double unit = (double)(1ll << w), down = 1 / (double)(1ll << s), up = (double)(1ll << s);

	for (size_t p = 0; p * o->width < n; p++) {
		size_t lanes = n - p * o->width < o->width ? n - p * o->width : o->width;
		for (size_t k = 0; k < kc; k++) {
			const double *x = o->x + (p * o->k + k0 + k) * o->width;
			double *y = out + k * n + p * o->width;
			for (size_t i = 0; i < lanes; i++) {
				double whole = x[i] * unit, high = (whole * down + 0x1.8p52) - 0x1.8p52,
				       low = whole - high * up;
				y[i] = parts == 1 ? whole : high;
				if (parts == 3) {
					y[kc * n + i] = low;
					y[2 * kc * n + i] = high + low;
				}
			}
		}
	}
}

static double *
enough(double *old, size_t *had, size_t want)
{
	if (want <= *had)
		return old;
	free(old);
	*had = want;
	return hu_xmalloc(want * sizeof *old);
}

void
hu_slices_add(hu_exact_tile *t, size_t k)
{
	hu_worker *w = t->w;
	int parts = hu_slices_products(t->wa, t->wb, t->s->k), s = cut(t->wa, t->wb);
	size_t m = t->m, n = t->n, cols = w->b.width, most = parts == 1 ? k : terms(t->wa, t->wb);

	if (!w->c)
		w->c = hu_xmalloc(3 * (size_t)HU_TILE_M * HU_TILE_N * sizeof *w->c);
	for (size_t k0 = 0, kc; k0 < k; k0 += kc) {
		kc = k - k0 < most ? k - k0 : most;
		w->ya = enough(w->ya, &w->ya_room, m * kc * (size_t)parts);
		w->yb = enough(w->yb, &w->yb_room, n * kc * (size_t)parts);
		slice(w->ya, &w->a, m, k0, kc, t->wa, s, parts);
		slice(w->yb, &w->b, n, k0, kc, t->wb, s, parts);
		memset(w->c, 0, (size_t)parts * m * n * sizeof *w->c);
		for (size_t i = 0; i < (size_t)parts; i++)
			HU_ASSERT(hu_blas_product(w->c + i * m * n, m, n, kc, w->ya + i * m * kc, w->yb + i * n * kc));
		for (size_t i = 0; i < m; i++)
			for (size_t j = 0; j < n; j++) {
				const double *c = w->c + i * n + j;
				size_t at = (j / cols * t->pa + i / HU_GRID_ROWS) * HU_TILE_SIZE +
					    i % HU_GRID_ROWS * cols + j % cols;
				__int128 v = (int64_t)c[0];
				/* Karatsuba: high high 2^2s + (sum sum - high high - low low) 2^s + low low */
				if (parts == 3)
					v = v * ((__int128)1 << 2 * s) +
					    ((__int128)(int64_t)c[2 * m * n] - (int64_t)c[0] - (int64_t)c[m * n]) *
						    ((__int128)1 << s) +
					    (int64_t)c[m * n];
				v += w->q[at];
				w->q[at] = (int64_t)(v & 0xfffffffffffff);
				w->p[at] += (int64_t)(v >> 52);
			}
	}
}
