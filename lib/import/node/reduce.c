/* SPDX-License-Identifier: Apache-2.0
   Reductions over axes, places of the largest and smallest, and softmax with its relatives. */
#include "lib/import/importing.h"

#include <string.h>

/* The axes that the node names as marks; all where it names none. 0: it names none and that means nothing happens. */
static int
axes_of(hu_importing *c, const hu_value *v, char *mark)
{
	double list[HU_RANK];
	int since = !strcmp(c->node->op, "ReduceSum") ? 13 : 18,
	    n = hu_import_list(c, c->version < since ? "axes" : NULL, 1, list, HU_RANK);
	int none = hu_import_int(c, "noop_with_empty_axes", 0) != 0;

	memset(mark, n <= 0, HU_RANK);
	for (int i = 0; i < n; i++) {
		int axis = hu_import_axis(c, list[i], v->rank);
		if (axis < 0)
			return -1;
		mark[axis] = 1;
	}
	return n > 0 || !none;
}

/* Tensor T of shape S with the marked axes last, in their order; *KEPT gets the product of the others. */
static int
gather_axes(hu_importing *c, int t, hu_shape s, const char *mark, size_t *kept)
{
	hu_axes x = hu_axes_same(s);
	int k = 0;
	size_t n = 1;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < s.rank; i++)
			if (mark[i] == pass) {
				x.from[k] = i;
				x.s.d[k++] = s.d[i];
				n *= pass ? 1 : s.d[i];
			}
	*kept = n;
	t = hu_import_move(c, t, &x);
	return hu_import_flat(c, t, hu_shape2(n, hu_count(s) / n));
}

/* OP of V over the marked axes; what is made has the shape of the axes kept, in their order. */
static int
reduced(hu_importing *c, const char *op, hu_value *v, const char *mark)
{
	char order[HU_RANK] = { 0 };
	int last = hu_import_is_last(v) && !mark[1], first = -1, n = 0, run = 0;

	/* Held with channels last, and the channels kept: the image's axes lie together, but the result would have its
	   channels last too; they come first where nothing else than the batch is kept. */
	if (last)
		for (int i = 2; i < v->rank; i++)
			last &= mark[i];
	last &= !mark[0] || last;
	for (int i = 0; i < v->rank; i++)
		order[i] = last ? mark[i == 0 ? 0 : i == v->rank - 1 ? 1 : i + 1] : mark[i];
	for (int i = 0; i < v->rank; i++) {
		n += order[i];
		first = order[i] && first < 0 ? i : first;
	}
	for (int i = first; i >= 0 && i < v->rank && order[i]; i++)
		run++;
	int t = last ? v->last : hu_import_plain(c, v);
	if (t < 0 || !n)
		return t;
	if (run == n) {
		hu_import_set(c, "axis", first);
		hu_import_set(c, "axes", n);
		return hu_import_call1(c, op, t);
	}
	size_t kept;
	t = gather_axes(c, t, c->p->t[t].shape, order, &kept);
	hu_import_set(c, "axis", 1);
	return hu_import_call1(c, op, t);
}

/* What is made of V: the marked axes become one element, or go. */
static void
made(hu_importing *c, int t, const hu_value *v, int type, const char *mark, int keep)
{
	size_t d[HU_RANK];
	int rank = 0;

	for (int i = 0; i < v->rank; i++)
		if (!mark[i] || keep)
			d[rank++] = mark[i] ? 1 : v->d[i];
	t = hu_import_flat(c, t, hu_import_shape(rank, d));
	hu_import_out(c, 0, type, rank, d)->plain = t;
}

/* How many elements lie before the marked axes, in them and behind them, where these are neighbours; else rank 0. */
static hu_shape
neighbours(const hu_value *v, const char *mark)
{
	hu_shape s = hu_shape3(1, 1, 1);
	int at = 0;

	for (int i = 0; i < v->rank; i++) {
		at += (mark[i] && at == 0) || (!mark[i] && at == 1);
		if (mark[i] && at == 2)
			return (hu_shape){ .rank = 0 };
		s.d[at] *= v->d[i];
	}
	return s;
}

/* ReduceL2 and ReduceSumSquare of rows V as ONNX Runtime's CPU computes them: squares are rounded and added one after
   another. */
static int
ort_squares(hu_importing *c, hu_value *v, int root)
{
	size_t n = v->d[v->rank - 1];
	int t = hu_import_flat(c, hu_import_plain(c, v), hu_shape3(v->n / n, n, 1));

	t = hu_import_call2(c, "mul", t, t);
	t = hu_ort_lanes(c, t, t, 1, 0);
	return root ? hu_import_call1(c, "sqrt", t) : t;
}

