/* SPDX-License-Identifier: Apache-2.0
   Normalisations. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static double
epsilon(hu_importing *c)
{
	return hu_import_real(c, "epsilon", (double)1e-5f);
}

/* Fails where statistics of V are wanted in another type than float32, in which they are computed, or V's own. */
static int
stash(hu_importing *c, const hu_value *v)
{
	int64_t type = hu_import_int(c, "stash_type", HU_ONNX_FLOAT);

	if (type == HU_ONNX_FLOAT || (type == v->type && type == HU_ONNX_DOUBLE))
		return 0;
	return hu_import_fail(
		c, HU_EUNABLE, "its statistics in type %s are not possible; FLOAT is", hu_onnx_type_name((int)type));
}

/* V as rows of N elements. */
static int
in_rows(hu_importing *c, hu_value *v, size_t n)
{
	return hu_import_flat(c, hu_import_plain(c, v), hu_shape2(v->n / n, n));
}

/* The node's axis, and the elements of V from there on, which are a row; 0 where there is no such axis. */
static size_t
row_of(hu_importing *c, const hu_value *v, int *axis)
{
	size_t n = 1;

	*axis = hu_import_axis(c, hu_import_int(c, "axis", -1), v->rank);
	for (int i = *axis; i >= 0 && i < v->rank; i++)
		n *= v->d[i];
	return *axis < 0 ? 0 : n;
}

/* T, elements in V's order, becomes output 0 in V's shape. */
static void
result(hu_importing *c, const hu_value *v, int t)
{
	t = hu_import_flat(c, t, hu_import_shape(v->rank, v->d));
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}

/* N numbers X as a constant. */
static int
filled(hu_importing *c, int type, size_t n, double x)
{
	double *v = hu_import_room(c, n);

	for (size_t i = 0; v && i < n; i++)
		v[i] = x;
	int t = v ? hu_import_numbers(c, type, 1, &n, v) : -1;
	free(v);
	return t;
}

/* Rows X of N elements, each less its mean and over its deviation, times SCALE plus BIAS (-1: 1 and 0). */
static int
normalised(hu_importing *c, int x, int type, size_t n, int scale, int bias)
{
	int in[3] = { x, scale < 0 ? filled(c, type, n, 1) : scale, bias < 0 ? filled(c, type, n, 0) : bias };

	hu_import_set(c, "eps", epsilon(c));
	return hu_import_call(c, "layernorm", HU_NO_FORMAT, in, 3);
}

/* One number for each row of T. */
static int
rows(hu_importing *c, int t, const char *op)
{
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	return hu_import_call1(c, op, t);
}

/* X, of rows, by OP with the one number a row that T has. */
static int
each(hu_importing *c, const char *op, int x, int t)
{
	return x < 0 || t < 0 ? -1 : hu_import_call2(c, op, x, hu_import_expand(c, t, c->p->t[x].shape));
}

/* Statistics of the batch itself, as in training, and as where weights are standardised: each channel of all images
   less its mean and over its deviation. The means that training keeps for later are not computed. */
static void
batchnorm_of_batch(hu_importing *c, hu_value *v, int scale, int bias)
{
	size_t images = v->d[0], channels = v->d[1], inner = v->n / images / channels;
	hu_axes swap = hu_axes_same(hu_shape3(channels, images, inner));
	hu_shape all = hu_shape3(images, channels, inner), one = hu_shape3(1, channels, 1);

	swap.from[0] = 1;
	swap.from[1] = 0;
	int t = hu_import_move(c, hu_import_flat(c, hu_import_plain(c, v), all), &swap);
	t = normalised(c, hu_import_flat(c, t, hu_shape2(channels, images * inner)), v->type, images * inner, -1, -1);
	t = hu_import_flat(c, t, swap.s);
	swap.s = all;
	t = hu_import_move(c, t, &swap);
	t = each(c, "mul", t, hu_import_flat(c, scale, one));
	result(c, v, each(c, "add", t, hu_import_flat(c, bias, one)));
}

