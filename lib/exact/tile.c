/* SPDX-License-Identifier: Apache-2.0
   Reads a tile's sums: as exact values, as pairs of doubles, or as MPFR numbers. MPFR computes those that the engine
   lacks. */
#include "lib/exact/tile.h"

#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/exact/integer.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

void
hu_tile_operands(const hu_exact_tile *t, size_t i, size_t j, double *a, double *b)
{
	const hu_exact_source *s = t->s;

	s->row(s->context, t->batch, t->i0 + i, 0, s->k, a);
	if (s->column) {
		s->column(s->context, t->batch, t->j0 + j, 0, s->k, b);
		return;
	}
	for (size_t k = 0; k < s->k; k++)
		s->slab(s->context, t->batch, k, t->j0 + j, t->j0 + j + 1, b + k);
}

/* Returns the panel pair of an output, and in *at its place within the pair. */
static size_t
locate(const hu_exact_tile *t, size_t i, size_t j, size_t *at)
{
	*at = i % HU_GRID_ROWS * t->w->b.width + j % t->w->b.width;
	return j / t->w->b.width * t->pa + i / HU_GRID_ROWS;
}

/* Returns 1 where double's range holds all parts of the value and no operand is an infinity or NaN. */
static int
in_range(const hu_worker *w, size_t i, size_t j)
{
	int e = w->a.e[i] + w->b.e[j];

	return !w->a.special[i] && !w->b.special[j] && e <= 900 && e - w->a.low[i] - w->b.low[j] >= -1074;
}

int
hu_tile_has(const hu_exact_tile *t, size_t i, size_t j)
{
	size_t at, pair = locate(t, i, j, &at);

	return in_range(t->w, i, j) && (t->way != HU_WAY_GRIDS || t->w->levels[pair] != HU_BY_MPFR);
}

static void
by_mpfr(mpfr_t r, const hu_exact_tile *t, size_t i, size_t j)
{
	double *a = hu_xmalloc(2 * t->s->k * sizeof *a);

	hu_tile_operands(t, i, j, a, a + t->s->k);
	hu_exact_dot_mpfr(r, a, a + t->s->k, t->s->k);
	free(a);
}

void
hu_exact_tile_mpfr(mpfr_t r, const hu_exact_tile *t, size_t i, size_t j)
{
	hu_exact_value v;

	if (!hu_tile_has(t, i, j)) {
		by_mpfr(r, t, i, j);
		return;
	}
	hu_exact_tile_value(&v, t, i, j);
	hu_exact_value_mpfr(r, &v);
}

/* Converts MPFR's sum to doubles. Returns 0 where their range does not hold it exactly. r is destroyed. */
static int
from_mpfr(hu_exact_value *v, mpfr_t r)
{
	hu_exact_value_set(v, 0);
	if (!mpfr_number_p(r)) {
		hu_exact_value_set(v, mpfr_get_d(r, MPFR_RNDN));
		return 1;
	}
	if (!mpfr_zero_p(r) && (mpfr_get_exp(r) > 1000 || mpfr_get_exp(r) - (mpfr_exp_t)mpfr_min_prec(r) < -1074))
		return 0;
	for (int parts = 0; !mpfr_zero_p(r); parts++) {
		double x = mpfr_get_d(r, MPFR_RNDZ);
		if (parts == HU_EXACT_PARTS - 1)
			return 0;
		mpfr_sub_d(r, r, x, MPFR_RNDN); /* exact: x holds r's leading bits */
		hu_exact_value_add(v, x);
	}
	return 1;
}

int
hu_exact_tile_value(hu_exact_value *v, const hu_exact_tile *t, size_t i, size_t j)
{
	const hu_worker *w = t->w;
	size_t at, pair = locate(t, i, j, &at), size = HU_GRID_ROWS * w->b.width;
	int e = w->a.e[i] + w->b.e[j];

	hu_exact_value_set(v, 0);
	if (!hu_tile_has(t, i, j)) {
		mpfr_t r;
		mpfr_init(r);
		by_mpfr(r, t, i, j);
		int held = from_mpfr(v, r);
		mpfr_clear(r);
		return held;
	}
	if (t->way == HU_WAY_GRIDS) {
		const double *sums = w->t + w->at[pair] + at, *start = hu_tile_start(t, pair);
		int levels = w->levels[pair];
		for (int l = levels; l--;) {
			double x = sums[(size_t)l * size] - (l == levels - 1 ? 0 : start[l]);
			if (x != 0)
				hu_exact_value_add(v, x);
		}
		hu_exact_value_scale(v, e);
		return 1;
	}
	int64_t p = w->p[pair * HU_TILE_SIZE + at], q = w->q[pair * HU_TILE_SIZE + at];
	hu_exact_value_add(v, (double)q);
	hu_exact_value_add(v, (double)(p & 0x3ffffff) * 0x1p52);
	hu_exact_value_add(v, (double)(p >> 26) * 0x1p78);
	hu_exact_value_scale(v, e - t->wa - t->wb);
	return 1;
}

