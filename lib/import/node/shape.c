/* SPDX-License-Identifier: Apache-2.0
   Operators that tell a value another shape, or make values of shapes: no element is computed. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LIST = 64 };

void
hu_node_identity(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (v && v->list)
		hu_import_put(c, 0, v);
	else if (v)
		hu_import_same(c, 0, v, v->rank, v->d);
}

/* Without training, a dropout passes everything; its mask is true everywhere. */
void
hu_node_dropout(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *training = hu_import_in(c, 2);

	if (training) {
		double *yes = hu_import_constant(c, training);
		if (yes && training->n && yes[0] != 0)
			hu_import_fail(c, HU_EUNABLE, "it drops at random, as in training");
		free(yes);
	}
	hu_node_identity(c);
	if (c->st == HU_OK && v && c->node->nout > 1 && *c->node->out[1]) {
		int type = c->version < 10 ? v->type : HU_ONNX_BOOL,
		    t = hu_import_expand(c, hu_import_number(c, type, 1), hu_import_shape(v->rank, v->d));
		hu_import_out(c, 1, type, v->rank, v->d)->plain = t;
	}
}

void
hu_node_reshape(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[LIST];
	size_t d[HU_RANK], known = 1;
	int zero = hu_import_int(c, "allowzero", 0) != 0, open = -1, n = hu_import_list(c, "shape", 1, list, HU_RANK);

	if (!v || n < 0)
		return;
	for (int i = 0; i < n; i++) {
		if (list[i] == -1 && open < 0) {
			open = i;
			d[i] = 1;
			continue;
		}
		if (list[i] < 0 || list[i] > 0x1p40 || (list[i] == 0 && !zero && i >= v->rank)) {
			hu_import_fail(c, HU_EFILE, "entry %d of its shape, %g, is not possible", i, list[i]);
			return;
		}
		d[i] = list[i] == 0 && !zero ? v->d[i] : (size_t)list[i];
		known *= d[i];
	}
	if (open >= 0)
		d[open] = known ? v->n / known : 0;
	if ((open >= 0 ? known * d[open] : known) != v->n) {
		hu_import_fail(c, HU_EFILE, "%zu elements do not make the shape that it asks for", v->n);
		return;
	}
	hu_import_same(c, 0, v, n, d);
}

void
hu_node_flatten(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	size_t d[2] = { 1, 1 };

	if (!v)
		return;
	int64_t axis = hu_import_int(c, "axis", 1);
	axis = axis < 0 ? axis + v->rank : axis;
	if (axis < 0 || axis > v->rank) {
		hu_import_fail(c, HU_EFILE, "axis %lld, and the value has %d axes", (long long)axis, v->rank);
		return;
	}
	for (int i = 0; i < v->rank; i++)
		d[i >= axis] *= v->d[i];
	hu_import_same(c, 0, v, 2, d);
}

/* Marks the axes that a list names. */
static int
named(hu_importing *c, int rank, char *mark)
{
	double list[LIST];
	int n = hu_import_list(c, c->version < 13 ? "axes" : NULL, 1, list, LIST);

	memset(mark, 0, HU_RANK);
	for (int i = 0; i < n; i++) {
		int axis = hu_import_axis(c, list[i], rank);
		if (axis < 0)
			return -2;
		mark[axis] = 1;
	}
	return n;
}

void
hu_node_squeeze(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	char mark[HU_RANK];
	size_t d[HU_RANK];
	int k = 0;

	if (!v)
		return;
	int n = named(c, v->rank, mark);
	for (int i = 0; i < v->rank; i++) {
		if (n >= 0 && mark[i] && v->d[i] != 1)
			hu_import_fail(c, HU_EFILE, "axis %d has %zu elements and cannot be taken away", i, v->d[i]);
		if (n >= 0 ? !mark[i] : v->d[i] != 1)
			d[k++] = v->d[i];
	}
	hu_import_same(c, 0, v, k, d);
}

void
hu_node_unsqueeze(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[LIST];
	char mark[HU_RANK] = { 0 };
	size_t d[HU_RANK];
	int n = v ? hu_import_list(c, c->version < 13 ? "axes" : NULL, 1, list, LIST) : -1, rank, k = 0;

	if (n < 0) {
		hu_import_fail(c, HU_EFILE, "it names no axes");
		return;
	}
	rank = v->rank + n;
	if (rank > HU_RANK) {
		hu_import_fail(c, HU_EUNABLE, "its output has %d dimensions; at most %d are possible", rank, HU_RANK);
		return;
	}
	for (int i = 0; i < n; i++) {
		int axis = hu_import_axis(c, list[i], rank);
		if (axis < 0)
			return;
		mark[axis] = 1;
	}
	for (int i = 0; i < rank; i++)
		d[i] = mark[i] || k >= v->rank ? 1 : v->d[k++];
	hu_import_same(c, 0, v, rank, d);
}

static void
shape_of(hu_importing *c, const hu_value *v, int first, int end)
{
	double x[HU_RANK];
	size_t n = end > first ? (size_t)(end - first) : 0;

	for (size_t i = 0; i < n; i++)
		x[i] = (double)v->d[(size_t)first + i];
	int t = hu_import_numbers(c, HU_ONNX_INT64, 1, &n, x);
	hu_value *to = n ? hu_import_out(c, 0, HU_ONNX_INT64, 1, &n)
			 : hu_import_value(c, c->scope, c->node->out[0], HU_ONNX_INT64, 1, &n);
	if (to)
		to->plain = t;
}

void
hu_node_shape(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (!v)
		return;
	int64_t start = hu_import_int(c, "start", 0), end = hu_import_int(c, "end", v->rank);
	start = start < 0 ? start + v->rank : start;
	end = end < 0 ? end + v->rank : end;
	start = start < 0 ? 0 : start > v->rank ? v->rank : start;
	end = end < 0 ? 0 : end > v->rank ? v->rank : end;
	shape_of(c, v, (int)start, (int)end);
}

