/* SPDX-License-Identifier: Apache-2.0
   Encloses products tile by tile: rows of A times columns of B by certified inner products (lib/exact/enclose.h), which
   give value, error and magnitude in one pass. The bound comes from the summation's bound (lib/sum/bound.h) for these
   magnitudes and from the rounding to the output. */
#include "lib/op/contract/contract_exact.h"
#include "lib/op/contract/contract_low.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/enclose.h"
#include "lib/sum/bound.h"
#include "lib/sum/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 24, COLUMNS = 256,  /* of a tile, whose results and operands stay in the second-level cache */
	STRETCH = 4096,            /* terms in memory at a time */
	PANEL = 96                 /* outputs that the kernel computes even if only one is wanted */
};
static const size_t held = (size_t)1 << 20;   /* exact values in memory at a time */

typedef struct job {
	const hu_call *c;
	hu_contract *x;
	hu_tensor *const *in;
	hu_sink *sink;
	hu_sum_bound sum;
	hu_format inner;
	size_t part;
	/* The list by rows: those of row m are order[start[m] .. start[m+1]), as positions in element. NULL: all
	   elements. */
	const size_t *element;
	size_t *start, *order;
	int single;                /* few outputs of each row are wanted, so only their columns are computed */
	/* Exact values of rows from row0 on, in place of what the tiles would enclose; output (row0 + i, left + j) is
	   at i * columns + j. NULL: none. */
	double *hi, *lo, *err;
	size_t row0, left, columns;
} job;

typedef struct work {
	hu_operand a, b;
	double k[STRETCH], line[COLUMNS];
	double hi[ROWS * COLUMNS], lo[ROWS * COLUMNS], err[ROWS * COLUMNS], mag[ROWS * COLUMNS], bound[ROWS * COLUMNS];
	size_t at[ROWS * COLUMNS], from[ROWS * COLUMNS], rows[ROWS], columns[COLUMNS];
} work;

/* Computes Σ over all k for rows w->rows[0 .. r) and count columns, or magnitudes alone where the exact engine has the
   values. b holds packed stretches, or is NULL. */
static void
products(const job *j, work *w, const hu_contract *x, const hu_operand *b, const size_t *list, size_t n0, size_t count,
	size_t r)
{
	hu_enclosure out = { j->hi ? NULL : w->hi, w->lo, w->err, w->mag, count };

	for (size_t k0 = 0, s = 0; k0 < x->k || !s; k0 += STRETCH, s++) {
		size_t k1 = k0 + STRETCH < x->k ? k0 + STRETCH : x->k;
		hu_contract_pack_left(x, &w->a, j->hi != NULL, w->rows, r, k0, k1, w->k);
		if (!b)
			hu_contract_pack_right(x, &w->b, j->hi != NULL, list, n0, count, k0, k1, w->line);
		(s ? hu_enclose_add : hu_enclose)(&out, &w->a, b ? &b[s] : &w->b, j->hi ? HU_PLAIN : HU_TWO);
	}
	for (size_t i = 0; j->hi && i < r * count; i++)   /* an infinity times 0 is NaN */
		w->mag[i] = w->mag[i] < INFINITY ? w->mag[i] : INFINITY;
}

/* The bound for one output, given mag >= Σ|ab| and value >= |Σ ab|, both before division by the scale. */
static double
bound_of(const job *j, size_t element, double mag, double value)
{
	const hu_call *c = j->c;
	hu_sum_bound own, *s = &own;
	hu_format out = hu_format_of(c->fmt.out);

	own = c->sum.id == HU_SUM_TC ? hu_contract_tc_bound(j->x, c, element, j->part) : j->sum;
	double e = s->relative * mag + s->absolute, most = (value + e) / j->x->scale;
	double ulps = c->mode == HU_RNE || c->mode == HU_RNA ? 0.5 : 1;

	if (!(s->peak * mag + s->absolute <= s->limit) || !(mag < INFINITY))
		return INFINITY;
	e /= j->x->scale;
	if (!hu_contract_holds(out, j->inner) || j->x->scale != 1) {
		/* A value of up to half an ulp above the largest still rounds to it, but comparing with the largest is
		   simpler. */
		if (!(most <= out.max)) {
			if (!(c->flags & HU_SATURATE))
				return INFINITY;
			e += most - out.max;
		}
		e += 2 * ulps * hu_unit(out) * most + ulps * hu_smallest(out);
	}
	return e * (1 + 0x1p-40);
}

