/* SPDX-License-Identifier: Apache-2.0
   Regions of a normalisation's outputs: layernorm's rows and batchnorm's channels have statistics of their own, and the
   sums over all rows that a gradient has for gamma and beta are of one column each. */
#include "lib/op/reduce/norm.h"

#include "lib/base/mem.h"

#include <stdlib.h>

/* Channels of a tile: each row of these is copied, from a line of the cache of its own. */
enum { CHANNELS = 4 };

size_t
hu_norm_grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	if (c->op->norm->how == HU_ROW)
		return hu_last(in[0]);
	*row = hu_last(in[0]);
	return CHANNELS;
}

int
hu_norm_is_narrow(const hu_call *c, int out, const hu_sink *sink)
{
	return sink->some.last && (c->op->norm->how == HU_ROW || out > 0 || sink->some.row);
}

/* Operand k of the rows: those that have an element for each element of x, or for each row, are views. */
static hu_tensor
some_rows(const hu_tensor *t, const hu_tensor *x, hu_span rows)
{
	size_t C = hu_last(x->shape), n = rows.last - rows.first;
	hu_tensor v = hu_narrow_view(t, rows.first * (t->n == x->n ? C : 1), t->n == x->n ? n * C : n);

	if (t->n == x->n)
		v.shape = hu_shape2(n, C);
	return v;
}

/* Narrows the operands: x, gamma, beta and what else has an element for each channel; or x, gamma, mean, rstd, dy. */
static void
narrow(hu_norm_part *p, const hu_call *c, hu_tensor *const *in)
{
	size_t C = hu_last(in[0]->shape);
	int by_row = c->op->norm->how == HU_ROW, gradient = c->op->norm->dx != NULL;

	p->nt = c->nin;
	p->t = hu_xcalloc((size_t)c->nin + 1, sizeof *p->t);
	p->copied = hu_xcalloc((size_t)c->nin + 1, 1);
	for (int k = 0; k < c->nin; k++) {
		int each = k == 0 || (gradient && k == 4), row = by_row && gradient && (k == 2 || k == 3);
		p->t[k] = *in[k];
		if (p->columns && each) {
			p->t[k] = hu_narrow_columns(in[k], C, p->some);
			p->copied[k] = 1;
		} else if (p->columns && !row)
			p->t[k] = hu_narrow_view(in[k], p->some.first, p->some.last - p->some.first);
		else if (!p->columns && (each || row))
			p->t[k] = some_rows(in[k], in[0], p->some);
	}
}

void
hu_norm_part_release(hu_norm_part *p)
{
	for (int k = 0; k < p->nt; k++)
		if (p->copied[k])
			free(p->t[k].data);
	free(p->t);
	free(p->copied);
}

/* The rows or columns that a region of output out needs. */
static hu_norm_part
part_of(const hu_call *c, int out, size_t C, hu_region r)
{
	hu_norm_part p = { .columns = c->op->norm->how == HU_CHANNEL || (c->op->norm->dx && out > 0) };

	if (r.row)
		p.some = (hu_span){ r.left, r.right };
	else
		p.some = !p.columns && out == 0 ? (hu_span){ r.first / C, r.last / C } : (hu_span){ r.first, r.last };
	return p;
}

hu_status
hu_norm_narrowed(const hu_call *c, hu_tensor *const *in, int out, hu_sink *sink, hu_norm_enclose *enclose)
{
	hu_region region = sink->some;
	hu_norm_part p = part_of(c, out, hu_last(in[0]->shape), region), *memo = (hu_norm_part *)sink->memo;
	hu_tensor **of = hu_xcalloc((size_t)c->nin + 1, sizeof *of);

	HU_ASSERT(!sink->low && p.some.first < p.some.last);
	if (memo && (memo->some.first != p.some.first || memo->some.last != p.some.last ||
			    memo->columns != p.columns)) {
		hu_sink_forget(sink);
		memo = NULL;
	}
	if (!memo)
		narrow(&p, c, in);
	for (int k = 0; k < c->nin; k++)
		of[k] = memo ? &memo->t[k] : &p.t[k];
	sink->some = (hu_region){ 0, 0, 0, 0, 0 };
	hu_status st = enclose(c, of, out, NULL, hu_region_count(region), sink);
	sink->some = region;
	if (!memo) {
		memo = (hu_norm_part *)sink->memo;
		p.m = memo->m;
		*memo = p;
	}
	free(of);
	return st;
}
