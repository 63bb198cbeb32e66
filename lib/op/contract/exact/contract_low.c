/* SPDX-License-Identifier: Apache-2.0
   Products of certified operands, whose elements are h + l with an error of at most e. Σ(ah + al)(bh + bl) is the
   certified inner product of the high parts (lib/exact/enclose.h), plus two plain inner products of the trailing parts
   with the other operand's high parts, plus bounds on the rest: al bl, the roundings of the plain products, and the
   operands' own errors. These bounds use the Cauchy-Schwarz inequality, |Σ x y| <= |x|2 |y|2, with norms of rows and
   columns, which need no second product. */
#include "lib/op/contract/exact/contract_low.h"
#include "lib/op/contract/exact/contract_runs.h"
#include "lib/op/element/map.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/enclose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 256, STRETCH = 2048 };
/* An error beyond this fraction of its value is computed again term by term: half an ulp of fp32, to ten more bits,
   with two to spare. */
#define VAGUE 0x1p-37
/* Beside a sum of 0 an error below this is not: rows of zeros, whose errors are subnormal, get it from the sums of
   squares. It is below the smallest number of every format but fp64. */
#define NOTHING 0x1p-450

/* An operand's parts: floats or doubles, and their trailing parts and errors, or NULL. */
typedef struct source { const hu_tensor *t; const double *lo, *err; } source;

/* Sums of squares, and finally upper bounds on the norms; 0 only if all is 0. */
typedef struct norms { double h, l, e; } norms;

typedef struct packed { hu_operand hi, lo; } packed;

typedef struct job {
	const hu_contract *x;
	hu_sink *sink;
	source a, b;
	hu_runs runs;
} job;

typedef struct work {
	packed a, b;
	double part[3][STRETCH], line[COLUMNS];
	uint64_t top[COLUMNS];
	double hi[ROWS * COLUMNS], lo[ROWS * COLUMNS], err[ROWS * COLUMNS];
	double bare[ROWS * COLUMNS], rest[ROWS * COLUMNS], bare_err[ROWS * COLUMNS];
	norms row[ROWS], column[COLUMNS];
	hu_dd sum[COLUMNS];
	size_t some[STRETCH], open[COLUMNS];
} work;

/* Loads elements k0 .. k1-1 of row m, asking the map once for all parts. If w is not NULL, it returns the bits of the
   largest magnitude and adds the squares of values and errors to w's. */
static uint64_t
row_stretch(const hu_contract *x, const source *s, const hu_runs *r, size_t m, size_t k0, size_t k1,
	double (*to)[STRETCH], norms *w)
{
	int wide = hu_is_wide(s->t->format);
	uint64_t top = 0;

	for (size_t k = k0; k < k1;) {
		hu_stretch at = x->row(x, m, k);
		size_t n = at.length < k1 - k ? at.length : k1 - k, i0 = k - k0, step = at.stride;
		if (at.offset < 0) {
			for (int p = 0; p < 3; p++)
				memset(to[p] + i0, 0, n * sizeof **to);
		} else {
			const double *lo = s->lo ? s->lo + at.offset : NULL, *err = s->err ? s->err + at.offset : NULL;
			if (wide)
				for (size_t i = 0; i < n; i++)
					to[0][i0 + i] = ((const double *)s->t->data)[(size_t)at.offset + i * step];
			else
				for (size_t i = 0; i < n; i++)
					to[0][i0 + i] =
						(double)((const float *)s->t->data)[(size_t)at.offset + i * step];
			for (size_t i = 0; lo && i < n; i++)
				to[1][i0 + i] = lo[i * step];
			for (size_t i = 0; err && i < n; i++)
				to[2][i0 + i] = err[i * step];
		}
		if (w && r->run && at.offset >= 0) {
			size_t i = (size_t)at.offset / r->run;
			int whole = n == r->run && step == 1 && (size_t)at.offset % r->run == 0;
			uint64_t u = whole ? r->top[i] : hu_runs_largest(to[0] + i0, n, &w->h);
			top = u > top ? u : top;
			if (whole) {
				w->h += r->h[i];
				w->e += r->e[i];
			} else if (s->err) {
				hu_runs_largest(to[2] + i0, n, &w->e);
			}
		}
		k += n;
	}
	if (w && !r->run) {
		top = hu_runs_largest(to[0], k1 - k0, &w->h);
		if (s->err)
			hu_runs_largest(to[2], k1 - k0, &w->e);
	}
	return top;
}