/* Dividing by a power of two is exact unless the result is subnormal. */
static void
unscale(work *w, size_t i, double scale)
{
	double lo = w->lo[i] / scale, hi = w->hi[i] / scale;

	if ((w->lo[i] != 0 && !(fabs(lo) > 0x1p-900)) || (w->hi[i] != 0 && !(fabs(hi) > 0x1p-900)))
		w->err[i] = INFINITY;
	w->hi[i] = hi;
	w->lo[i] = lo;
	w->err[i] = w->err[i] != 0 ? w->err[i] / scale + 0x1p-1070 : 0;
	w->mag[i] /= scale;
}

/* Keeps results from[i] of the tile, which are number at[i] of the list. */
static void
choose(const job *j, work *w, size_t n)
{
	for (size_t i = 0; i < n; i++) { /* from[] ascends, so nothing is overwritten before it is read */
		size_t f = w->from[i];
		w->hi[i] = w->hi[f];
		w->lo[i] = w->lo[f];
		w->err[i] = w->err[f];
		w->mag[i] = w->mag[f];
	}
	for (size_t i = 0; j->sink->bounds && i < n; i++)
		w->bound[i] = bound_of(j, j->element ? j->element[w->at[i]] : w->at[i], w->mag[i],
			(fabs(w->hi[i]) + fabs(w->lo[i]) + w->err[i]) * (1 + 0x1p-50));
}

/* Sets columns from n0 on of r rows to the exact engine's values. */
static void
put_exact(const job *j, work *w, size_t n0, size_t count, size_t r)
{
	for (size_t i = 0; i < r; i++) {
		size_t from = (w->rows[0] + i - j->row0) * j->columns + n0 - j->left, to = i * count;
		memcpy(w->hi + to, j->hi + from, count * sizeof *w->hi);
		memcpy(w->lo + to, j->lo + from, count * sizeof *w->lo);
		memcpy(w->err + to, j->err + from, count * sizeof *w->err);
	}
}

static void
hand_over(const job *j, work *w, size_t n)
{
	int bounds = j->sink->bounds;
	hu_tile t = { n, 0, w->at, w->hi, w->lo, w->err, bounds ? w->bound : NULL, bounds ? w->mag : NULL };

	for (size_t i = 0; i < n && j->x->scale != 1; i++)
		unscale(w, i, j->x->scale);
	j->sink->take(j->sink, &t);
}

/* The row within its batch of row m of a product. */
static size_t
placed(const hu_contract *x, size_t m)
{
	return x->shares > 1 ? x->place(x, m) : m;
}

/* The column of the output's element e. */
static size_t
column_of(const hu_contract *x, size_t e)
{
	size_t batch, n;

	hu_contract_row_of(x, e, &batch, &n);
	return n;
}

/* Computes columns n0 .. n0+count-1 of rows w->rows[0 .. r). */
static void
tile(const job *j, work *w, const hu_contract *x, const hu_operand *b, size_t n0, size_t count, size_t r)
{
	size_t n = 0;

	products(j, w, x, b, NULL, n0, count, r);
	if (j->hi)
		put_exact(j, w, n0, count, r);
	for (size_t i = 0; i < r; i++) {
		size_t m = placed(x, w->rows[i]);
		if (!j->start) {
			for (size_t q = 0; q < count; q++, n++) {
				w->from[n] = i * count + q;
				w->at[n] = hu_contract_at(x, w->rows[i]) + n0 + q;
			}
			continue;
		}
		for (size_t q = j->start[m]; q < j->start[m + 1]; q++) {
			size_t column = column_of(x, j->element[j->order[q]]);
			if (column >= n0 && column < n0 + count) {
				w->from[n] = i * count + column - n0;
				w->at[n++] = j->order[q];
			}
		}
	}
	choose(j, w, n);
	hand_over(j, w, n);
}