void
hu_node_reduce(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), x;
	const char *name = c->node->op, *op = !strcmp(name, "ReduceMax")         ? "reduce_max"
					      : !strcmp(name, "ReduceMin")       ? "reduce_min"
					      : !strcmp(name, "ReduceMean")      ? "reduce_mean"
					      : !strcmp(name, "ReduceProd")      ? "reduce_prod"
					      : !strcmp(name, "ReduceL2")        ? "reduce_norm"
					      : !strcmp(name, "ReduceSumSquare") ? "reduce_squares"
					      : !strcmp(name, "ReduceLogSumExp") ? "logsumexp"
										 : "reduce_sum";
	char mark[HU_RANK];

	if (!v)
		return;
	int some = axes_of(c, v, mark);
	if (some < 0)
		return;
	x = *v;
	if (!strcmp(name, "ReduceL1"))
		x.plain = hu_import_call1(c, "abs", hu_import_plain(c, v));
	if (!some)
		memset(mark, 0, sizeof mark);
	if (!some && !strcmp(name, "ReduceSumSquare"))
		x.plain = hu_import_call2(c, "mul", hu_import_plain(c, v), hu_import_plain(c, v));
	int t, inner = v->rank - 1, one = some && v->rank && mark[inner], mean = !strcmp(name, "ReduceMean");
	for (int i = 0; i < inner; i++)
		one &= !mark[i];
	hu_shape around = neighbours(v, mark);
	if (some && around.rank && (mean || !strcmp(name, "ReduceSum")) &&
		hu_ort_sums(c, v->type, around.d[0], around.d[1], around.d[2])) {
		t = hu_ort_sum(c, hu_import_plain(c, v), around.d[0], around.d[1], around.d[2]);
		t = mean ? hu_import_by(c, "div", t, v->type, (double)around.d[1]) : t;
	} else if (one && c->m->ort && v->type == HU_ONNX_FLOAT && v->d[inner] > 1 &&
		(!strcmp(name, "ReduceL2") || !strcmp(name, "ReduceSumSquare"))) {
		t = ort_squares(c, v, !strcmp(name, "ReduceL2"));
	} else {
		t = reduced(c, op, &x, mark);
	}
	if (!strcmp(name, "ReduceLogSum"))
		t = hu_import_call1(c, "log", t);
	made(c, t, v, v->type, mark, !some || hu_import_int(c, "keepdims", 1) != 0);
}

void
hu_node_argmax(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	char mark[HU_RANK] = { 0 };

	if (!v)
		return;
	int axis = hu_import_axis(c, hu_import_int(c, "axis", 0), v->rank), t = hu_import_plain(c, v),
	    backwards = hu_import_int(c, "select_last_index", 0) != 0;
	if (axis < 0 || t < 0)
		return;
	mark[axis] = 1;
	if (backwards) {
		hu_axes x = hu_axes_same(c->p->t[t].shape);
		x.start[axis] = (double)v->d[axis] - 1;
		x.step[axis] = -1;
		t = hu_import_move(c, t, &x);
	}
	hu_import_set(c, "axis", axis);
	t = hu_import_call(c, !strcmp(c->node->op, "ArgMax") ? "argmax" : "argmin", HU_FP32, &t, 1);
	if (t >= 0)
		c->p->t[t].cls = HU_OTHER; /* a place, which no policy rounds */
	t = hu_import_call(c, "cast", HU_FP64, &t, 1);
	if (backwards && t >= 0) {
		int end = hu_import_number(c, HU_ONNX_INT64, (double)v->d[axis] - 1);
		t = hu_import_call2(c, "sub", hu_import_expand(c, end, c->p->t[t].shape), t);
	}
	made(c, t, v, HU_ONNX_INT64, mark, hu_import_int(c, "keepdims", 1) != 0);
}

void
hu_node_softmax(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	const char *op = !strcmp(c->node->op, "Softmax") ? "softmax" : "log_softmax";
	size_t behind = 1;

	if (!v)
		return;
	int old = c->version < 13, axis = hu_import_axis(c, hu_import_int(c, "axis", old ? 1 : -1), v->rank),
	    last = !old && axis == 1 && hu_import_is_last(v), t;
	if (axis < 0)
		return;
	if (old) /* all axes from AXIS on together */
		for (int i = axis; i < v->rank; i++)
			behind *= v->d[i];
	else if (axis == v->rank - 1)
		behind = v->d[axis];
	int as_ort = c->m->ort && v->type == HU_ONNX_FLOAT && !strcmp(op, "softmax") && behind > 1;
	if (old || as_ort) {
		t = hu_import_flat(c, hu_import_plain(c, v), hu_shape2(v->n / behind, behind));
		t = as_ort ? hu_ort_softmax(c, t, behind) : hu_import_call1(c, op, t);
		t = hu_import_flat(c, t, hu_import_shape(v->rank, v->d));
		last = 0;
	} else {
		hu_import_set(c, "axis", last ? v->rank - 1 : axis);
		t = hu_import_call1(c, op, last ? v->last : hu_import_plain(c, v));
	}
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}