void
hu_node_size(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (v) {
		int t = hu_import_number(c, HU_ONNX_INT64, (double)v->n);
		hu_import_out(c, 0, HU_ONNX_INT64, 0, NULL)->plain = t;
	}
}

void
hu_node_constant(hu_importing *c)
{
	const hu_onnx_attr *a = hu_import_attr(c, "value");
	double x[LIST];
	size_t n = 1;
	int type = HU_ONNX_FLOAT, rank = 0, t;

	if (a && a->t) {
		t = hu_import_stored(c, c->node->out[0], a->t);
		hu_value *to = t < 0 ? NULL
				     : hu_import_value(c, c->scope, c->node->out[0], hu_onnx_type_of(a->t->dtype),
					       a->t->rank, a->t->shape);
		if (to)
			to->plain = t;
		return;
	}
	if ((a = hu_import_attr(c, "value_float")))
		x[0] = a->f;
	else if ((a = hu_import_attr(c, "value_int"))) {
		x[0] = (double)a->i;
		type = HU_ONNX_INT64;
	} else if ((a = hu_import_attr(c, "value_floats")) || (a = hu_import_attr(c, "value_ints"))) {
		rank = 1;
		n = a->nfloats ? a->nfloats : a->nints;
		type = a->nfloats ? HU_ONNX_FLOAT : HU_ONNX_INT64;
		for (size_t i = 0; i < n && i < LIST; i++)
			x[i] = a->nfloats ? (double)a->floats[i] : (double)a->ints[i];
	} else {
		hu_import_fail(c, HU_EUNABLE, "its constant is no number");
		return;
	}
	if (n > LIST) {
		hu_import_fail(c, HU_EUNABLE, "its list has %zu numbers; at most %d are possible", n, LIST);
		return;
	}
	t = hu_import_numbers(c, type, rank, &n, x);
	hu_import_out(c, 0, type, rank, &n)->plain = t;
}

void
hu_node_constant_of_shape(hu_importing *c)
{
	const hu_onnx_attr *a = hu_import_attr(c, "value");
	double list[LIST];
	size_t d[HU_RANK];
	int n = hu_import_list(c, NULL, 0, list, HU_RANK), type = HU_ONNX_FLOAT, empty = 0, t;

	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		if (!(list[i] >= 0 && list[i] < 0x1p40)) {
			hu_import_fail(c, HU_EUNABLE, "dimension %d of its output is %g", i, list[i]);
			return;
		}
		d[i] = (size_t)list[i];
		empty |= !d[i];
	}
	if (empty) {
		type = a && a->t ? hu_onnx_type_of(a->t->dtype) : type;
		hu_value none = { .type = type, .rank = n, .last = -1 };
		memcpy(none.d, d, sizeof d);
		none.plain = hu_import_numbers(c, type, n, d, NULL);
		hu_import_put(c, 0, &none);
		return;
	}
	if (a && a->t) {
		type = hu_onnx_type_of(a->t->dtype);
		t = hu_import_stored(c, c->node->out[0], a->t);
		t = hu_import_flat(c, t, hu_shape0());
	} else {
		t = hu_import_number(c, HU_ONNX_FLOAT, 0);
	}
	t = hu_import_expand(c, t, hu_import_shape(n, d));
	hu_import_out(c, 0, type, n, d)->plain = t;
}

/* Elements of another type: rounded to nearest among floating-point types. */
static void
to_type(hu_importing *c, hu_value *v, int type)
{
	hu_format_id f = hu_import_format(c, type);
	int saturates = hu_import_int(c, "saturate", 1) != 0;
	const char *way = hu_import_text(c, "round_mode", "up");
	int last = hu_import_is_last(v), t = last ? v->last : hu_import_plain(c, v), whole = hu_import_whole(type);

	if (f == HU_NO_FORMAT || t < 0) {
		hu_import_fail(c, HU_EUNABLE, "elements of type %s are no numbers", hu_onnx_type_name(type));
		return;
	}
	if (type == v->type) {
		hu_import_same(c, 0, v, v->rank, v->d);
		return;
	}
	if (whole && !hu_import_whole(v->type))
		t = hu_whole_of(c, t, type);
	else if (whole && type != HU_ONNX_INT64 && v->type != HU_ONNX_BOOL)
		t = hu_whole_of(c, t, type);
	else if (c->p->t[t].format != f || !whole)
		t = hu_import_call(c, "cast", f, &t, 1);
	if (t >= 0 && !whole && c->p->t[t].producer >= 0 && saturates)
		c->p->c[c->p->t[t].producer].flags |= hu_format_of(f).bits <= 8 ? HU_SATURATE : 0;
	if (t >= 0 && f == HU_E8M0 && c->p->t[t].producer >= 0)
		c->p->c[c->p->t[t].producer].mode = *way == 'u' ? HU_RU : *way == 'd' ? HU_RD : HU_RNE;
	if (t >= 0) /* numbers from here on, which a policy may round, or none any more */
		c->p->t[t].cls = whole ? HU_OTHER : c->constant[t].data ? HU_WEIGHT : HU_ACTIVATION;
	if (t >= 0)
		c->p->t[t].state = c->p->t[t].cls == HU_WEIGHT;
	hu_value *to = hu_import_out(c, 0, type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

void
hu_node_cast(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (v)
		to_type(c, v, (int)hu_import_int(c, "to", 0));
}

void
hu_node_cast_like(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *like = hu_import_in(c, 1);

	if (v && like)
		to_type(c, v, like->type);
}