/* Computes only the wanted columns of a row, as many at a time as a tile has. */
static void
singles(const job *j, work *w, const hu_contract *x, size_t row)
{
	size_t m = placed(x, row);

	w->rows[0] = row;
	for (size_t q = j->start[m]; q < j->start[m + 1];) {
		size_t n = 0;
		for (; q < j->start[m + 1] && n < COLUMNS; q++, n++) {
			w->from[n] = n;
			w->at[n] = j->order[q];
			w->columns[n] = column_of(x, j->element[j->order[q]]);
		}
		products(j, w, x, NULL, w->columns, 0, n, 1);
		choose(j, w, n);
		hand_over(j, w, n);
	}
}

/* Puts the wanted rows of x from first to last-1 into rows; returns their number. */
static size_t
wanted(const job *j, const hu_contract *x, size_t first, size_t last, size_t *rows)
{
	size_t n = 0;

	for (size_t m = first; m < last; m++) {
		size_t to = j->start ? placed(x, m) : 0;
		if (!j->start || j->start[to] < j->start[to + 1])
			rows[n++] = m;
	}
	return n;
}

/* Computes columns of rows m0 to m1-1. */
static void
contract_rows(const job *j, const hu_contract *x, size_t m0, size_t m1)
{
	size_t *rows = hu_xmalloc((m1 - m0 + 1) * sizeof *rows), n = wanted(j, x, m0, m1, rows),
	       tiles = (n + ROWS - 1) / ROWS, blocks = (j->columns + COLUMNS - 1) / COLUMNS;
	size_t stretches = x->k ? (x->k + STRETCH - 1) / STRETCH : 1, end = j->left + j->columns,
	       packed = !j->single && x->k * j->columns <= hu_contract_shared() && n ? blocks * stretches : 0;
	hu_operand *b = hu_xcalloc(packed + 1, sizeof *b);

#pragma omp parallel num_threads(hu_threads()) if (n * j->columns * x->k > 65536)
	{
		work *w = hu_xmalloc(sizeof *w);
		memset(&w->a, 0, sizeof w->a);
		memset(&w->b, 0, sizeof w->b);
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < packed; i++) {
			size_t n0 = j->left + i / stretches * COLUMNS, k0 = i % stretches * STRETCH;
			hu_contract_pack_right(x, &b[i], j->hi != NULL, NULL, n0,
				end - n0 < COLUMNS ? end - n0 : COLUMNS, k0,
				x->k - k0 < STRETCH ? x->k : k0 + STRETCH, w->line);
		}
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < (j->single ? n : tiles * blocks); i++) {
			size_t first = i / blocks * ROWS, n0 = j->left + i % blocks * COLUMNS,
			       r = n - first < ROWS ? n - first : ROWS;
			if (j->single) {
				singles(j, w, x, rows[i]);
				continue;
			}
			memcpy(w->rows, rows + first, r * sizeof *rows);
			tile(j, w, x, packed ? b + i % blocks * stretches : NULL, n0,
				end - n0 < COLUMNS ? end - n0 : COLUMNS, r);
		}
		hu_operand_release(&w->a);
		hu_operand_release(&w->b);
		free(w);
	}
	for (size_t i = 0; i < packed; i++)
		hu_operand_release(&b[i]);
	free(b);
	free(rows);
}

/* The first row of x from m on whose outputs begin at element e or later: they ascend with the rows. */
static size_t
row_from(const hu_contract *x, size_t m, size_t e)
{
	while (m < x->m && hu_contract_at(x, m) < e)
		m++;
	return m;
}