/* The square root of a sum of k squares, enlarged for k + 4 roundings. A trailing part is at most half an ulp of its
   high part; low says that there are some. */
static norms
rooted(norms w, size_t k, int low)
{
	double up = 1 + ((double)k + 8) * 0x1p-52, h = sqrt(w.h * up) * up;

	return (norms){ h, low ? h * 0x1p-53 : 0, sqrt(w.e * up) * up };
}

/* Sets up vector i, whose largest magnitude has these bits, of an operand with trailing parts. */
static void
assume(packed *b, size_t i, uint64_t top)
{
	int special = top >> 52 == 0x7ff, e = top && !special ? hu_exponent(hu_from_bits64(top)) : 0;

	if (!top) { /* and then there are no trailing parts either */
		hu_operand_assume_zero(&b->hi, i);
		hu_operand_assume_zero(&b->lo, i);
		return;
	}
	e = e < -1022 ? -1022 : e;
	hu_operand_assume(&b->hi, i, e, special);
	hu_operand_assume(&b->lo, i, e, special);
}

/* Packs a stretch of a block of columns, and adds the columns' squares to column. */
static void
pack_b(const job *j, work *w, packed *b, size_t n0, size_t count, size_t k0, size_t k1, norms *column)
{
	const hu_contract *x = j->x;
	size_t step = x->column_stride;

	hu_operand_start(&b->hi, HU_RIGHT, count, k1 - k0);
	if (j->b.lo) {
		hu_operand_start(&b->lo, HU_RIGHT, count, k1 - k0);
		hu_operand_settle(&b->hi);
		hu_operand_settle(&b->lo);
	}
	memset(w->top, 0, sizeof w->top);
	for (size_t k = k0; k < k1; k++) {
		size_t at = x->column(x, k) + n0 * step;
		for (size_t n = 0; n < count; n++)
			w->line[n] = hu_get(j->b.t, at + n * step);
		hu_operand_slab(&b->hi, k - k0, w->line, 1);
		for (size_t n = 0; n < count; n++) {
			uint64_t u = hu_bits64(w->line[n]) & 0x7fffffffffffffff;
			w->top[n] = u > w->top[n] ? u : w->top[n];
			column[n].h += w->line[n] * w->line[n] + (u ? 0x1p-1020 : 0);
		}
		if (j->b.lo)
			hu_operand_slab(&b->lo, k - k0, j->b.lo + at, step);
		for (size_t n = 0; j->b.err && n < count; n++) {
			double e = j->b.err[at + n * step];
			column[n].e += e * e + (e != 0 ? 0x1p-1020 : 0);
		}
	}
	for (size_t n = 0; j->b.lo && n < count; n++)
		assume(b, n, w->top[n]);
	hu_operand_ready(&b->hi);
	if (j->b.lo)
		hu_operand_ready(&b->lo);
}

static void
pack_a(const job *j, work *w, size_t row0, size_t rows, size_t k0, size_t k1)
{
	hu_operand_start(&w->a.hi, HU_LEFT, rows, k1 - k0);
	if (j->a.lo) {
		hu_operand_start(&w->a.lo, HU_LEFT, rows, k1 - k0);
		hu_operand_settle(&w->a.hi);
		hu_operand_settle(&w->a.lo);
	}
	for (size_t i = 0; i < rows; i++) {
		uint64_t top = row_stretch(j->x, &j->a, &j->runs, row0 + i, k0, k1, w->part, &w->row[i]);
		if (j->a.lo)
			assume(&w->a, i, top);
		hu_operand_vector(&w->a.hi, i, w->part[0], 1);
		if (j->a.lo)
			hu_operand_vector(&w->a.lo, i, w->part[1], 1);
	}
	hu_operand_ready(&w->a.hi);
	if (j->a.lo)
		hu_operand_ready(&w->a.lo);
}

/* The product a b of two bounds, in which 0 times infinity is 0. */
static inline double
times(double a, double b)
{
	return a == 0 || b == 0 ? 0 : a * b;
}

/* Computes outputs n0 + w->open[0 .. count) of row m term by term, if norms say too little: sums that are 0 or tiny
   beside their row and column, as in sparse gradients. A term that is 0 adds nothing to the error. */
