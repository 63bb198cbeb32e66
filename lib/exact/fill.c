/* SPDX-License-Identifier: Apache-2.0
   Computes a tile's sums: packing, the choice of a way, and each way's loop over k. */
#include "lib/exact/tile.h"

#include "lib/base/mem.h"
#include "lib/exact/blas.h"
#include "lib/exact/integer.h"
#include "lib/exact/judge.h"
#include "lib/exact/slices.h"

#include <stdlib.h>
#include <string.h>

enum {
	HELD = HU_TILE_HELD,
	BLOCK = 512 /* terms of a panel at once: a right one has 64 KiB and stays in the second-level cache */
};

static void
pack_rows(hu_worker *w, const hu_exact_tile *t, size_t k0, size_t k1)
{
	for (size_t i = 0; i < t->m; i++) {
		t->s->row(t->s->context, t->batch, t->i0 + i, k0, k1, w->line);
		hu_operand_vector(&w->a, i, w->line, 1);
	}
	hu_operand_ready(&w->a);
	w->converted = 0;
}

/* hu_operand_ready or hu_operand_survey must follow. */
static void
pack_columns(hu_worker *w, const hu_exact_tile *t, size_t k0, size_t k1)
{
	const hu_exact_source *s = t->s;

	for (size_t k = k0; s->slab && k < k1; k++) {
		s->slab(s->context, t->batch, k, t->j0, t->j0 + t->n, w->line);
		hu_operand_slab(&w->b, k - k0, w->line, 1);
	}
	for (size_t j = 0; !s->slab && j < t->n; j++) {
		s->column(s->context, t->batch, t->j0 + j, k0, k1, w->line);
		hu_operand_vector(&w->b, j, w->line, 1);
	}
}

/* Measures the exponents of all vectors over all of k, which is too long to be held at once. */
static void
survey(hu_worker *w, const hu_exact_tile *t)
{
	const hu_exact_source *s = t->s;

	for (size_t k0 = 0; k0 < s->k; k0 += HELD) {
		size_t k1 = k0 + HELD < s->k ? k0 + HELD : s->k;
		for (size_t i = 0; i < t->m; i++) {
			s->row(s->context, t->batch, t->i0 + i, k0, k1, w->line);
			hu_operand_measure(&w->a, i, w->line, k1 - k0);
		}
		for (size_t j = 0; !s->slab && j < t->n; j++) {
			s->column(s->context, t->batch, t->j0 + j, k0, k1, w->line);
			hu_operand_measure(&w->b, j, w->line, k1 - k0);
		}
		if (s->slab) {
			hu_operand_stretch(&w->b, k1 - k0);
			pack_columns(w, t, k0, k1);
			hu_operand_survey(&w->b);
		}
	}
	hu_operand_settle(&w->a);
	hu_operand_settle(&w->b);
}

