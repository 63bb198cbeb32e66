/* SPDX-License-Identifier: Apache-2.0
   Lookups by computed places, and what is made of places: elements and rows that indices name, the largest few, sums
   along an axis, triangles, one-hot rows. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST = 1024,      /* the largest few are at most so many */
	AT_WORK = 1 << 25 /* and so many elements are compared in all */
};

/* The whole number X in the shape of tensor T. */
static int
like(hu_importing *c, int t, double x)
{
	return hu_import_like(c, t, HU_ONNX_INT64, x);
}

static int
by(hu_importing *c, const char *op, int t, double x)
{
	int k = like(c, t, x);

	return hu_import_call2(c, op, t, k);
}

static int
mask_of(hu_importing *c, const char *op, int a, int b)
{
	int t = hu_import_call(c, op, HU_FP32, (int[]){ a, b }, 2);

	if (t >= 0) {
		c->p->t[t].cls = HU_OTHER;
		c->p->t[t].state = 0;
	}
	return t;
}

int
hu_index_places(hu_importing *c, int t, size_t n)
{
	if (t >= 0 && c->p->t[t].format != HU_FP64)
		t = hu_import_call(c, "cast", HU_FP64, &t, 1);
	if (t < 0)
		return -1;
	int zero = like(c, t, 0), back = by(c, "add", t, (double)n), mask = mask_of(c, "less", t, zero);
	return hu_import_call(c, "where", HU_FP64, (int[]){ mask, back, t }, 3);
}

/* For each element of shape S the place of the first element that shares all coordinates but those along axis K with
   it, in a tensor whose axis J has the stride STRIDE[j]. */
static int
bases(hu_importing *c, hu_shape s, int k, const size_t *stride)
{
	size_t n = hu_count(s);
	double *x = hu_import_room(c, n);

	for (size_t i = 0; x && i < n; i++) {
		size_t rest = i;
		x[i] = 0;
		for (int j = s.rank - 1; j >= 0; rest /= s.d[j], j--)
			x[i] += j == k ? 0 : (double)(rest % s.d[j] * stride[j]);
	}
	int t = x ? hu_import_numbers(c, HU_ONNX_INT64, s.rank, s.d, x) : -1;
	free(x);
	return t;
}

static void
strides(const hu_value *v, size_t *stride)
{
	size_t all = 1;

	for (int j = v->rank - 1; j >= 0; all *= v->d[j], j--)
		stride[j] = all;
}

void
hu_node_gather_elements(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1);
	size_t stride[HU_RANK];

	if (!v || !at)
		return;
	int k = hu_import_axis(c, hu_import_int(c, "axis", 0), v->rank);
	if (k < 0 || at->rank != v->rank) {
		hu_import_fail(c, HU_EFILE, "its indices have another number of axes");
		return;
	}
	strides(v, stride);
	int i = by(c, "mul", hu_index_places(c, hu_import_plain(c, at), v->d[k]), (double)stride[k]);
	i = hu_import_call2(c, "add", i, bases(c, hu_import_shape(at->rank, at->d), k, stride));
	int x = hu_import_flat(c, hu_import_plain(c, v), hu_shape1(v->n));
	hu_import_set(c, "axis", 0);
	int t = hu_import_call2(c, "gather", x, i);
	hu_import_out(c, 0, v->type, at->rank, at->d)->plain = t;
}

void
hu_node_gather_nd(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1);
	size_t stride[HU_RANK], d[HU_RANK], rows = 1, rest = 1;
	int64_t batch = hu_import_int(c, "batch_dims", 0);

	if (!v || !at)
		return;
	size_t k = at->rank ? at->d[at->rank - 1] : 0;
	int b = (int)batch, rank = at->rank - 1 + v->rank - b - (int)k;
	if (batch < 0 || batch >= at->rank || !k || k + (size_t)batch > (size_t)v->rank || rank > HU_RANK) {
		hu_import_fail(c, HU_EFILE, "its indices do not fit the value's axes");
		return;
	}
	for (int i = 0; i < v->rank; i++)
		*(i < b + (int)k ? &rows : &rest) *= v->d[i];
	strides(v, stride);
	for (int i = 0; i < v->rank; i++)
		stride[i] /= rest;
	if (!at->n) {
		rank = 0;
		for (int i = 0; i < at->rank - 1; i++)
			d[rank++] = at->d[i];
		for (int i = b + (int)k; i < v->rank; i++)
			d[rank++] = v->d[i];
		hu_import_put_empty(c, 0, v->type, rank, d);
		return;
	}
	/* The row that the indices name: the batch's first one, and each index by its axis' stride. */
	hu_shape s = hu_import_shape(at->rank, at->d);
	s.d[s.rank - 1] = 1;
	size_t first[HU_RANK] = { 0 };
	for (int i = 0; i < b; i++)
		first[i] = stride[i];
	int t = bases(c, s, -1, first), all = hu_import_plain(c, at);
	for (size_t j = 0; j < k && c->st == HU_OK; j++) {
		int one = hu_index_places(c, hu_import_part(c, all, at->rank - 1, j, 1), v->d[b + (int)j]);
		t = hu_import_call2(c, "add", t, by(c, "mul", one, (double)stride[b + (int)j]));
	}
	t = hu_import_flat(c, t, hu_shape1(at->n / k));
	int x = hu_import_flat(c, hu_import_plain(c, v), hu_shape2(rows, rest));
	hu_import_set(c, "axis", 0);
	t = hu_import_call2(c, "gather", x, t);
	rank = 0;
	for (int i = 0; i < at->rank - 1; i++)
		d[rank++] = at->d[i];
	for (int i = b + (int)k; i < v->rank; i++)
		d[rank++] = v->d[i];
	t = hu_import_flat(c, t, hu_import_shape(rank, d));
	hu_import_out(c, 0, v->type, rank, d)->plain = t;
}