static void
term_by_term(const job *j, work *w, size_t m, size_t n0, size_t count)
{
	const hu_contract *x = j->x;
	const double *lo = j->b.lo, *err = j->b.err;

	for (size_t q = 0; q < count; q++)
		w->sum[q] = hu_dd_of(0);
	for (size_t k0 = 0; k0 < x->k; k0 += STRETCH) {
		size_t k1 = k0 + STRETCH < x->k ? k0 + STRETCH : x->k, some = 0;
		row_stretch(x, &j->a, &j->runs, m, k0, k1, w->part, NULL);
		for (size_t i = 0; i < k1 - k0; i++)
			if (w->part[0][i] != 0 || (j->a.err && w->part[2][i] != 0))
				w->some[some++] = i;
		for (size_t q = 0; q < count; q++)
			for (size_t s = 0; s < some; s++) {
				size_t i = w->some[s], at = x->column(x, k0 + i) + (n0 + w->open[q]) * x->column_stride;
				hu_dd b = { hu_get(j->b.t, at), lo ? lo[at] : 0, err ? err[at] : 0 };
				if (b.h != 0 || b.e != 0)
					w->sum[q] = hu_dd_add(w->sum[q],
						hu_dd_mul((hu_dd){ w->part[0][i], j->a.lo ? w->part[1][i] : 0,
								  j->a.err ? w->part[2][i] : 0 },
							b));
			}
	}
}

/* Finishes one row of the tile: joins the sums, completes the errors, divides by the scale. */
static void
finish(const job *j, work *w, size_t i, size_t row, size_t n0, size_t count)
{
	size_t o = i * count, open = 0, k = j->x->k < 1024 ? j->x->k : 1024;
	double g = ((double)k + 4) * 0x1p-53, scale = j->x->scale;
	norms a = rooted(w->row[i], j->x->k, j->a.lo != NULL);
	hu_tile t = { count, hu_contract_at(j->x, row) + n0, NULL, w->hi + o, w->lo + o, w->err + o, NULL, NULL };

	for (size_t n = 0; n < count; n++) {
		norms b = w->column[n];
		double v = w->lo[o + n] + w->bare[o + n], cross = times(a.l, b.h) + times(a.h, b.l), e = w->err[o + n];
		e += fabs(v) * 0x1p-52 * (cross != 0) + fabs(w->rest[o + n]) + w->bare_err[o + n] + g * cross +
		     times(a.l, b.l) + (cross != 0 ? 0x1p-1000 * a.h * b.h : 0);
		e += times(a.h, b.e) + times(a.l, b.e) + times(a.e, b.h) + times(a.e, b.l) + times(a.e, b.e);
		/* an unknown operand may be infinite, and then a zero does not make the product 0 */
		if (!(a.e < INFINITY) || !(b.e < INFINITY))
			e = INFINITY;
		w->hi[o + n] = hu_dd_sum(w->hi[o + n], v, &w->lo[o + n]);
		w->err[o + n] = e == 0 ? 0 : e < INFINITY ? e * (1 + 0x1p-40) + 0x1p-1070 : INFINITY;
		if (e > VAGUE * fabs(w->hi[o + n]) && w->err[o + n] < INFINITY &&
			!(w->hi[o + n] == 0 && w->lo[o + n] == 0 && e < NOTHING))
			w->open[open++] = n;
	}
	for (size_t n = 0; n < count; n++)
		if (w->hi[o + n] !=
			/* an operand is not finite, so nothing is known, not even that the sum is NaN */
			w->hi[o + n]) {
			w->lo[o + n] = 0;
			w->err[o + n] = INFINITY;
		}
	if (open)
		term_by_term(j, w, row, n0, open);
	for (size_t q = 0; q < open; q++) {
		size_t n = o + w->open[q];
		if (w->sum[q].e < w->err[n]) {
			w->hi[n] = w->sum[q].h;
			w->lo[n] = w->sum[q].l;
			w->err[n] = w->sum[q].e;
		}
	}
	for (size_t n = 0; n < count; n++) {
		if (scale != 1) {
			double h = w->hi[o + n] / scale, l = w->lo[o + n] / scale;
			/* Dividing by a power of two is exact unless the result is subnormal. */
			if ((l != 0 && !(fabs(l) > 0x1p-900)) || (h != 0 && !(fabs(h) > 0x1p-900)))
				w->err[o + n] = INFINITY;
			w->hi[o + n] = h;
			w->lo[o + n] = l;
			w->err[o + n] = w->err[o + n] != 0 ? w->err[o + n] / scale + 0x1p-1070 : 0;
		}
	}
	j->sink->take(j->sink, &t);
}