static int
most(const int *v, size_t p, size_t width)
{
	int m = 0;

	for (size_t i = p * width; i < (p + 1) * width; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

static double *
room(double *old, size_t *had, size_t want)
{
	if (want <= *had)
		return old;
	free(old);
	*had = want;
	return hu_xalloc(want * sizeof *old);
}

/* Returns 1 where bins take less time than `levels` grids: a term costs about as much as four grids, and a bin, once
   for all terms that are summed together, about a third of one. */
static int
bins_pay(size_t k, int bins, int levels)
{
	double terms = (double)(k < HU_BINS_TERMS ? k : HU_BINS_TERMS);

	return levels > 4 + bins / (3.0 * terms);
}

/* The levels of a sum whose products span `width` bits; HU_BY_MPFR where there are not enough. */
static int
on_grids(const hu_exact_tile *t, hu_tile_by by, int width)
{
	const hu_grid_plan *plan = by == HU_TILE_BY_NARROW ? t->plan : t->wide;
	int l = by == HU_TILE_BY_NARROW ? 1 : 2;

	while (l <= HU_GRID_LEVELS && plan->limit[l] < width)
		l++;
	return t->all_by_mpfr || l > HU_GRID_LEVELS ? HU_BY_MPFR : l;
}

/* Returns 1 where bins sum a panel pair that would need so many levels on grids. */
static int
in_bins(const hu_exact_tile *t, int width, int levels)
{
	int step = t->w->bins.step;

	if (t->all_by_mpfr || !step || hu_bins_digits(width, t->s->k, step) > HU_GRID_LEVELS)
		return 0;
	return t->kernels == HU_KERNELS_BINS ||
	       (t->kernels == HU_KERNELS_AUTO && (levels == HU_BY_MPFR || bins_pay(t->s->k, width / step, levels)));
}

/* Chooses the way for a tile in which `many` of `all` panel pairs need two or more levels. */
static hu_way
choose(const hu_exact_tile *t, hu_exact_kernels kernels, size_t many, size_t all, int most_levels, int try_blas)
{
	int bits = t->wa + t->wb + 2 + hu_log2_up(t->s->k + 1), narrow = most_levels != HU_BY_MPFR;

	if (t->all_by_mpfr || t->s->k == 0)
		return HU_WAY_GRIDS;
	if ((kernels == HU_KERNELS_AUTO || kernels == HU_KERNELS_INTEGERS) && hu_integer_get() &&
		t->wa <= HU_INTEGER_WIDTH && t->wb <= HU_INTEGER_WIDTH && bits <= HU_INTEGER_BITS &&
		(2 * many > all || kernels == HU_KERNELS_INTEGERS))
		return HU_WAY_INTEGERS;
	if (kernels == HU_KERNELS_BINS)
		return HU_WAY_GRIDS;
	int products = narrow && try_blas && bits <= HU_INTEGER_BITS ? hu_slices_products(t->wa, t->wb, t->s->k) : 0;
	if (products &&
		(kernels == HU_KERNELS_BLAS || hu_blas_pays(products, most_levels > 1 && 2 * many > all ? 2 : 1)))
		return HU_WAY_BLAS;
	return HU_WAY_GRIDS;
}

/* Chooses the way, and the levels and places of all panel pairs; initialises the sums. */
static void
prepare(hu_exact_tile *t, int try_blas)
{
	hu_worker *w = t->w;
	size_t size = HU_GRID_ROWS * w->b.width, sums = 0, many = 0, all = t->pa * t->pb;
	uint64_t counted[4] = { 0 };
	int low[HU_TILE_PANELS], bits[HU_TILE_PANELS], most_levels = 1;

	t->wa = t->wb = 0;
	w->bins.bits_a = w->bins.bits_b = 0;
	for (size_t q = 0; q < t->pb; q++) {
		int bits_b = most(w->b.bits, q, w->b.width);
		w->bins.bits_b = bits_b > w->bins.bits_b ? bits_b : w->bins.bits_b;
	}
	for (size_t p = 0; p < t->pa; p++) {
		low[p] = most(w->a.low, p, w->a.width);
		bits[p] = most(w->a.bits, p, w->a.width);
		t->wa = low[p] > t->wa ? low[p] : t->wa;
		w->bins.bits_a = bits[p] > w->bins.bits_a ? bits[p] : w->bins.bits_a;
	}
	w->bins.step = hu_bins_step(w->bins.bits_a, w->bins.bits_b, t->s->k < HU_BINS_TERMS ? t->s->k : HU_BINS_TERMS);
	for (size_t q = 0; q < t->pb; q++) {
		int low_b = most(w->b.low, q, w->b.width), bits_b = most(w->b.bits, q, w->b.width);
		size_t cols = t->n - q * w->b.width < w->b.width ? t->n - q * w->b.width : w->b.width;
		t->wb = low_b > t->wb ? low_b : t->wb;
		for (size_t p = 0; p < t->pa; p++) {
			int width = low[p] + low_b;
			hu_tile_by by = bits[p] + bits_b <= 53 ? HU_TILE_BY_NARROW : HU_TILE_BY_WIDE;
			int l = on_grids(t, by, width);
			if (in_bins(t, width, l)) {
				by = HU_TILE_BY_BINS;
				l = hu_bins_digits(width, t->s->k, w->bins.step);
			}
			w->levels[q * t->pa + p] = (unsigned char)l;
			w->by[q * t->pa + p] = (unsigned char)by;
			w->at[q * t->pa + p] = sums;
			sums += (size_t)l * size;
			many += l != 1;
			most_levels = l == HU_BY_MPFR || most_levels == HU_BY_MPFR ? HU_BY_MPFR
				      : l > most_levels                            ? l
										   : most_levels;
			size_t rows = t->m - p * w->a.width < w->a.width ? t->m - p * w->a.width : w->a.width;
			counted[l == HU_BY_MPFR ? 3 : l < 3 ? l - 1 : 2] += rows * cols;
		}
	}
	t->way = choose(t, t->kernels, many, all, most_levels, try_blas);
	if (t->way != HU_WAY_GRIDS) {
		if (!w->p) {
			size_t none = 0, n = (size_t)HU_TILE_PAIRS * HU_TILE_SIZE;
			w->p = hu_alloc(2 * n * sizeof *w->p);
			w->half = hu_alloc(2 * n * sizeof *w->half);
			if (!w->p || !w->half)
				room(NULL, &none, SIZE_MAX / 16);
			w->q = w->p + n;
		}
		for (size_t i = 0; i < all * HU_TILE_SIZE; i++)
			w->p[i] = w->q[i] = 0;
		hu_exact_count(t->way == HU_WAY_INTEGERS ? HU_TALLY_INTEGERS : HU_TALLY_BLAS, t->m * t->n, t->s->k);
		return;
	}
	w->t = room(w->t, &w->t_room, sums + 1);
	for (size_t i = 0; i < all; i++) {
		const double *start = hu_tile_start(t, i);
		for (int l = 0; l < w->levels[i]; l++)
			for (size_t o = 0; o < size; o++)
				w->t[w->at[i] + (size_t)l * size + o] = l == w->levels[i] - 1 ? 0 : start[l];
	}
	hu_exact_count(HU_TALLY_ONE, counted[0], t->s->k);
	hu_exact_count(HU_TALLY_TWO, counted[1], t->s->k);
	hu_exact_count(HU_TALLY_MORE, counted[2], t->s->k);
	hu_exact_count(HU_TALLY_MPFR, counted[3], t->s->k);
}

/* Adds the k packed terms to the sums on grids. more_to_come: another stretch of k follows. */
static void
add_on_grids(hu_exact_tile *t, size_t k, int more_to_come)
{
	hu_worker *w = t->w;
	const hu_grid *grid = hu_grid_get();
	size_t size = HU_GRID_ROWS * w->b.width;

	for (size_t k0 = 0; k0 < k; k0 += BLOCK) {
		size_t kc = k - k0 < BLOCK ? k - k0 : BLOCK, end = k0 + kc;
		int chunk_ends = end % HU_GRID_CHUNK == 0 && (end < k || more_to_come);
		for (size_t q = 0; q < t->pb; q++)
			for (size_t p = 0; p < t->pa; p++) {
				size_t pair = q * t->pa + p;
				int levels = w->levels[pair];
				double *sums = w->t + w->at[pair];
				if (levels == HU_BY_MPFR || w->by[pair] == HU_TILE_BY_BINS)
					continue;
				(w->by[pair] == HU_TILE_BY_NARROW ? grid->narrow_sum : grid->wide_sum)(kc,
					w->a.x + (p * k + k0) * w->a.width, w->b.x + (q * k + k0) * w->b.width, sums,
					levels);
				if (chunk_ends && levels > 1)
					grid->carry(size, sums, levels, hu_tile_start(t, pair));
			}
	}
}

/* Splits x 2^shift into high 2^52 + low. */
static hu_integer_offset
split(__int128 x, int shift)
{
	x *= (__int128)1 << shift;
	return (hu_integer_offset){ (int64_t)(x >> 52), (int64_t)(x & 0xfffffffffffff) };
}

static void
add_integers(hu_exact_tile *t, size_t k)
{
	hu_worker *w = t->w;
	const hu_integer *kernel = hu_integer_get();
	size_t na = t->pa * w->a.width, nb = t->pb * w->b.width, size = HU_TILE_SIZE, cols = w->b.width;
	int64_t sum_b[HU_TILE_N + HU_GRID_COLS] = { 0 };
	hu_integer_offset column[HU_TILE_N + HU_GRID_COLS];

	if (!w->converted)
		memset(w->sum_a, 0, sizeof w->sum_a);
	memset(w->half, 0, 2 * t->pa * t->pb * size * sizeof *w->half);
	for (size_t k0 = 0; k0 < k; k0 += BLOCK) {
		size_t kc = k - k0 < BLOCK ? k - k0 : BLOCK;
		for (size_t p = 0; p < t->pa && !w->converted; p++)
			kernel->convert(
				kc, w->a.width, w->a.x + (p * k + k0) * w->a.width, t->wa, w->sum_a + p * w->a.width);
		for (size_t q = 0; q < t->pb; q++) {
			kernel->convert(kc, cols, w->b.x + (q * k + k0) * cols, t->wb, sum_b + q * cols);
			for (size_t p = 0; p < t->pa; p++) {
				uint64_t *half = w->half + 2 * (q * t->pa + p) * size;
				kernel->sum(kc, w->a.x + (p * k + k0) * w->a.width, w->b.x + (q * k + k0) * cols, half,
					half + size);
			}
		}
	}
	w->converted = 1;
	for (size_t j = 0; j < nb; j++)
		column[j] = split(sum_b[j], t->wa + 1);
	for (size_t i = 0; i < na; i++) {
		__int128 all = (__int128)w->sum_a[i] + ((__int128)k << (t->wa + 1)); /* to be multiplied by 2^(wb+1) */
		hu_integer_offset row = split(all, t->wb + 1);
		for (size_t q = 0; q < t->pb; q++) {
			size_t pair = q * t->pa + i / HU_GRID_ROWS, at = i % HU_GRID_ROWS * cols;
			const uint64_t *half = w->half + 2 * pair * size + at;
			kernel->fold(cols, half, half + size, row, column + q * cols, w->p + pair * size + at,
				w->q + pair * size + at);
		}
	}
}

static void
add_stretch(hu_exact_tile *t, size_t k, int more_to_come)
{
	switch (t->way) {
	case HU_WAY_INTEGERS: add_integers(t, k); break;
	case HU_WAY_BLAS: hu_slices_add(t, k); break;
	case HU_WAY_GRIDS:
		add_on_grids(t, k, more_to_come);
		hu_bins_add(t, k);
		break;
	}
}

void
hu_tile_fill(hu_exact_tile *t, int try_blas)
{
	hu_worker *w = t->w;
	size_t all = t->s->k, k = all < HELD ? all : HELD;
	int same_rows = w->holds && w->batch == t->batch && w->i0 == t->i0 && all <= HELD;

	if (!same_rows)
		hu_operand_start(&w->a, HU_LEFT, t->m, k);
	hu_operand_start(&w->b, HU_RIGHT, t->n, k);
	t->pa = (t->m + w->a.width - 1) / w->a.width;
	t->pb = (t->n + w->b.width - 1) / w->b.width;
	if (all <= HELD) {
		if (!same_rows)
			pack_rows(w, t, 0, k);
		w->holds = 1;
		w->batch = t->batch;
		w->i0 = t->i0;
		pack_columns(w, t, 0, k);
		hu_operand_ready(&w->b);
		prepare(t, try_blas);
		if (w->converted && t->way != HU_WAY_INTEGERS)
			pack_rows(w, t, 0, k);
		add_stretch(t, k, 0);
		return;
	}
	survey(w, t);
	prepare(t, try_blas);
	for (size_t k0 = 0; k0 < all && !t->all_by_mpfr; k0 += HELD) {
		size_t k1 = k0 + HELD < all ? k0 + HELD : all;
		hu_operand_stretch(&w->a, k1 - k0);
		hu_operand_stretch(&w->b, k1 - k0);
		pack_rows(w, t, k0, k1);
		pack_columns(w, t, k0, k1);
		hu_operand_ready(&w->b);
		add_stretch(t, k1 - k0, k1 < all);
	}
}