/* The places 0 … N - 1 along axis K of shape S. */
static int
counted(hu_importing *c, hu_shape s, int k, size_t n)
{
	double *x = hu_import_room(c, n);
	hu_shape along = s;

	for (size_t i = 0; x && i < n; i++)
		x[i] = (double)i;
	for (int i = 0; i < s.rank; i++)
		along.d[i] = i == k ? n : 1;
	int t = x ? hu_import_numbers(c, HU_ONNX_INT64, along.rank, along.d, x) : -1;
	free(x);
	return hu_import_expand(c, t, s);
}

void
hu_node_one_hot(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *depth = hu_import_in(c, 1), *values = hu_import_in(c, 2);
	double list[1];
	size_t d[HU_RANK];

	if (!v || !depth || !values || hu_import_list(c, NULL, 1, list, 1) != 1 || v->rank + 1 > HU_RANK)
		return;
	int k = hu_import_axis(c, hu_import_int(c, "axis", -1), v->rank + 1), rank = 0;
	if (!(list[0] >= 1 && list[0] < 0x1p30) || values->n != 2 || k < 0) {
		hu_import_fail(c, HU_EFILE, "it needs a depth of one or more and two values");
		return;
	}
	hu_shape one = { .rank = v->rank + 1 };
	for (int i = 0; i <= v->rank; i++) {
		one.d[i] = i == k ? 1 : v->d[rank];
		d[i] = i == k ? (size_t)list[0] : v->d[rank++];
	}
	hu_shape s = hu_import_shape(v->rank + 1, d);
	int at = hu_index_places(c, hu_import_plain(c, v), (size_t)list[0]), x = hu_import_plain(c, values);
	at = hu_import_expand(c, hu_import_flat(c, at, one), s);
	int mask = mask_of(c, "equal", at, counted(c, s, k, d[k]));
	int off = hu_import_expand(c, hu_import_flat(c, hu_import_part(c, x, 0, 0, 1), hu_shape0()), s),
	    on = hu_import_expand(c, hu_import_flat(c, hu_import_part(c, x, 0, 1, 1), hu_shape0()), s);
	int t = hu_import_call(c, "where", hu_import_format(c, values->type), (int[]){ mask, on, off }, 3);
	hu_import_out(c, 0, values->type, s.rank, s.d)->plain = t;
}

/* The largest (or smallest) of tensor T along axis K and its place, both with that axis of one element. */
static void
best(hu_importing *c, int t, int k, int largest, int *value, int *place)
{
	hu_import_set(c, "axis", k);
	hu_import_set(c, "keep", 1);
	*value = hu_import_call1(c, largest ? "reduce_max" : "reduce_min", t);
	hu_import_set(c, "axis", k);
	hu_import_set(c, "keep", 1);
	*place = hu_import_call(c, largest ? "argmax" : "argmin", HU_FP32, &t, 1);
	if (*place >= 0) {
		c->p->t[*place].cls = HU_OTHER;
		c->p->t[*place].state = 0;
	}
	*place = hu_import_call(c, "cast", HU_FP64, place, 1);
}