/* Computes rows from row0 on of columns from n0 on. b holds packed stretches with their norms, or is NULL. */
static void
tile(const job *j, work *w, const packed *b, const norms *column, size_t row0, size_t rows, size_t n0, size_t count)
{
	const hu_contract *x = j->x;
	hu_enclosure two = { w->hi, w->lo, w->err, NULL, count }, bare = { w->bare, w->rest, w->bare_err, NULL, count };

	memset(w->row, 0, sizeof w->row);
	memset(w->column, 0, sizeof w->column);
	for (size_t o = 0; !j->a.lo && !j->b.lo && o < rows * count; o++)
		w->bare[o] = w->rest[o] = w->bare_err[o] = 0;
	for (size_t k0 = 0, s = 0; k0 < x->k || !s; k0 += STRETCH, s++) {
		size_t k1 = k0 + STRETCH < x->k ? k0 + STRETCH : x->k;
		pack_a(j, w, row0, rows, k0, k1);
		if (!b)
			pack_b(j, w, &w->b, n0, count, k0, k1, w->column);
		const packed *mine = b ? &b[s] : &w->b;
		(s ? hu_enclose_add : hu_enclose)(&two, &w->a.hi, &mine->hi, HU_TWO);
		if (j->a.lo)
			(s ? hu_enclose_add : hu_enclose)(&bare, &w->a.lo, &mine->hi, HU_BARE);
		if (j->b.lo)
			(s || j->a.lo ? hu_enclose_add : hu_enclose)(&bare, &w->a.hi, &mine->lo, HU_BARE);
	}
	for (size_t n = 0; n < count; n++)
		w->column[n] = b ? column[n] : rooted(w->column[n], 2 * x->k, j->b.lo != NULL);
	for (size_t i = 0; i < rows; i++)
		finish(j, w, i, row0 + i, n0, count);
}

void
hu_contract_enclose_low(const hu_contract *x, hu_sink *sink)
{
	job j = { x, sink, { x->a, sink->low[0].lo, sink->low[0].err }, { x->b, sink->low[1].lo, sink->low[1].err },
		{ 0, NULL, NULL, NULL } };
	size_t tiles = (x->m + ROWS - 1) / ROWS, blocks = (x->n + COLUMNS - 1) / COLUMNS,
	       stretches = x->k ? (x->k + STRETCH - 1) / STRETCH : 1;
	size_t packs = x->k * x->n <= hu_contract_shared() / 2 ? blocks * stretches : 0;
	packed *b = hu_xcalloc(packs + 1, sizeof *b);
	norms *column = hu_xcalloc(packs ? x->n + 1 : 1, sizeof *column);

	hu_runs_survey(&j.runs, x, j.a.err);
#pragma omp parallel num_threads(hu_threads()) if (x->m * x->n * x->k > 65536)
	{
		work *w = hu_xmalloc(sizeof *w);
		memset(&w->a, 0, sizeof w->a);
		memset(&w->b, 0, sizeof w->b);
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < (packs ? blocks : 0); i++) {
			size_t n0 = i * COLUMNS, count = x->n - n0 < COLUMNS ? x->n - n0 : COLUMNS;
			for (size_t s = 0; s < stretches; s++)
				pack_b(&j, w, &b[i * stretches + s], n0, count, s * STRETCH,
					(s + 1) * STRETCH < x->k ? (s + 1) * STRETCH : x->k, column + n0);
			for (size_t n = n0; n < n0 + count; n++)
				column[n] = rooted(column[n], 2 * x->k, j.b.lo != NULL);
		}
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < tiles * blocks; i++) {
			size_t row0 = i / blocks * ROWS, q = i % blocks, n0 = q * COLUMNS;
			tile(&j, w, packs ? b + q * stretches : NULL, column + n0, row0,
				x->m - row0 < ROWS ? x->m - row0 : ROWS, n0, x->n - n0 < COLUMNS ? x->n - n0 : COLUMNS);
		}
		hu_operand_release(&w->a.hi);
		hu_operand_release(&w->a.lo);
		hu_operand_release(&w->b.hi);
		hu_operand_release(&w->b.lo);
		free(w);
	}
	for (size_t i = 0; i < packs; i++) {
		hu_operand_release(&b[i].hi);
		hu_operand_release(&b[i].lo);
	}
	free(b);
	free(column);
	hu_runs_release(&j.runs);
}
