/* SPDX-License-Identifier: Apache-2.0
   Sequences of tensors: how many there are and where each stands is known beforehand, so that no call computes them,
   and an operator on them only chooses among values. A sequence is never changed: operators make new ones. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* V as a member of a sequence. */
static hu_value
member(const hu_value *v)
{
	hu_value x = *v;

	x.half = x.wider_of = NULL;
	return x;
}

/* A sequence of N values, to be filled in; NULL and a failure where it would take too much. */
static hu_sequence *
make(hu_importing *c, size_t n)
{
	size_t bytes = sizeof(hu_sequence) + (n + 1) * sizeof(hu_value);

	if (hu_import_shaped(c, (double)bytes))
		return NULL;
	hu_sequence *l = hu_xcalloc(1, bytes);
	l->next = c->sequences;
	l->n = n;
	c->sequences = l;
	return l;
}

static void
put(hu_importing *c, const hu_sequence *l)
{
	hu_value v = { .n = 1, .plain = -1, .last = -1, .list = l };

	hu_import_put(c, 0, &v);
}

/* The sequence that input 0 is; NULL and a failure where it is none. */
static const hu_sequence *
given(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (v && !v->list)
		hu_import_fail(c, HU_EFILE, "it reads '%.120s', which is no sequence", v->name);
	return v ? v->list : NULL;
}

/* The place that input I names in a sequence of N, a negative one counted from its end, or OTHERWISE where it is
   absent; one of N itself is the end where END. (size_t)-1 and a failure where there is no such place. */
static size_t
place(hu_importing *c, size_t i, size_t n, int end, size_t otherwise)
{
	double at;

	if (i >= c->node->nin || !*c->node->in[i])
		return otherwise;
	if (hu_import_list(c, NULL, i, &at, 1) != 1)
		return (size_t)-1;
	at += at < 0 ? (double)n : 0;
	if (!(at >= 0 && at < (double)n + end) || at != floor(at)) {
		hu_import_fail(c, HU_EFILE, "its position is none of a sequence of %zu", n);
		return (size_t)-1;
	}
	return (size_t)at;
}

void
hu_node_sequence_empty(hu_importing *c)
{
	hu_import_int(c, "dtype", HU_ONNX_FLOAT); /* tensors carry their types themselves */
	put(c, make(c, 0));
}

void
hu_node_sequence_construct(hu_importing *c)
{
	hu_sequence *l = make(c, c->node->nin);

	for (size_t i = 0; l && i < l->n && c->st == HU_OK; i++) {
		hu_value *v = hu_import_in(c, i);
		if (v)
			l->v[i] = member(v);
	}
	put(c, l);
}

void
hu_node_sequence_insert(hu_importing *c)
{
	const hu_sequence *from = given(c);
	hu_value *v = hu_import_in(c, 1);

	if (!from || !v)
		return;
	size_t at = place(c, 2, from->n, 1, from->n);
	if (c->st != HU_OK)
		return;
	hu_sequence *l = make(c, from->n + 1);
	if (!l)
		return;
	memcpy(l->v, from->v, at * sizeof *l->v);
	l->v[at] = member(v);
	memcpy(l->v + at + 1, from->v + at, (from->n - at) * sizeof *l->v);
	put(c, l);
}

void
hu_node_sequence_erase(hu_importing *c)
{
	const hu_sequence *from = given(c);

	if (!from)
		return;
	size_t at = place(c, 1, from->n, 0, from->n - 1);
	if (c->st == HU_OK && !from->n)
		hu_import_fail(c, HU_EFILE, "its sequence is empty");
	if (c->st != HU_OK)
		return;
	hu_sequence *l = make(c, from->n - 1);
	if (!l)
		return;
	memcpy(l->v, from->v, at * sizeof *l->v);
	memcpy(l->v + at, from->v + at + 1, (l->n - at) * sizeof *l->v);
	put(c, l);
}

void
hu_node_sequence_at(hu_importing *c)
{
	const hu_sequence *from = given(c);
	size_t at = from ? place(c, 1, from->n, 0, (size_t)-1) : 0;

	if (from && c->st == HU_OK && at < from->n)
		hu_import_put(c, 0, &from->v[at]);
}

void
hu_node_sequence_length(hu_importing *c)
{
	const hu_sequence *from = given(c);

	if (from)
		hu_import_out(c, 0, HU_ONNX_INT64, 0, NULL)->plain =
			hu_import_number(c, HU_ONNX_INT64, (double)from->n);
}

