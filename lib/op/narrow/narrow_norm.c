/* SPDX-License-Identifier: Apache-2.0
   Ranges of a normalisation's outputs: layernorm's rows have statistics of their own, and the sums over all rows that
   its gradient has for gamma and beta are of one column each. */
#include "lib/op/reduce/norm.h"

#include "lib/base/mem.h"

#include <stdlib.h>

size_t
hu_norm_grain(const hu_call *c, const hu_shape *in)
{
	return c->op->norm->how == HU_ROW ? hu_last(in[0]) : 0;
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

hu_status
hu_norm_narrowed(const hu_call *c, hu_tensor *const *in, int out, int columns, hu_sink *sink, hu_norm_enclose *enclose)
{
	size_t C = hu_last(in[0]->shape), first = sink->first, last = sink->last;
	int by_row = !columns && out == 0, gradient = c->nin == 5;
	hu_span some = { by_row ? first / C : first, by_row ? last / C : last };
	hu_tensor *t = hu_xcalloc((size_t)c->nin + 1, sizeof *t), **of = hu_xcalloc((size_t)c->nin + 1, sizeof *of);

	hu_norm_part *memo = (hu_norm_part *)sink->memo;

	HU_ASSERT(!sink->low && some.first < some.last);
	if (memo && (memo->some.first != some.first || memo->some.last != some.last || memo->columns != columns))
		hu_sink_forget(sink);
	for (int k = 0; k < c->nin; k++) { /* x, gamma, beta; or x, gamma, mean, rstd, dy */
		int each = k == 0 || (gradient && k == 4), row = gradient && (k == 2 || k == 3);
		t[k] = *in[k];
		if (columns && each)
			t[k] = hu_narrow_columns(in[k], C, some);
		else if (columns && k == 1)
			t[k] = hu_narrow_view(in[k], some.first, some.last - some.first);
		else if (!columns && (each || row))
			t[k] = some_rows(in[k], in[0], some);
		of[k] = &t[k];
	}
	sink->first = sink->last = 0;
	hu_status st = enclose(c, of, out, NULL, last - first, sink);
	sink->first = first;
	sink->last = last;
	memo = (hu_norm_part *)sink->memo;
	memo->some = some;
	memo->columns = columns;
	for (int k = 0; k < c->nin && columns; k++)
		if (t[k].data != in[k]->data && k != 1)
			free(t[k].data);
	free(of);
	free(t);
	return st;
}