/* Bounds what is left of a value after lo, the nearest double to it: half of lo's last bit, or of a subnormal's. */
static double
half_ulp(double lo)
{
	return lo < 0 ? -lo * 0x1p-53 + 0x1p-1074 : lo * 0x1p-53 + 0x1p-1074;
}

static void
slow_pair(double *hi, double *lo, double *err, const hu_exact_tile *t, size_t i, size_t j)
{
	hu_exact_value v;
	mpfr_t r;

	*lo = 0;
	if (hu_exact_tile_value(&v, t, i, j)) {
		*hi = hu_exact_value_double(&v);
		*err = hu_isfinite(*hi) ? 0 : INFINITY;
		if (*err == 0) {
			hu_exact_value_add(&v, -*hi);
			*lo = hu_exact_value_double(&v);
			hu_exact_value_add(&v, -*lo);
			*err = v.n ? half_ulp(*lo) : 0;
		}
		return;
	}
	mpfr_init(r);
	hu_exact_tile_mpfr(r, t, i, j);
	*hi = mpfr_get_d(r, MPFR_RNDN);
	*err = hu_isfinite(*hi) ? 0 : INFINITY;
	if (*err == 0) {
		mpfr_sub_d(r, r, *hi, MPFR_RNDN);
		*lo = mpfr_get_d(r, MPFR_RNDN);
		*err = mpfr_cmp_d(r, *lo) ? half_ulp(*lo) : 0;
	}
	mpfr_clear(r);
}

/* Settles what the grid kernels can settle of n outputs from column j0 on; err is as in hu_exact_tile_pairs, and -1 for
   the others. */
static void
fast_pairs(double *hi, double *lo, double *err, const hu_exact_tile *t, size_t i, size_t j0, size_t n)
{
	const hu_worker *w = t->w;
	const hu_grid *grid = hu_grid_get();
	size_t at, pair = locate(t, i, j0, &at), size = HU_GRID_ROWS * w->b.width;
	int levels = w->levels[pair], integers = t->way != HU_WAY_GRIDS, lower = integers ? t->wa + t->wb : 0;
	const double *sums = integers ? NULL : w->t + w->at[pair] + at, *start = hu_tile_start(t, pair);
	double f[HU_GRID_COLS];

	for (size_t j = 0; j < n; j++) {
		int e = w->a.e[i] + w->b.e[j0 + j] - lower;
		/* Both doubles are multiples of a product's lowest bit, so a factor that is normal scales them
		   exactly. */
		int plain = in_range(w, i, j0 + j) && e >= -1022 && (integers || levels != HU_BY_MPFR);
		if (plain && integers) {
			int64_t p = w->p[pair * HU_TILE_SIZE + at + j];
			plain = p <= 1ll << 53 && p >= -(1ll << 53);
		}
		f[j] = plain ? hu_pow2(e) : 0;
		err[j] = plain ? 0 : -1;
	}
	if (integers)
		grid->join(n, w->p + pair * HU_TILE_SIZE + at, w->q + pair * HU_TILE_SIZE + at, f, hi, lo);
	else if (levels == 1 || levels == 2)
		grid->pairs(n, sums, levels == 2 ? sums + size : NULL, levels == 2 ? start[0] : 0, f, hi, lo);
	else if (levels != HU_BY_MPFR) {
		double rest[HU_GRID_COLS];
		grid->round(n, size, levels, sums, start, f, hi, lo, rest);
		for (size_t j = 0; j < n; j++)
			err[j] = err[j] < 0 || rest[j] < 0 ? -1 : rest[j] > 0 ? half_ulp(lo[j]) : 0;
	}
}

void
hu_exact_tile_pairs(double *hi, double *lo, double *err, const hu_exact_tile *t, size_t i)
{
	size_t cols = t->w->b.width;

	for (size_t j0 = 0; j0 < t->n; j0 += cols) {
		size_t n = t->n - j0 < cols ? t->n - j0 : cols;
		double e[HU_GRID_COLS];
		fast_pairs(hi + j0, lo + j0, e, t, i, j0, n);
		for (size_t j = 0; j < n; j++) {
			if (e[j] < 0)
				slow_pair(hi + j0 + j, lo + j0 + j, e + j, t, i, j0 + j);
			if (err)
				err[j0 + j] = e[j];
		}
	}
}