/* N values of one shape but for axis AXIS joined along it. */
static hu_value
joined(hu_importing *c, const hu_value *v, size_t n, int axis)
{
	hu_value y = v[0];
	int *t = hu_xcalloc(n + 1, sizeof *t), used = 0;

	y.d[axis] = 0;
	for (size_t i = 0; i < n && c->st == HU_OK; i++) {
		hu_value x = v[i];
		for (int k = 0; k < y.rank && x.rank == y.rank; k++)
			if (k != axis && x.d[k] != y.d[k])
				x.rank = -1;
		if (x.rank != y.rank || x.type != y.type)
			hu_import_fail(c, HU_EFILE, "the sequence's tensors have shapes or types that do not fit");
		y.d[axis] += x.d[axis];
		if (x.n)
			t[used++] = hu_import_plain(c, &x);
	}
	y.n = 1;
	for (int k = 0; k < y.rank; k++)
		y.n *= y.d[k];
	y.last = -1;
	y.plain = used ? t[0] : c->st == HU_OK ? hu_import_numbers(c, y.type, y.rank, y.d, NULL) : -1;
	if (used > 1 && c->st == HU_OK) {
		hu_import_set(c, "axis", axis);
		y.plain = hu_import_call(c, "concat", HU_NO_FORMAT, t, used);
	}
	free(t);
	return y;
}

void
hu_node_concat_from_sequence(hu_importing *c)
{
	const hu_sequence *from = given(c);
	const hu_onnx_attr *along = hu_import_attr(c, "axis");
	int fresh = hu_import_int(c, "new_axis", 0) != 0;

	if (!from)
		return;
	if (!from->n || !along) {
		hu_import_fail(c, HU_EFILE, from->n ? "it has no axis" : "its sequence is empty");
		return;
	}
	hu_value *v = hu_xcalloc(from->n, sizeof *v), own;
	int rank = from->v[0].rank + fresh, axis = -1;
	if (rank > HU_RANK)
		hu_import_fail(c, HU_EUNABLE, "what it joins has more than %d axes", HU_RANK);
	else
		axis = hu_import_axis(c, (double)along->i, rank);
	for (size_t i = 0; i < from->n && axis >= 0 && c->st == HU_OK; i++) {
		v[i] = from->v[i];
		if (!fresh || v[i].rank + 1 != rank)
			continue;
		for (int k = rank - 1; k > axis; k--)
			v[i].d[k] = v[i].d[k - 1];
		v[i].d[axis] = 1;
		v[i].rank = rank;
		own = from->v[i];
		if (own.n)
			v[i].plain = hu_import_flat(c, hu_import_plain(c, &own), hu_import_shape(rank, v[i].d));
		v[i].last = -1;
	}
	if (axis >= 0 && c->st == HU_OK) {
		hu_value y = joined(c, v, from->n, axis);
		hu_import_put(c, 0, &y);
	}
	free(v);
}

/* The lengths of the parts of an axis of ALL elements, which the caller frees, and in *n how many there are: those that
   input 1 lists, or parts of as many as its number says, or single elements. NULL and a failure where they do not fit.
 */
static double *
parts(hu_importing *c, size_t all, size_t *n)
{
	hu_value *v = hu_import_in(c, 1);
	double *is = v ? hu_import_constant(c, v) : NULL, sum = 0;

	if (c->st != HU_OK)
		return NULL;
	if (v && v->rank) {
		*n = v->n;
		for (size_t i = 0; i < v->n; i++)
			sum += is[i] < 0 ? INFINITY : is[i];
		if (sum == (double)all)
			return is;
	} else {
		double each = v ? is[0] : 1;
		free(is);
		is = NULL;
		*n = each >= 1 ? (all + (size_t)each - 1) / (size_t)each : 0;
		if (each >= 1)
			is = hu_import_room(c, *n);
		for (size_t i = 0; is && i < *n; i++)
			is[i] = fmin(each, (double)all - (double)i * each);
		if (is)
			return is;
	}
	hu_import_fail(c, HU_EFILE, "its parts do not fit an axis of %zu elements", all);
	free(is);
	return NULL;
}

void
hu_node_split_to_sequence(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int keep = hu_import_int(c, "keepdims", 1) != 0 || (c->node->nin > 1 && *c->node->in[1]),
	    axis = v ? hu_import_axis(c, (double)hu_import_int(c, "axis", 0), v->rank) : -1;
	size_t n = 0, at = 0;
	double *length = axis >= 0 && v->rank ? parts(c, v->d[axis], &n) : NULL;

	if (v && !v->rank)
		hu_import_fail(c, HU_EFILE, "its input has no axis to split");
	hu_sequence *l = length ? make(c, n) : NULL;
	for (size_t i = 0; l && i < n && c->st == HU_OK; at += (size_t)length[i++]) {
		hu_value *x = &l->v[i];
		*x = member(v);
		x->last = -1;
		x->d[axis] = (size_t)length[i];
		x->n = v->d[axis] ? v->n / v->d[axis] * x->d[axis] : 0;
		x->plain = x->n ? hu_import_part(c, hu_import_plain(c, v), axis, at, x->d[axis])
				: hu_import_numbers(c, v->type, x->rank, x->d, NULL);
		if (keep)
			continue;
		for (int k = axis; k + 1 < x->rank; k++)
			x->d[k] = x->d[k + 1];
		x->rank--;
		x->plain = hu_import_flat(c, x->plain, hu_import_shape(x->rank, x->d));
	}
	free(length);
	if (l && c->st == HU_OK)
		put(c, l);
}
