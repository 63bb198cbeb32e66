/* SPDX-License-Identifier: Apache-2.0
   Attention over sequences that are packed behind each other, and keys and values that lie in pages of a cache. Both
   only say which elements belong together; attention.c has the arithmetic. */
#include "lib/judge/kernel/graph.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, CU_Q, CU_K, SLOPES, SINKS };

/* Offsets of sequences: 0, then rising numbers, of which the last is total. */
static hu_status
offsets(const hu_ball_call *c, const hu_balls *a, size_t sequences, size_t total)
{
	if (a->n != sequences + 1 || a->b[0].x != 0 || a->b[sequences].x != (double)total)
		return hu_ball_misfit(c, "offsets of sequences are %zu numbers from 0 to %zu", sequences + 1, total);
	for (size_t i = 0; i < sequences; i++)
		if (!(a->b[i].x <= a->b[i + 1].x) || a->b[i].x != floor(a->b[i].x))
			return hu_ball_misfit(
				c, "offset %zu of a sequence is %g, and the next one %g", i, a->b[i].x, a->b[i + 1].x);
	return HU_OK;
}

/* Rows first to last of [total, heads, size] as [1, heads, rows, size], or back. */
static void
unpack(hu_balls *one, const hu_balls *all, size_t first)
{
	size_t heads = one->d[1], rows = one->d[2], w = one->d[3];

	for (size_t i = 0; i < rows; i++)
		for (size_t h = 0; h < heads; h++)
			memcpy(one->b + (h * rows + i) * w, all->b + ((first + i) * heads + h) * w, w * sizeof *one->b);
}

static hu_status
part(hu_balls *one, const hu_balls *all, size_t first, size_t rows)
{
	size_t d[4] = { 1, all->d[1], rows, all->d[2] };

	HU_TRY(hu_balls_make(one, 4, d, "a sequence"));
	unpack(one, all, first);
	return HU_OK;
}

/* One sequence's attention, put where it belongs. A sequence without keys has no exact value: any answer is right. */
static hu_status
sequence(const hu_ball_call *c, const hu_balls *in, hu_balls *out, const size_t q[2], const size_t k[2])
{
	hu_balls a[7] = { { .b = NULL } }, y[2] = { { .b = NULL } };
	hu_ball_call call = *c;
	size_t rows = q[1] - q[0], heads = in[Q].d[1], w = in[V].d[2], total = in[Q].d[0];
	hu_status st = HU_OK;

	if (!rows)
		return HU_OK;
	call.row = hu_ball_row_find("attention");
	call.nin = 6;
	call.nout = 2;
	if (k[1] > k[0]) {
		st = part(&a[0], &in[Q], q[0], rows);
		st = st == HU_OK ? part(&a[1], &in[K], k[0], k[1] - k[0]) : st;
		st = st == HU_OK ? part(&a[2], &in[V], k[0], k[1] - k[0]) : st;
		a[4] = c->nin > SLOPES ? in[SLOPES] : a[4];
		a[5] = c->nin > SINKS ? in[SINKS] : a[5];
		st = st == HU_OK ? call.row->run(&call, a, y) : st;
	}
	for (size_t i = 0; i < rows && st == HU_OK; i++)
		for (size_t h = 0; h < heads; h++) {
			hu_ball *o = out[0].b + ((q[0] + i) * heads + h) * w, none = { NAN, INFINITY, 0, 0 };
			for (size_t j = 0; j < w; j++)
				o[j] = y[0].b ? y[0].b[(h * rows + i) * w + j] : none;
			if (c->nout > 1)
				out[1].b[h * total + q[0] + i] = y[1].b ? y[1].b[h * rows + i] : none;
		}
	for (int i = 0; i < 3; i++)
		hu_balls_release(&a[i]);
	hu_balls_release(&y[0]);
	hu_balls_release(&y[1]);
	return st;
}

/* q [total, heads, size], k and v with their own totals and heads; offsets of the queries' sequences, and of the keys'
   where these differ. Results: o as q, lse [heads, total]. */
hu_status hu_ball_row_varlen(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_varlen(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	size_t n = in[CU_Q].n ? in[CU_Q].n - 1 : 0;
	const hu_balls *cu_k = c->nin > CU_K && in[CU_K].b ? &in[CU_K] : &in[CU_Q];

	if (in[Q].rank != 3 || in[K].rank != 3 || in[V].rank != 3 || in[K].d[0] != in[V].d[0])
		return hu_ball_misfit(c, "q, k and v are [rows of all sequences, heads, head size]");
	HU_TRY(offsets(c, &in[CU_Q], n, in[Q].d[0]));
	HU_TRY(offsets(c, cu_k, n, in[K].d[0]));
	size_t d[3] = { in[Q].d[0], in[Q].d[1], in[V].d[2] }, l[2] = { in[Q].d[1], in[Q].d[0] };
	HU_TRY(hu_balls_make(&out[0], 3, d, c->row->name));
	if (c->nout > 1)
		HU_TRY(hu_balls_make(&out[1], 2, l, c->row->name));
	for (size_t i = 0; i < n; i++) {
		size_t q[2] = { (size_t)in[CU_Q].b[i].x, (size_t)in[CU_Q].b[i + 1].x };
		size_t k[2] = { (size_t)cu_k->b[i].x, (size_t)cu_k->b[i + 1].x };
		HU_TRY(sequence(c, in, out, q, k));
	}
	return HU_OK;
}

/* A cache [pages, page size, heads, size], each sequence's pages [sequences, pages] and lengths: [sequences, heads,
   rows, size], with zeros where a sequence has ended. */
hu_status hu_ball_row_paged(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_paged(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_balls *cache = &in[0], *table = &in[1], *lengths = &in[2];
	size_t n = table->d[0], pages = table->rank == 2 ? table->d[1] : 0, s = cache->d[1], heads = cache->d[2],
	       w = cache->d[3];

	if (cache->rank != 4 || !pages || lengths->n != n)
		return hu_ball_misfit(c, "a cache [pages, page size, heads, head size] is needed, a table [sequences, "
					 "pages], and a length for each sequence");
	size_t d[4] = { n, heads, pages * s, w };
	HU_TRY(hu_balls_make(&out[0], 4, d, c->row->name));
	for (size_t i = 0; i < n; i++) {
		double length = lengths->b[i].x;
		if (!(length >= 0 && length <= (double)(pages * s)))
			return hu_ball_misfit(
				c, "length %zu is %g, where the table has %zu rows", i, length, pages * s);
		for (size_t r = 0; r < (size_t)length; r++) {
			double page = table->b[i * pages + r / s].x;
			if (!(page >= 0 && page < (double)cache->d[0]) || page != floor(page))
				return hu_ball_misfit(c, "page %zu of sequence %zu is %g, where the cache has %zu",
					r / s, i, page, cache->d[0]);
			for (size_t h = 0; h < heads; h++)
				memcpy(out[0].b + ((i * heads + h) * pages * s + r) * w,
					cache->b + (((size_t)page * s + r % s) * heads + h) * w, w * sizeof *cache->b);
		}
	}
	return HU_OK;
}
