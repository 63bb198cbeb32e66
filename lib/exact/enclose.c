/* SPDX-License-Identifier: Apache-2.0
   Certified inner products of a tile: sums on one or two grids, and a bound of all that was lost on the way. */
#include "lib/exact/enclose.h"

#include "lib/base/status.h"
#include "lib/exact/grid/grid.h"
#include "lib/number/round.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { SIZE = HU_GRID_ROWS * HU_GRID_COLS };

/* The largest of v's entries for panel p. */
static int
most(const int *v, size_t p, size_t width)
{
	int m = 0;

	for (size_t i = p * width; i < (p + 1) * width; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

/* Returns x 2^e for |e| <= 2046, in two steps that are exact unless the result is subnormal. */
static double
scaled(double x, int e)
{
	return x * hu_pow2(e / 2) * hu_pow2(e - e / 2);
}

typedef struct sums { double hi[SIZE], lo[SIZE], lost[SIZE], mag[SIZE]; } sums;

/* Multiplies a panel of A by one of B. All products are multiples of 2^-width. */
static void
product(sums *s, const hu_grid *grid, const double *a, const double *b, size_t k, int width, int narrow, hu_depth depth,
	int want_sum, int want_mag)
{
	size_t n = HU_GRID_ROWS * grid->cols;
	double t[2 * SIZE];

	memset(s, 0, sizeof *s);
	for (size_t done = 0; done < k; done += HU_GRID_CHUNK) {
		size_t kc = k - done < HU_GRID_CHUNK ? k - done : HU_GRID_CHUNK;
		const double *x = a + done * HU_GRID_ROWS, *y = b + done * grid->cols;
		int l = hu_log2_up(kc), levels = depth != HU_TWO || width <= 51 - l ? 1 : 2;
		double start = levels == 1 ? 0 : 3 * hu_pow2(l + 2);
		if (want_sum) {
			for (size_t i = 0; i < n; i++) {
				t[i] = start;
				t[n + i] = 0;
			}
			(narrow ? grid->narrow_sum : grid->sum)(kc, x, y, t, levels);
			grid->gather(n, t, start, s->hi, s->lo, s->lost);
		}
		if (want_mag)
			(narrow ? grid->narrow_magnitude : grid->magnitude)(kc, x, y, s->mag, 1);
	}
}

/* Bounds what sums of terms scaled into (-4,4) lost. Where products have bits below 2^-limit_full, all full chunks
   together lost `full`; below 2^-limit_last, the last chunk lost `last`. Under HU_PLAIN it is `plain` times Σ|ab|
   instead, under HU_BARE nothing. `tiny` is lost to underflow where products reach that far. */
typedef struct loss { int limit_full, limit_last; double full, last, plain, tiny; } loss;

static loss
losses(size_t k, hu_depth depth)
{
	size_t chunks = k / HU_GRID_CHUNK, rest = k % HU_GRID_CHUNK;
	double c = HU_GRID_CHUNK, r = (double)rest, up = 1 + 0x1p-30;
	int l = hu_log2_up(HU_GRID_CHUNK), m = hu_log2_up(rest);
	loss x = { chunks ? 51 - l : INT_MAX / 2, rest ? 51 - m : INT_MAX / 2, 0, 0, (chunks ? c : r) * 0x1p-53 * up,
		(double)k * 0x1p-1071 };

	if (depth == HU_BARE)
		x.plain = 0;
	if (depth != HU_TWO)
		return x;
	x.limit_full += chunks ? 52 - l : 0;
	x.limit_last += rest ? 52 - m : 0;
	/* After n terms R is at most n 2^(l-50), so each addition errs by at most 2^-53 of that. Where a product is
	   no double, each rest is rounded too. */
	x.full = (double)chunks * (c * (c + 1) / 2 + c) * hu_pow2(l - 103) * up;
	x.last = (r * (r + 1) / 2 + r) * hu_pow2(m - 103) * up;
	x.plain = 0;
	return x;
}

static double
slip(const loss *x, int width, double mag)
{
	int full = width > x->limit_full, last = width > x->limit_last;

	return (full ? x->full : 0) + (last ? x->last : 0) + (full || last ? x->plain * mag : 0) +
	       (width > 900 ? x->tiny : 0);
}

/* Returns x 2^e for |e| <= 2044, rounded up where the result is subnormal or nearly so. */
static double
scaled_up(double x, int e)
{
	double y = scaled(x, e);

	return x > 0 && y < 0x1p-1000 ? y + 0x1p-1071 : y;
}

typedef struct place { const hu_enclosure *out; const hu_operand *a, *b; loss loss; int add; } place;

/* Writes output (i, j), whatever the exponents. */
static void
put(const place *w, size_t i, size_t j, const sums *s, size_t at)
{
	int e = w->a->e[i] + w->b->e[j], width = w->a->low[i] + w->b->low[j];
	double mag = s->mag[at] * (1 + ((double)w->a->k + 2) * 0x1p-52) + (width > 900 ? w->loss.tiny : 0);
	double off = (s->lost[at] + slip(&w->loss, width, mag)) * (1 + 0x1p-40);
	size_t o = i * w->out->ld + j;

	if (w->a->special[i] || w->b->special[j] || e > 900) {
		if (w->out->mag)
			w->out->mag[o] = INFINITY;
		if (!w->out->hi)
			return;
		w->out->hi[o] = hu_nan();
		w->out->lo[o] = 0;
		w->out->err[o] = INFINITY;
		return;
	}
	if (w->out->mag)
		w->out->mag[o] = scaled_up(mag, e);
	if (!w->out->hi)
		return;
	w->out->hi[o] = scaled(s->hi[at], e) + 0.0;
	w->out->lo[o] = scaled(s->lo[at], e) + 0.0;
	/* The pair is a multiple of 2^(e - width), whose last bits subnormal doubles may lack. */
	w->out->err[o] = scaled_up(off, e) + (e - width < -1074 && s->hi[at] != 0 ? 0x1p-1071 : 0);
}

/* Writes columns j0 .. j1-1 of row i of a panel pair, where all exponents are far from double's limits. */
static void
put_row(const place *w, size_t i, size_t j0, size_t j1, const sums *s, size_t at)
{
	const int *low = w->b->low + j0;
	double fi = hu_pow2(w->a->e[i]), f[HU_GRID_COLS], up = 1 + ((double)w->a->k + 2) * 0x1p-52;
	size_t o = i * w->out->ld + j0, n = j1 - j0;
	int full = w->loss.limit_full - w->a->low[i], last = w->loss.limit_last - w->a->low[i];

	for (size_t j = 0; j < n; j++)
		f[j] = fi * hu_pow2(w->b->e[j0 + j]);
	if (w->out->mag)
		for (size_t j = 0; j < n; j++)
			w->out->mag[o + j] = s->mag[at + j] * up * f[j];
	if (!w->out->hi)
		return;
	double *hi = w->out->hi + o, *lo = w->out->lo + o, *err = w->out->err + o;
	for (size_t j = 0; j < n; j++) {
		double a = low[j] > full ? w->loss.full : 0, b = low[j] > last ? w->loss.last : 0,
		       c = low[j] > full || low[j] > last ? w->loss.plain : 0;
		hi[j] = s->hi[at + j] * f[j] + 0.0;
		lo[j] = s->lo[at + j] * f[j] + 0.0;
		err[j] = (s->lost[at + j] + (a + b + c * (s->mag[at + j] * up))) * (1 + 0x1p-40) * f[j];
	}
}

/* Adds what a row of sums held before to finite sums, all of them at once. Returns 0 where one is not finite. */
static int
add_finite(const hu_enclosure *out, size_t o, size_t n, const sums *old)
{
	double t[2 * HU_GRID_COLS], lost[HU_GRID_COLS] = { 0 };
	int finite = 1;

	for (size_t j = 0; j < n; j++)
		finite &= hu_isfinite(out->hi[o + j]) && hu_isfinite(old->hi[j]);
	if (!finite)
		return 0;
	memcpy(t, old->hi, n * sizeof *t);
	memcpy(t + n, old->lo, n * sizeof *t);
	hu_grid_get()->gather(n, t, 0, out->hi + o, out->lo + o, lost);
	for (size_t j = 0; j < n; j++)
		out->err[o + j] = (out->err[o + j] + old->lost[j] + lost[j]) * (1 + 0x1p-50);
	return 1;
}

/* Adds what the row held before to what this stretch of k gave. */
static void
add_row(const hu_enclosure *out, size_t o, size_t n, const sums *old)
{
	for (size_t j = 0; out->mag && j < n; j++)
		out->mag[o + j] = (out->mag[o + j] + old->mag[j]) * (1 + 0x1p-50);
	if (!out->hi || add_finite(out, o, n, old))
		return;
	for (size_t j = 0; j < n; j++) {
		double h = out->hi[o + j], lost = 0, t[2] = { old->hi[j], old->lo[j] };
		if (hu_isfinite(h) && hu_isfinite(t[0])) {
			hu_grid_scalar.gather(1, t, 0, out->hi + o + j, out->lo + o + j, &lost);
		} else {
			out->hi[o + j] = hu_nan();
			out->lo[o + j] = 0;
		}
		out->err[o + j] = (out->err[o + j] + old->lost[j] + lost) * (1 + 0x1p-50);
	}
}

/* Writes the sums s of panel p of A and panel q of B. */
static void
put_panel(const place *w, size_t p, size_t q, const sums *s, int width)
{
	size_t i0 = p * w->a->width, i1 = i0 + w->a->width, j0 = q * w->b->width, j1 = j0 + w->b->width,
	       cols = w->b->width;
	int plain = width <= 300;

	i1 = i1 < w->a->count ? i1 : w->a->count;
	j1 = j1 < w->b->count ? j1 : w->b->count;
	for (size_t i = i0; i < i1; i++)
		plain &= !w->a->special[i] && w->a->e[i] >= -350 && w->a->e[i] <= 350;
	for (size_t j = j0; j < j1; j++)
		plain &= !w->b->special[j] && w->b->e[j] >= -350 && w->b->e[j] <= 350;
	for (size_t i = i0; i < i1; i++) {
		size_t at = (i - i0) * cols, o = i * w->out->ld + j0;
		sums old;
		for (size_t j = 0; w->add && j < j1 - j0; j++) {
			if (w->out->hi) {
				old.hi[j] = w->out->hi[o + j];
				old.lo[j] = w->out->lo[o + j];
				old.lost[j] = w->out->err[o + j];
			}
			old.mag[j] = w->out->mag ? w->out->mag[o + j] : 0;
		}
		if (plain)
			put_row(w, i, j0, j1, s, at);
		else
			for (size_t j = j0; j < j1; j++)
				put(w, i, j, s, at + j - j0);
		if (w->add)
			add_row(w->out, o, j1 - j0, &old);
	}
}

static void
enclose(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth, int add)
{
	const hu_grid *grid = hu_grid_get();
	place w = { out, a, b, losses(a->k, depth), add };
	sums s;

	HU_ASSERT(a->k == b->k && a->side == HU_LEFT && b->side == HU_RIGHT && b->width == grid->cols);
	for (size_t q = 0; q * b->width < b->count; q++)
		for (size_t p = 0; p * a->width < a->count; p++) {
			int width = most(a->low, p, a->width) + most(b->low, q, b->width);
			int narrow = width <= 900 && most(a->bits, p, a->width) + most(b->bits, q, b->width) <= 53;
			product(&s, grid, a->x + p * a->width * a->k, b->x + q * b->width * b->k, a->k, width, narrow,
				depth, out->hi != NULL, out->mag || depth == HU_PLAIN);
			put_panel(&w, p, q, &s, width);
		}
}

void
hu_enclose(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth)
{
	enclose(out, a, b, depth, 0);
}

void
hu_enclose_add(const hu_enclosure *out, const hu_operand *a, const hu_operand *b, hu_depth depth)
{
	enclose(out, a, b, depth, 1);
}
