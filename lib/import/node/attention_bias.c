/* SPDX-License-Identifier: Apache-2.0
   What Attention adds to its scores: -Inf where a query may not attend a key, by the order of positions, a window, a
   mask and the number of keys; and the softmax of the sum, which is 0 in rows that may attend nothing. */
#include "lib/import/importing.h"

#include <math.h>
#include <stdlib.h>

/* The node at hand: scores of shape s = [batch, heads, queries, keys]; PAST keys come before the first query. */
typedef struct biased {
	hu_importing *c;
	int type;
	hu_shape s;
	size_t past;
	hu_value *lengths; /* the number of keys of each batch, NULL: all */
} biased;

/* -Inf where truth value T is false, else 0. */
static int
minus_infinity(const biased *b, int t)
{
	if (t < 0)
		return -1;
	hu_shape s = b->c->p->t[t].shape;
	int none = hu_import_expand(b->c, hu_import_number(b->c, b->type, -INFINITY), s),
	    zero = hu_import_expand(b->c, hu_import_number(b->c, b->type, 0), s);
	return hu_import_call(b->c, "where", hu_import_format(b->c, b->type), (int[]){ t, zero, none }, 3);
}

/* How far key j lies behind query i when positions count from the first key: j - i, [queries, keys], less PAST. */
static int
distances(const biased *b, double past)
{
	size_t rows = b->s.d[2], columns = b->s.d[3], d[2] = { rows, columns };
	double *x = hu_import_room(b->c, rows * columns);

	for (size_t i = 0; x && i < rows * columns; i++)
		x[i] = (double)(i % columns) - (double)(i / columns) - past;
	int t = x ? hu_import_numbers(b->c, HU_ONNX_INT64, 2, d, x) : -1;
	free(x);
	return t;
}

/* The lengths as [batch, 1, 1, 1] in doubles. */
static int
lengths(const biased *b)
{
	int t = hu_import_flat(b->c, hu_import_plain(b->c, b->lengths), hu_shape4(b->s.d[0], 1, 1, 1));

	if (t >= 0 && b->c->p->t[t].format != HU_FP64)
		t = hu_import_call(b->c, "cast", HU_FP64, &t, 1);
	return t;
}

/* Adds to BIAS (-1: 0 so far) what is -Inf where OP of the distance of a key and LIMIT is false. Where lengths say how
   many keys there are, the queries are the last ones of them. */
static int
within(const biased *b, int bias, const char *op, double limit)
{
	hu_importing *c = b->c;
	int t;

	if (b->lengths && !b->past) {
		hu_shape s = hu_shape4(b->s.d[0], 1, b->s.d[2], b->s.d[3]);
		int first = hu_import_by(c, "sub", lengths(b), HU_ONNX_INT64, (double)b->s.d[2]);
		t = hu_import_call2(c, "sub", hu_import_expand(c, distances(b, 0), s), hu_import_expand(c, first, s));
	} else
		t = distances(b, (double)b->past);
	if (t < 0)
		return -1;
	t = minus_infinity(b, hu_import_truth(c, op, t, hu_import_like(c, t, HU_ONNX_INT64, limit)));
	t = hu_import_expand(c, t, b->s);
	return bias < 0 ? t : hu_import_call2(c, "add", bias, t);
}

/* Input 3 as numbers to add, its last axis filled up to all keys; -1 where there is none. */
static int
given_mask(const biased *b)
{
	hu_value *v = hu_import_in(b->c, 3);
	size_t columns = b->s.d[3];

	if (!v)
		return -1;
	if (!v->rank || v->rank > 4 || v->d[v->rank - 1] > columns)
		return hu_import_fail(b->c, HU_EFILE, "the mask '%.120s' is longer than the keys", v->name);
	int t = hu_import_plain(b->c, v);
	if (v->type == HU_ONNX_BOOL)
		t = minus_infinity(b, t);
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	x.s.d[v->rank - 1] = columns;
	x.fill = -INFINITY;
	return hu_import_expand(b->c, v->d[v->rank - 1] < columns ? hu_import_move(b->c, t, &x) : t, b->s);
}

/* -Inf for the keys behind the number that input 6 says for each batch. */
static int
unpadded(const biased *b)
{
	hu_importing *c = b->c;
	size_t columns = b->s.d[3];
	hu_shape s = hu_shape4(b->s.d[0], 1, 1, columns);
	double *x = b->lengths ? hu_import_room(c, columns) : NULL;

	if (!x)
		return -1;
	for (size_t i = 0; i < columns; i++)
		x[i] = (double)i;
	int at = hu_import_expand(c, hu_import_numbers(c, HU_ONNX_INT64, 1, &columns, x), s);
	free(x);
	int t = hu_import_truth(c, "less", at, hu_import_expand(c, lengths(b), s));
	return hu_import_expand(c, minus_infinity(b, t), b->s);
}

static int
sum(hu_importing *c, int a, int b)
{
	return a < 0 ? b : b < 0 ? a : hu_import_call2(c, "add", a, b);
}

int
hu_attention_bias(hu_importing *c, int type, hu_shape s, size_t past, int *empty)
{
	biased b = { c, type, s, past, hu_import_in(c, 6) };
	int64_t left = hu_import_int(c, "left_window_size", -1), right = hu_import_int(c, "right_window_size", -1);
	int bias = -1, mask = given_mask(&b), may_be = mask >= 0 || b.lengths;

	*empty = -1;
	if (hu_import_int(c, "is_causal", 0))
		bias = within(&b, bias, "less_equal", 0);
	if (right >= 0)
		bias = within(&b, bias, "less_equal", (double)right);
	if (left >= 0)
		bias = within(&b, bias, "greater_equal", (double)-left);
	bias = sum(c, sum(c, bias, mask), unpadded(&b));
	if (bias < 0 || (!may_be && left < 0))
		return bias;
	/* Rows that may attend nothing: their largest bias is -Inf. */
	hu_import_set(c, "axis", 3);
	hu_import_set(c, "keep", 1);
	int most = hu_import_call1(c, "reduce_max", bias);
	if (most >= 0)
		*empty = hu_import_truth(c, "equal", most, hu_import_like(c, most, type, -INFINITY));
	return bias;
}

int
hu_attention_softmax(hu_importing *c, int type, int t, int bias, int empty)
{
	hu_format_id f = hu_import_format(c, type);

	if (bias < 0 || empty < 0) {
		t = sum(c, t, bias);
		hu_import_set(c, "axis", 3);
		return hu_import_call1(c, "softmax", t);
	}
	/* A row without a key is computed as if it had no bias, and becomes 0. */
	hu_shape s = c->p->t[bias].shape;
	int none = hu_import_expand(c, empty, s), zero = hu_import_like(c, bias, type, 0);
	bias = hu_import_call(c, "where", f, (int[]){ none, zero, bias }, 3);
	t = sum(c, t, bias);
	hu_import_set(c, "axis", 3);
	t = hu_import_call1(c, "softmax", t);
	return hu_import_call(c, "where", f, (int[]){ none, zero, t }, 3);
}