void
hu_node_batchnorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *k;
	int in[5], last;

	if (!v)
		return;
	if (v->rank < 2 || !hu_import_int(c, "spatial", 1)) {
		hu_import_fail(c, HU_EUNABLE, "only statistics of whole channels are possible");
		return;
	}
	/* Before version 14 more outputs than one said so. */
	int of_batch = c->version < 14 ? c->node->nout > 1 : hu_import_int(c, "training_mode", 0) != 0;
	last = v->rank > 2 && !of_batch;
	in[0] = last ? hu_import_last(c, v) : hu_import_plain(c, v);
	for (int i = 1; i < 5; i++) {
		if (!(k = hu_import_in(c, (size_t)i))) {
			hu_import_fail(c, HU_EFILE, "it needs scale, bias, mean and variance");
			return;
		}
		in[i] = hu_import_plain(c, k);
	}
	if (of_batch) {
		batchnorm_of_batch(c, v, in[1], in[2]);
		return;
	}
	int t;
	if (c->m->ort && v->type == HU_ONNX_FLOAT) {
		t = hu_ort_batchnorm(c, in, v->type, epsilon(c));
	} else {
		hu_import_set(c, "eps", epsilon(c));
		t = hu_import_call(c, "batchnorm_eval", HU_NO_FORMAT, in, 5);
	}
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

/* 1 / sqrt(the mean of X's squares + epsilon) of each row. */
static int
inverse(hu_importing *c, int x, int type)
{
	int m = rows(c, hu_import_call2(c, "mul", x, x), "reduce_mean");

	if (m < 0)
		return -1;
	int e = hu_import_like(c, m, type, epsilon(c));
	return hu_import_call1(c, "rsqrt", hu_import_call2(c, "add", m, e));
}

/* LayerNormalization's other outputs: the mean and 1 / sqrt(variance + epsilon) of each group of N. */
static void
statistics(hu_importing *c, hu_value *v, int axis, size_t n)
{
	size_t d[HU_RANK];

	if (c->st != HU_OK || c->node->nout < 2)
		return;
	for (int i = 0; i < v->rank; i++)
		d[i] = i < axis ? v->d[i] : 1;
	int x = in_rows(c, v, n), mean = rows(c, x, "reduce_mean"), r = inverse(c, each(c, "sub", x, mean), v->type);
	mean = hu_import_flat(c, mean, hu_import_shape(v->rank, d));
	r = hu_import_flat(c, r, hu_import_shape(v->rank, d));
	hu_import_out(c, 1, v->type, v->rank, d)->plain = mean;
	hu_import_out(c, 2, v->type, v->rank, d)->plain = r;
}

void
hu_node_rmsnorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *scale = hu_import_in(c, 1);
	int axis;

	if (!v || !scale || stash(c, v) < 0)
		return;
	size_t n = row_of(c, v, &axis);
	if (!n)
		return;
	int x = in_rows(c, v, n), t = each(c, "mul", x, inverse(c, x, v->type));
	t = hu_import_flat(c, t, hu_import_shape(v->rank, v->d));
	result(c, v, hu_import_call2(c, "mul", t, hu_import_operand(c, scale, v, 0)));
}

/* Groups of channels, each image's by itself: of one channel (InstanceNormalization) or of several. */
void
hu_node_groupnorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *scale = hu_import_in(c, 1), *bias = hu_import_in(c, 2);

	if (!v || !scale || !bias || stash(c, v) < 0)
		return;
	int64_t groups = !strcmp(c->node->op, "GroupNormalization") ? hu_import_int(c, "num_groups", 0)
								    : (int64_t)(v->rank > 1 ? v->d[1] : 0);
	if (v->rank < 2 || groups < 1 || v->d[1] % (size_t)groups || scale->n != bias->n ||
		(scale->n != v->d[1] && scale->n != (size_t)groups)) {
		hu_import_fail(c, HU_EFILE, "its scale, bias and groups do not fit the channels");
		return;
	}
	size_t n = v->n / v->d[0] / (size_t)groups;
	int x = in_rows(c, v, n), t = normalised(c, x, v->type, n, -1, -1);
	/* Then scale and bias: one a channel, or before version 21 one a group. */
	hu_shape all = hu_shape4(v->d[0], scale->n, v->n / v->d[0] / scale->n, 1), one = hu_shape4(1, scale->n, 1, 1);
	t = hu_import_flat(c, t, all);
	int s = hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, scale), one), all),
	    b = hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, bias), one), all);
	result(c, v, hu_import_call2(c, "add", hu_import_call2(c, "mul", t, s), b));
}