/* The largest few, one after another: what was found is replaced by an infinity. */
void
hu_node_top_k(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[1];
	int *value, *place, largest = hu_import_int(c, "largest", 1) != 0;
	size_t d[HU_RANK];

	if (!v)
		return;
	if (c->version < 10)
		list[0] = (double)hu_import_int(c, "k", 0);
	else if (hu_import_list(c, NULL, 1, list, 1) != 1)
		return;
	int k = hu_import_axis(c, hu_import_int(c, "axis", -1), v->rank), t = hu_import_plain(c, v);
	if (k < 0)
		return;
	if (list[0] == 0 || (!v->n && list[0] == (double)v->d[k])) {
		memcpy(d, v->d, sizeof d);
		d[k] = (size_t)list[0];
		hu_import_put_empty(c, 0, v->type, v->rank, d);
		hu_import_put_empty(c, 1, HU_ONNX_INT64, v->rank, d);
		return;
	}
	if (!(list[0] >= 1 && list[0] <= (double)v->d[k])) {
		hu_import_fail(c, HU_EFILE, "it wants the largest %g of %zu elements", list[0], v->d[k]);
		return;
	}
	if (list[0] > MOST || list[0] * (double)v->n > AT_WORK) {
		hu_import_fail(c, HU_EUNABLE,
			"the largest %g of %zu elements; at most %d, and %d divided by the number of elements, are "
			"possible",
			list[0], v->n, MOST, AT_WORK);
		return;
	}
	int n = (int)list[0];
	value = hu_xcalloc(2 * (size_t)n, sizeof *value);
	place = value + n;
	hu_shape s = hu_import_shape(v->rank, v->d);
	int all = counted(c, s, k, v->d[k]), end = hu_import_number(c, v->type, largest ? -INFINITY : INFINITY);
	end = hu_import_expand(c, end, s);
	for (int i = 0; i < n && c->st == HU_OK; i++) {
		best(c, t, k, largest, &value[i], &place[i]);
		int mask = i + 1 < n ? mask_of(c, "equal", all, hu_import_expand(c, place[i], s)) : -1;
		if (i + 1 < n)
			t = hu_import_call(c, "where", t < 0 ? HU_FP32 : c->p->t[t].format, (int[]){ mask, end, t }, 3);
	}
	if (c->st != HU_OK) {
		free(value);
		return;
	}
	memcpy(d, v->d, sizeof d);
	d[k] = (size_t)n;
	hu_import_set(c, "axis", k);
	int values = hu_import_call(c, "concat", HU_NO_FORMAT, value, n);
	hu_import_set(c, "axis", k);
	int where = hu_import_call(c, "concat", HU_NO_FORMAT, place, n);
	hu_import_out(c, 0, v->type, v->rank, d)->plain = values;
	hu_import_out(c, 1, HU_ONNX_INT64, v->rank, d)->plain = where;
	free(value);
}

void
hu_node_hardmax(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int value, place;

	if (!v)
		return;
	int old = c->version < 13, k = hu_import_axis(c, hu_import_int(c, "axis", old ? 1 : -1), v->rank);
	hu_shape s = hu_import_shape(v->rank, v->d), flat = s;
	if (k < 0)
		return;
	if (old) {
		flat = hu_shape2(1, 1);
		for (int i = 0; i < v->rank; i++)
			flat.d[i >= k] *= v->d[i];
		k = 1;
	}
	int x = hu_import_flat(c, hu_import_plain(c, v), flat);
	best(c, x, k, 1, &value, &place);
	int mask = mask_of(c, "equal", counted(c, flat, k, flat.d[k]), hu_import_expand(c, place, flat)),
	    one = hu_import_expand(c, hu_import_number(c, v->type, 1), flat),
	    zero = hu_import_expand(c, hu_import_number(c, v->type, 0), flat);
	int t = hu_import_call(c, "where", hu_import_format(c, v->type), (int[]){ mask, one, zero }, 3);
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = hu_import_flat(c, t, s);
}

/* A triangle of each matrix; the rest is 0. */
void
hu_node_trilu(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[1] = { 0 }, *x;
	int upper = hu_import_int(c, "upper", 1) != 0, n = hu_import_list(c, NULL, 1, list, 1);

	if (!v || c->st != HU_OK)
		return;
	if (v->rank < 2) {
		hu_import_fail(c, HU_EFILE, "its value has fewer than two axes");
		return;
	}
	size_t d[2] = { v->d[v->rank - 2], v->d[v->rank - 1] };
	double k = n > 0 ? list[0] : 0;
	x = hu_import_room(c, d[0] * d[1]);
	for (size_t i = 0; x && i < d[0] * d[1]; i++) {
		double off = (double)(i % d[1]) - (double)(i / d[1]);
		x[i] = upper ? off >= k : off <= k;
	}
	int mask = x ? hu_import_numbers(c, HU_ONNX_BOOL, 2, d, x) : -1, a = hu_import_plain(c, v);
	free(x);
	mask = hu_import_expand(c, mask, hu_import_shape(v->rank, v->d));
	int t = hu_import_call(c, "mask", hu_import_format(c, v->type), (int[]){ mask, a }, 2);
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}

/* Sums of all elements up to each one, along the axis in whichever order the value is held. */
void
hu_node_cum_sum(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[1];

	if (!v || hu_import_list(c, NULL, 1, list, 1) != 1)
		return;
	int k = hu_import_axis(c, list[0], v->rank), last = hu_import_is_last(v);
	int t = last ? v->last : hu_import_plain(c, v);
	if (k < 0)
		return;
	hu_import_set(c, "axis", !last || k == 0 ? k : k == 1 ? v->rank - 1 : k - 1);
	hu_import_set(c, "exclusive", hu_import_int(c, "exclusive", 0) != 0);
	hu_import_set(c, "reverse", hu_import_int(c, "reverse", 0) != 0);
	t = hu_import_call1(c, "cumsum", t);
	hu_value *w = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &w->last : &w->plain) = t;
}
