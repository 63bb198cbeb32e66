/* SPDX-License-Identifier: Apache-2.0
   Encloses products tile by tile (enclosing.h): which rows and columns are wanted, in which order threads take their
   tiles, and which of them the exact engine's values replace. */
#include "lib/op/contract/exact/contract_exact.h"
#include "lib/op/contract/exact/contract_low.h"
#include "lib/op/contract/exact/enclosing.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/sum/table/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROWS = HU_ENCLOSING_ROWS, COLUMNS = HU_ENCLOSING_COLUMNS, STRETCH = HU_ENCLOSING_STRETCH,
	PANEL = 96                                /* outputs that the kernel computes even if only one is wanted */
};
static const size_t held = (size_t)1 << 20;   /* exact values in memory at a time */

/* Puts the wanted rows of x from first to last-1 into rows; returns their number. */
static size_t
wanted(const hu_enclosing *j, const hu_contract *x, size_t first, size_t last, size_t *rows)
{
	size_t n = 0;

	for (size_t m = first; m < last; m++) {
		size_t to = j->start ? hu_enclosing_row(x, m) : 0;
		if (!j->start || j->start[to] < j->start[to + 1])
			rows[n++] = m;
	}
	return n;
}

/* Computes columns of rows m0 to m1-1. */
static void
contract_rows(const hu_enclosing *j, const hu_contract *x, size_t m0, size_t m1)
{
	size_t *rows = hu_xmalloc((m1 - m0 + 1) * sizeof *rows), n = wanted(j, x, m0, m1, rows),
	       tiles = (n + ROWS - 1) / ROWS, blocks = (j->columns + COLUMNS - 1) / COLUMNS;
	size_t stretches = x->k ? (x->k + STRETCH - 1) / STRETCH : 1, end = j->left + j->columns,
	       packed = !j->single && x->k * j->columns <= hu_contract_shared() && n ? blocks * stretches : 0;
	hu_operand *b = hu_xcalloc(packed + 1, sizeof *b);

#pragma omp parallel num_threads(hu_threads()) if (n * j->columns * x->k > 65536)
	{
		hu_enclosing_work *w = hu_xmalloc(sizeof *w);
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
				hu_enclosing_singles(j, w, x, rows[i]);
				continue;
			}
			memcpy(w->rows, rows + first, r * sizeof *rows);
			hu_enclosing_tile(j, w, x, packed ? b + i % blocks * stretches : NULL, n0,
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
contraction(const hu_enclosing *j, const hu_contract *x)
{
	const hu_region *some = &j->sink->some;
	size_t end = x->m;
	hu_enclosing mine = *j;

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

/* Where listed elements are: element i in row row[i] of batch batch[i]. */
typedef struct places { size_t *batch, *row; } places;

static places
places_of(const hu_contract *x, const size_t *element, size_t n)
{
	places p = { hu_xmalloc((2 * n + 1) * sizeof *p.batch), NULL };
	size_t column;

	p.row = p.batch + n;
	for (size_t i = 0; i < n; i++)
		p.row[i] = hu_contract_row_of(x, element[i], &p.batch[i], &column);
	return p;
}

/* Sorts the part of the list in this batch by rows (a counting sort, in which positions of one row keep their
   order). */
static void
by_rows(hu_enclosing *j, size_t batch, const size_t *element, const places *p, size_t n)
{
	size_t M = j->x->m, N = j->x->n, distinct = 0, mine = 0;

	j->element = element;
	j->start = hu_xcalloc(M + 2, sizeof *j->start);
	j->order = hu_xmalloc((n + 1) * sizeof *j->order);
	for (size_t i = 0; i < n; i++) {
		if (p->batch[i] == batch) {
			j->start[p->row[i] + 2]++;
			mine++;
		}
	}
	for (size_t m = 0; m < M; m++)
		distinct += j->start[m + 2] != 0;
	for (size_t m = 0; m < M; m++)
		j->start[m + 2] += j->start[m + 1];
	for (size_t i = 0; i < n; i++)
		if (p->batch[i] == batch)
			j->order[j->start[p->row[i] + 1]++] = i;
	j->single = mine * PANEL < distinct * N;
}

/* Sets the error bound of the product's sums by the call's summation model. */
static void
sum_bound(hu_enclosing *j, const hu_contract *x)
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
	hu_enclosing j = { c, &x, in, sink, { 0, 0, 0, 0 }, hu_format_of(HU_FP64), length, NULL, NULL, NULL, 0, NULL,
		NULL, NULL, 0, 0, 0 };

	(void)out;
	HU_TRY(hu_contract_settle(c, call, in));
	hu_contract_open(&x, c, in);
	if (sink->low)
		return hu_contract_enclose_certified(&x, c, in, element, n, sink);
	if (!element)
		sink->gives_exact = sink->want_exact;
	places p = element ? places_of(&x, element, n) : (places){ NULL, NULL };
	for (size_t batch = 0; batch < x.batches; batch++) {
		if (element)
			by_rows(&j, batch, element, &p, n);
		for (size_t i = 0; i < x.shares; i++) {
			hu_contract one = hu_contract_product(&x, batch * x.shares + i);
			sum_bound(&j, &one);
			contraction(&j, &one);
		}
		free(j.start);
		free(j.order);
	}
	free(p.batch);
	return HU_OK;
}
