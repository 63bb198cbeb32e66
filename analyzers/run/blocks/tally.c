/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/blocks/tally.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/block/block.h"
#include "lib/op/attr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor as the matrix whose rows the call's blocks run along (block_cast.c). */
typedef struct matrix {
	size_t rows, columns;
	int across;
} matrix;

static matrix
matrix_of(const hu_call *c, const hu_tensor *x)
{
	size_t last = hu_attr_count(c, "columns", hu_last(x->shape)), other = last ? x->n / last : 0;
	int across = hu_attr_num(c, "across", 0) != 0;

	return (matrix){ across ? last : other, across ? other : last, across };
}

/* Returns the tensor as floats in the matrix's order, which the caller frees; NULL without memory. */
static float *
gathered(const matrix *m, const hu_tensor *x)
{
	float *to = hu_alloc((x->n + 1) * sizeof *to);

	for (size_t i = 0; to && i < x->n; i++)
		to[i] = (float)hu_get(x, m->across ? i % m->columns * m->rows + i / m->columns : i);
	return to;
}

/* The elements of one block, gathered: its place in the matrix and its size. */
typedef struct place {
	size_t row, column, high, wide;
} place;

static void
pick(float *to, const float *x, const matrix *m, const place *at)
{
	for (size_t r = 0; r < at->high; r++)
		memcpy(to + r * at->wide, x + (at->row + r) * m->columns + at->column, at->wide * sizeof *to);
}

/* Returns 1 where one element is an outlier among the others. */
static int
has_outlier(const float *x, size_t n)
{
	long double sum = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		long double s = (long double)x[i] * x[i];
		sum += s;
		most = s > most ? s : most;
	}
	sum -= most;
	/* Beside zeros alone nothing can be lost. */
	return n > 1 && sum > 0 && most >= HU_BLOCK_TALLY_OUTLIER * HU_BLOCK_TALLY_OUTLIER * sum / (long double)(n - 1);
}

static size_t
made_zero(const float *x, const float *y, size_t n)
{
	size_t zero = 0;

	for (size_t i = 0; i < n; i++)
		zero += x[i] != 0 && y[i] == 0;
	return zero;
}

static void
count_block(hu_block_tally *b, const hu_block *f, const float *x, const float *y, const float *plain,
	const float *plain_cast, size_t n, double whole)
{
	hu_block_scale s = hu_block_scale_of(f, x, n, whole);
	size_t saturated = 0, nonzeros = 0;

	for (size_t i = 0; i < n; i++) {
		long double off = (long double)y[i] - x[i];
		nonzeros += x[i] != 0;
		saturated += x[i] != 0 && hu_block_saturates(f, s, x[i]);
		b->exact2 += isfinite(x[i]) && isfinite(y[i]) ? (long double)x[i] * x[i] : 0;
		b->error2 += isfinite(off) ? off * off : 0;
		b->dot += isfinite(off) ? (long double)x[i] * y[i] : 0;
	}
	b->elements += n;
	b->nonzeros += nonzeros;
	b->zeroed += made_zero(x, y, n);
	b->saturated += saturated;
	b->blocks++;
	b->saturated_blocks += saturated > 0;
	if (s.scale > 0 && isfinite(s.scale)) {
		int e = ilogb(s.scale) + HU_BLOCK_TALLY_BIAS;
		b->scale[e < 0 ? 0 : e >= HU_BLOCK_TALLY_SCALES ? HU_BLOCK_TALLY_SCALES - 1 : e]++;
	}
	if (!has_outlier(plain, n))
		return;
	size_t others = 0;
	for (size_t i = 0; i < n; i++)
		others += plain[i] != 0;
	b->outlier_blocks++;
	b->neighbours += others - 1;
	b->neighbours_zero += made_zero(x, y, n);
	b->untransformed_zero += made_zero(plain, plain_cast, n);
}

/* Casts the matrix as the call does. */
static void
cast_all(float *to, const hu_block *f, const float *x, const matrix *m, double whole)
{
	size_t high = f->size ? f->rows : m->rows, bands = high ? (m->rows + high - 1) / high : 0;

	for (size_t k = 0; k < bands; k++)
		hu_block_cast_band(f, to, x, m->rows, m->columns, k * high, whole);
}

hu_status
hu_block_tally_count(hu_block_tally *b, const hu_call *c, const hu_tensor *x, const hu_tensor *y,
	const hu_tensor *plain, const hu_tensor *scale, const hu_env *env)
{
	matrix m = matrix_of(c, x);
	hu_block f;

	memset(b, 0, sizeof *b);
	HU_TRY(hu_block_find(hu_attr_text(c, "blocks", ""), &f));
	if (scale)
		f.given = (float)hu_get(scale, 0);
	f.draws = (hu_stream){ env->seed, hu_fnv1a32(c->seed_name), env->step };
	float *of[4] = { gathered(&m, x), gathered(&m, y), gathered(&m, plain), hu_alloc((x->n + 1) * sizeof(float)) };
	size_t wide = f.size && f.size < m.columns ? f.size : m.columns, high = f.size ? f.rows : m.rows;
	float *one = hu_alloc(4 * (wide * high + 1) * sizeof *one);
	hu_status st = of[0] && of[1] && of[2] && of[3] && one
			       ? HU_OK
			       : hu_fail(HU_ENOMEM, "%s: no memory for %zu elements", c->layer, x->n);
	if (st == HU_OK) {
		double whole = hu_block_whole(&f, of[0], x->n);
		cast_all(of[3], &f, of[2], &m, hu_block_whole(&f, of[2], x->n));
		for (size_t row = 0; row < m.rows; row += high)
			for (size_t column = 0; column < m.columns; column += wide) {
				place at = { row, column, m.rows - row < high ? m.rows - row : high,
					m.columns - column < wide ? m.columns - column : wide };
				size_t n = at.high * at.wide;
				for (int k = 0; k < 4; k++)
					pick(one + (size_t)k * n, of[k], &m, &at);
				count_block(b, &f, one, one + n, one + 2 * n, one + 3 * n, n, whole);
			}
	}
	for (int k = 0; k < 4; k++)
		free(of[k]);
	free(one);
	return st;
}

double
hu_block_tally_scale(const hu_block_tally *b, double share)
{
	size_t all = 0, seen = 0;

	for (int i = 0; i < HU_BLOCK_TALLY_SCALES; i++)
		all += b->scale[i];
	for (int i = 0; i < HU_BLOCK_TALLY_SCALES; i++) {
		seen += b->scale[i];
		if (b->scale[i] && (double)seen >= share * (double)all)
			return i - HU_BLOCK_TALLY_BIAS;
	}
	return NAN;
}