static void
contraction(const job *j, const hu_contract *x)
{
	const hu_region *some = &j->sink->some;
	size_t end = x->m;
	job mine = *j;

	mine.columns = x->n;
	if (some->row) {
		mine.left = some->left;
		mine.columns = some->right - some->left;
	}
	if (some->last) {
		mine.row0 = row_from(x, 0, some->first);
		end = row_from(x, mine.row0, some->last);
	}
	if (!j->sink->gives_exact) {
		contract_rows(&mine, x, mine.row0, end);
		return;
	}
	size_t most = held / (mine.columns + 1) / ROWS * ROWS, rows = most < ROWS ? ROWS : most;
	if (mine.row0 == end)
		return;
	rows = end - mine.row0 < rows ? end - mine.row0 : rows;
	mine.hi = hu_xmalloc((3 * rows * mine.columns + 1) * sizeof *mine.hi);
	mine.lo = mine.hi + rows * mine.columns;
	mine.err = mine.lo + rows * mine.columns;
	for (size_t last; mine.row0 < end; mine.row0 = last) {
		last = end - mine.row0 < rows ? end : mine.row0 + rows;
		hu_contract_exact_pairs(
			x, mine.row0, last - mine.row0, mine.left, mine.columns, mine.hi, mine.lo, mine.err);
		contract_rows(&mine, x, mine.row0, last);
	}
	free(mine.hi);
}

/* Sorts the part of the list in this batch by rows (a counting sort, in which positions of one row keep their
   order). */
static void
by_rows(job *j, size_t batch, const size_t *element, size_t n)
{
	size_t M = j->x->m, N = j->x->n, distinct = 0, of, column, mine = 0;

	j->element = element;
	j->start = hu_xcalloc(M + 2, sizeof *j->start);
	j->order = hu_xmalloc((n + 1) * sizeof *j->order);
	for (size_t i = 0; i < n; i++) {
		size_t m = hu_contract_row_of(j->x, element[i], &of, &column);
		if (of == batch) {
			j->start[m + 2]++;
			mine++;
		}
	}
	for (size_t m = 0; m < M; m++)
		distinct += j->start[m + 2] != 0;
	for (size_t m = 0; m < M; m++)
		j->start[m + 2] += j->start[m + 1];
	for (size_t i = 0; i < n; i++) {
		size_t m = hu_contract_row_of(j->x, element[i], &of, &column);
		if (of == batch)
			j->order[j->start[m + 1]++] = i;
	}
	j->single = mine * PANEL < distinct * N;
}

/* Sets the error bound of the product's sums by the call's summation model. */
static void
sum_bound(job *j, const hu_contract *x)
{
	const hu_call *c = j->c;

	j->sum = hu_sum_apriori(c->sum, x->k, j->part);
	j->inner = j->part && j->part < x->k ? hu_outer_format(c->sum) : hu_part_format(c->sum);
	/* Products are first rounded to double (lib/sum/step.h); an fp64 accumulator fuses them, or its model's bound
	   counts that rounding. */
	if ((hu_is_wide(x->a->format) || hu_is_wide(x->b->format)) && c->sum.acc != HU_FP64) {
		j->sum.relative += 0x1p-52 * (1 + j->sum.relative);
		j->sum.absolute += (double)x->k * 0x1p-1073 * (1 + j->sum.relative);
	}
}

hu_status
hu_contract_enclose(
	const hu_call *call, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_contract x;
	hu_call settled, *c = &settled;
	size_t length = hu_attr_count(call, "part", 0);
	job j = { c, &x, in, sink, { 0, 0, 0, 0 }, hu_format_of(HU_FP64), length, NULL, NULL, NULL, 0, NULL, NULL, NULL,
		0, 0, 0 };

	(void)out;
	HU_TRY(hu_contract_settle(c, call, in));
	hu_contract_open(&x, c, in);
	if (sink->low)
		return hu_contract_enclose_certified(&x, c, in, element, n, sink);
	if (!element)
		sink->gives_exact = sink->want_exact;
	for (size_t batch = 0; batch < x.batches; batch++) {
		if (element)
			by_rows(&j, batch, element, n);
		for (size_t i = 0; i < x.shares; i++) {
			hu_contract one = hu_contract_product(&x, batch * x.shares + i);
			sum_bound(&j, &one);
			contraction(&j, &one);
		}
		free(j.start);
		free(j.order);
	}
	return HU_OK;
}