/* Each row of an axis by its sum of magnitudes or its Euclidean norm. */
void
hu_node_lpnorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int64_t p = hu_import_int(c, "p", 2);

	if (!v)
		return;
	int k = hu_import_axis(c, hu_import_int(c, "axis", -1), v->rank), x = hu_import_plain(c, v);
	if (k < 0 || p < 1 || p > 2) {
		hu_import_fail(c, HU_EUNABLE, "the norm %lld is not possible", (long long)p);
		return;
	}
	int size = p == 1 ? hu_import_call1(c, "abs", x) : x;
	hu_import_set(c, "axis", k);
	hu_import_set(c, "keep", 1);
	int norm = hu_import_call1(c, p == 1 ? "reduce_sum" : "reduce_norm", size), t = -1;
	if (norm >= 0) { /* what is 0 throughout stays so */
		hu_shape s = c->p->t[norm].shape;
		int one = hu_import_expand(c, hu_import_number(c, v->type, 1), s),
		    none = hu_import_call1(c, "logical_not", norm);
		norm = hu_import_call(c, "where", c->p->t[norm].format, (int[]){ none, one, norm }, 3);
		t = each(c, "div", x, norm);
	}
	result(c, v, t);
}

void
hu_node_layernorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *scale = hu_import_in(c, 1), *bias = hu_import_in(c, 2);
	int axis;

	if (!v || !scale || stash(c, v) < 0)
		return;
	size_t n = row_of(c, v, &axis);
	if (!n || scale->n != n || (bias && bias->n != n)) {
		hu_import_fail(c, HU_EUNABLE, "its scale and bias must have %zu elements each", n);
		return;
	}
	statistics(c, v, axis, n);
	int x = in_rows(c, v, n), s = hu_import_flat(c, hu_import_plain(c, scale), hu_shape1(n)),
	    b = bias ? hu_import_flat(c, hu_import_plain(c, bias), hu_shape1(n)) : -1;
	int as_ort = c->m->ort && !strcmp(c->own->op, "LayerNormalization") && v->type == HU_ONNX_FLOAT &&
		     n >= 8;
	result(c, v,
		as_ort ? hu_ort_layernorm(c, x, v->type, n, epsilon(c), s, b) : normalised(c, x, v->type, n, s, b));
}

/* Each element divided by a power of the mean square of its neighbours among the channels, zeros beyond the ends. */
void
hu_node_lrn(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int64_t size = hu_import_int(c, "size", 0);

	if (!v)
		return;
	if (v->rank < 3 || size < 1 || size > 1 << 20) {
		hu_import_fail(c, HU_EFILE, "it needs three axes or more, and a size");
		return;
	}
	int x = hu_import_last(c, v), t = hu_import_call2(c, "mul", x, x);
	hu_shape s = hu_import_shape_last(v);
	t = hu_import_flat(c, t, hu_shape4(v->n / v->d[1], 1, v->d[1], 1));
	hu_import_set(c, "size_h", 1);
	hu_import_set(c, "size_w", (double)size);
	hu_import_set(c, "stride_h", 1);
	hu_import_set(c, "stride_w", 1);
	hu_import_set(c, "padding_left", (double)((size - 1) / 2));
	hu_import_set(c, "padding_right", (double)(size / 2));
	hu_import_set(c, "include_padding", 1);
	t = hu_import_flat(c, hu_import_call1(c, "avgpool2d", t), s);
	int scale = hu_import_like(c, t, v->type, hu_import_real(c, "alpha", (double)1e-4f)),
	    bias = hu_import_like(c, t, v->type, hu_import_real(c, "bias", 1)),
	    power = hu_import_like(c, t, v->type, hu_import_real(c, "beta", 0.75));
	t = hu_import_call2(c, "add", hu_import_call2(c, "mul", t, scale), bias);
	t = hu_import_call2(c, "div", x, hu_import_call2(c, "pow", t, power));
	hu_import_out(c, 0, v->type, v->rank, v->d)->last = t;
}
