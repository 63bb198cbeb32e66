/* SPDX-License-Identifier: Apache-2.0
   ONNX Runtime's kernels of codes of 8 bits, each with its own order of roundings: some add the zero point before they
   round to a whole number, so that ties go to an even code, others behind it. Scales and zero points are constants. */
#include "lib/import/microsoft_node/inner.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The one number that constant input I is; 0 where a zero point is left out. */
static float
number(hu_importing *c, size_t i)
{
	hu_value *v = hu_import_in(c, i);
	double *x = v && v->n == 1 ? hu_import_constant(c, v) : NULL;
	float is = x ? (float)x[0] : 0;

	if (v && v->n != 1)
		hu_import_fail(c, HU_EUNABLE, "'%.120s' must be one number", v->name);
	free(x);
	return is;
}

/* T as part of a kernel of codes, whose formats no policy changes. */
static int
kernels_own(hu_importing *c, int t)
{
	if (t >= 0) {
		c->p->t[t].cls = HU_OTHER;
		c->p->t[t].state = 0;
	}
	return t;
}

/* The float32 or float64 number X, as T is, for an operand beside T. */
static int
beside(hu_importing *c, int t, double x)
{
	int type = t >= 0 && c->p->t[t].format == HU_FP64 ? HU_ONNX_DOUBLE : HU_ONNX_FLOAT;

	return t < 0 ? -1 : kernels_own(c, hu_import_beside(c, t, type, x));
}

/* T by OP with that number. */
static int
with(hu_importing *c, const char *op, int t, double x)
{
	return t < 0 ? -1 : hu_import_call2(c, op, t, beside(c, t, x));
}

static int
in_format(hu_importing *c, int t, hu_format_id f)
{
	return t < 0 || c->p->t[t].format == f ? t : hu_import_call(c, "cast", f, &t, 1);
}

/* T as codes of TYPE: BEFORE is added, then it is rounded to nearest, ties to even, and BEHIND is added. */
static int
codes(hu_importing *c, int t, double before, double behind, int type)
{
	t = before != 0 ? with(c, "add", t, before) : t;
	t = hu_quantise_codes(c, t, behind != 0 ? beside(c, t, behind) : -1, type);
	return kernels_own(c, in_format(c, t, HU_FP32));
}

static void
put(hu_importing *c, const hu_value *all, int type, int t)
{
	hu_import_out(c, 0, type, all->rank, all->d)->plain = t;
}

/* Input I less its zero point, times its scale: inputs I + 1 and I + 2. */
static int
worth(hu_importing *c, hu_value *v, size_t i)
{
	float s = number(c, i + 1), z = number(c, i + 2);

	return with(c, "mul", with(c, "sub", hu_import_plain(c, v), (double)z), (double)s);
}

/* QLinearAdd: fma(a, ra, fma(b, rb, F)), where each fma rounds once. QLinearMul: (a - za)(b - zb) v. */
void
hu_node_qlinear_binary(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 3), *zero = hu_import_in(c, 7),
		 all = { .rank = 0, .n = 1 };
	float sa = number(c, 1), za = number(c, 2), sb = number(c, 4), zb = number(c, 5), sc = number(c, 6),
	      zc = number(c, 7);
	int t;

	if (!a || !b || c->st != HU_OK)
		return;
	if (!hu_import_broadcast(a, b, &all.rank, all.d)) {
		hu_import_fail(c, HU_EFILE, "the shapes of its operands do not broadcast");
		return;
	}
	int x = hu_import_operand(c, a, &all, 0), y = hu_import_operand(c, b, &all, 0);
	if (!strcmp(c->node->op, "QLinearAdd")) {
		float ra = sa / sc, rb = sb / sc, rest = zc - fmaf(ra, za, rb * zb);
		t = with(c, "mul", in_format(c, y, HU_FP64), (double)rb);
		t = in_format(c, with(c, "add", t, (double)rest), HU_FP32);
		x = with(c, "mul", in_format(c, x, HU_FP64), (double)ra);
		t = in_format(c, hu_import_call2(c, "add", x, in_format(c, t, HU_FP64)), HU_FP32);
		t = codes(c, t, 0, 0, a->type);
	} else {
		float v = sa * sb / sc;
		t = hu_import_call2(c, "mul", with(c, "sub", x, (double)za), with(c, "sub", y, (double)zb));
		t = codes(c, with(c, "mul", t, (double)v), (double)zc, 0, zero ? zero->type : a->type);
	}
	put(c, &all, a->type, t);
}

/* A function of what the codes are worth. */
void
hu_node_qlinear_unary(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	float s = number(c, 3), z = number(c, 4);

	if (!v || c->st != HU_OK)
		return;
	int t = worth(c, v, 0);
	if (!strcmp(c->node->op, "QLinearSigmoid")) {
		t = hu_import_call1(c, "sigmoid", t);
	} else {
		hu_import_set(c, "slope", hu_import_real(c, "alpha", (double)0.01f));
		t = hu_import_call1(c, "leaky_relu", t);
	}
	put(c, v, v->type, codes(c, with(c, "div", t, (double)s), 0, (double)z, v->type));
}

void
hu_node_qlinear_concat(hu_importing *c)
{
	size_t n = (c->node->nin - 2) / 3;
	float s = number(c, 0), z = number(c, 1);
	hu_onnx_attr axis = hu_inner_whole("axis", hu_import_int(c, "axis", 0));
	hu_value *part[64];
	hu_inner x;

	if (n < 1 || n > 8) {
		hu_import_fail(c, HU_EUNABLE, "%zu operands; from 1 to 8 are possible", n);
		return;
	}
	hu_inner_begin(&x, c);
	for (size_t i = 0; i < n; i++) {
		hu_value *v = hu_import_in(c, 2 + 3 * i);
		int t = v ? codes(c, with(c, "div", worth(c, v, 2 + 3 * i), (double)s), 0, (double)z, v->type) : -1;
		part[i] = v ? hu_inner_value(&x, v->type, v->rank, v->d, t) : NULL;
		if (!part[i])
			n = i;
	}
	hu_inner_put(&x, 0, n ? hu_inner_node(&x, hu_node_concat, "Concat", part, n, &axis, 1) : NULL);
	hu_inner_end(&x);
}

/* The sum of each channel's codes, less its zero points, times one number. */
void
hu_node_qlinear_global(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), all;
	float sx = number(c, 1), zx = number(c, 2), sy = number(c, 3), zy = number(c, 4);

	if (!v || c->st != HU_OK)
		return;
	if (v->rank < 3 || hu_import_int(c, "channels_last", 0)) {
		hu_import_fail(c, HU_EUNABLE, "only channels on axis 1 are possible");
		return;
	}
	all = *v;
	size_t n = v->n / v->d[0] / v->d[1];
	for (int i = 2; i < v->rank; i++)
		all.d[i] = 1;
	int t = in_format(c, hu_import_flat(c, hu_import_plain(c, v), hu_shape2(v->d[0] * v->d[1], n)), HU_FP64);
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	t = with(c, "sub", hu_import_call1(c, "reduce_sum", t), (double)zx * (double)n);
	t = with(c, "mul", in_format(c, t, HU_FP32), (double)(sx / (sy * (float)n)));
	t = codes(c, t, 0, (double)zy, v->type);
	put(c, &all, v->type, hu_import_flat(c, t, hu_import_shape(all.rank, all.d)));
}

/* The mean of what the codes of each window are worth. */
void
hu_node_qlinear_pool(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	float sy = number(c, 3), zy = number(c, 4);
	hu_inner x;

	if (!v || c->st != HU_OK)
		return;
	if (hu_import_int(c, "channels_last", 0)) {
		hu_import_fail(c, HU_EUNABLE, "only channels on axis 1 are possible");
		return;
	}
	hu_inner_begin(&x, c);
	hu_value *d = hu_inner_value(&x, HU_ONNX_FLOAT, v->rank, v->d, worth(c, v, 0)),
		 *y = d ? hu_inner_node(&x, hu_node_pool, "AveragePool", &d, 1, c->node->attr, c->node->nattr) : NULL;
	if (y) {
		int t = codes(c, with(c, "div", hu_import_plain(c, y), (double)sy), (double)zy, 0, v->type);
		hu_inner_put(&x, 0, hu_inner_value(&x, v->type, y->rank, y->d, t));
	}
	hu_inner_end(&x);
}

/* The probabilities times the whole part of 1 / scale: 254 of 255 for a scale of 1/255, whose float32 is larger. */
void
hu_node_qlinear_softmax(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	float sx = number(c, 1), sy = number(c, 3), zy = number(c, 4);
	hu_inner x;

	if (!v || c->st != HU_OK)
		return;
	int old = hu_import_int(c, "opset", 13) < 13,
	    t = with(c, "mul", in_format(c, hu_import_plain(c, v), HU_FP64), (double)sx);
	hu_onnx_attr axis = hu_inner_whole("axis", hu_import_int(c, "axis", old ? 1 : -1));
	hu_inner_begin(&x, c);
	c->version = old ? 11 : HU_INNER_VERSION;
	hu_value *d = hu_inner_value(&x, HU_ONNX_DOUBLE, v->rank, v->d, t),
		 *y = d ? hu_inner_node(&x, hu_node_softmax, "Softmax", &d, 1, &axis, 1) : NULL;
	if (y) {
		t = in_format(c, with(c, "mul", hu_import_plain(c, y), floor((double)(1 / sy))), HU_FP32);
		t = codes(c, t, 0, (double)zy, v->type);
		hu_inner_put(&x, 0, hu_inner_value(&x, v->type, v->rank, v->d, t));
	}
	hu_inner_end(&x);
}

/* The codes of input I less its zero point, input Z, exactly: one, or one for each element of the last axis, or where
   FIRST is set of the first one. */
static int
centred_along(hu_importing *c, hu_value *v, size_t z, int first)
{
	hu_value *zero = hu_import_in(c, z);
	int t = in_format(c, hu_import_plain(c, v), HU_FP64);

	if (!zero || !v)
		return t;
	int k = in_format(c, hu_import_plain(c, zero), HU_FP64);
	if (zero->n > 1) {
		hu_shape row = hu_import_shape(v->rank, v->d);
		for (int i = 0; i < v->rank; i++)
			if (i != (first ? 0 : v->rank - 1))
				row.d[i] = 1;
		k = hu_import_flat(c, k, row);
	} else {
		k = hu_import_flat(c, k, hu_shape0());
	}
	return hu_import_call2(c, "sub", t, hu_import_expand(c, k, hu_import_shape(v->rank, v->d)));
}

static int
centred(hu_importing *c, hu_value *v, size_t z)
{
	return centred_along(c, v, z, 0);
}

/* The scales A and B, one or one a column of N, multiplied in float32. */
static int
scales(hu_importing *c, hu_value *a, hu_value *b, size_t n)
{
	if (!a || !b || (a->n != 1) || (b->n != 1 && b->n != n))
		return hu_import_fail(c, HU_EUNABLE, "its scales must be one number, or one for each column");
	int x = hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, a), hu_shape0()), hu_shape1(n)),
	    y = hu_import_plain(c, b);
	y = b->n == 1 ? hu_import_expand(c, hu_import_flat(c, y, hu_shape0()), hu_shape1(n))
		      : hu_import_flat(c, y, hu_shape1(n));
	return kernels_own(c, hu_import_call2(c, "mul", x, y));
}

/* Row K, a number a column, in the shape of T. */
static int
by_column(hu_importing *c, const char *op, int t, int k)
{
	return t < 0 || k < 0 ? -1 : hu_import_call2(c, op, t, hu_import_expand(c, k, c->p->t[t].shape));
}

/* Exact sums of products of codes, with the bias of whole numbers; with a scale of the result they become codes. */
void
hu_node_qgemm(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 3), *bias = hu_import_in(c, 6), *sy = hu_import_in(c, 7),
		 *zero = hu_import_in(c, 8);
	int ta = hu_import_int(c, "transA", 0) != 0, tb = hu_import_int(c, "transB", 0) != 0;
	double alpha = hu_import_real(c, "alpha", 1);

	if (!a || !b)
		return;
	if (a->rank != 2 || b->rank != 2 || a->d[!ta] != b->d[tb]) {
		hu_import_fail(c, HU_EFILE, "its operands must be matrices with as many columns as rows");
		return;
	}
	size_t d[2] = { a->d[ta], b->d[!tb] };
	int x = centred(c, a, 2), y = centred_along(c, b, 5, tb),
	    s = scales(c, hu_import_in(c, 1), hu_import_in(c, 4), d[1]);
	hu_import_pairs(c, a, hu_import_in(c, 2), b, hu_import_in(c, 5));
	hu_import_set(c, "ta", ta);
	hu_import_set(c, "tb", tb);
	int t = hu_import_product(c, "matmul", x, y);
	c->pairs = 0;
	if (bias) {
		int k = in_format(c, hu_import_plain(c, bias), HU_FP64);
		k = bias->n == d[1] ? hu_import_flat(c, k, hu_shape1(d[1])) : k;
		t = by_column(c, "add", t, k);
	}
	s = alpha != 1 ? with(c, "mul", s, alpha) : s;
	if (sy)
		s = with(c, "div", s, (double)number(c, 7));
	t = by_column(c, "mul", in_format(c, t, HU_FP32), s);
	if (sy)
		t = codes(c, t, 0, (double)number(c, 8), zero ? zero->type : HU_ONNX_UINT8);
	else if (t >= 0)
		c->p->t[t].cls = HU_ACTIVATION;
	hu_import_out(c, 0, !sy ? HU_ONNX_FLOAT : zero ? zero->type : HU_ONNX_UINT8, 2, d)->plain = t;
}

/* Rows of V, whose last axis has K elements. */
static int
in_rows(hu_importing *c, int t, const hu_value *v)
{
	size_t k = v->d[v->rank - 1];

	return hu_import_flat(c, t, hu_shape2(v->n / k, k));
}

/* MatMulIntegerToFloat, of codes, and DynamicQuantizeMatMul, whose left operand becomes codes by its own ends; the bias
   is added in float32. */
void
hu_node_matmul_to_float(hu_importing *c)
{
	int dynamic = *c->node->op == 'D';
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), *bias = hu_import_in(c, dynamic ? 4 : 6);
	size_t d[HU_RANK];
	int t;

	if (!a || !b)
		return;
	if (a->rank < 1 || b->rank != 2 || a->d[a->rank - 1] != b->d[0]) {
		hu_import_fail(c, HU_EUNABLE, "its right operand must be one matrix");
		return;
	}
	size_t n = b->d[1];
	if (dynamic) {
		hu_value *s = hu_import_in(c, 2);
		int w = centred(c, b, 3), k = s ? hu_import_plain(c, s) : -1;
		k = s && s->n == 1 ? hu_import_expand(c, hu_import_flat(c, k, hu_shape0()), hu_shape1(n))
				   : hu_import_flat(c, k, hu_shape1(n));
		t = hu_quantise_dynamic_product(c, in_rows(c, hu_import_plain(c, a), a), w, k,
			hu_import_pairs_with(c, b, hu_import_in(c, 3)));
	} else {
		int s = scales(c, hu_import_in(c, 2), hu_import_in(c, 3), n), x = centred(c, a, 4),
		    y = centred(c, b, 5);
		hu_import_pairs(c, a, hu_import_in(c, 4), b, hu_import_in(c, 5));
		t = hu_import_product(c, "matmul", in_rows(c, x, a), y);
		c->pairs = 0;
		t = by_column(c, "mul", in_format(c, t, HU_FP32), s);
	}
	if (bias)
		t = by_column(c, "add", t, hu_import_flat(c, hu_import_plain(c, bias), hu_shape1(n)));
	if (t >= 0)
		c->p->t[t].cls = HU_ACTIVATION;
	memcpy(d, a->d, sizeof d);
	d[a->rank - 1] = n;
	hu_import_out(c, 0, HU_ONNX_FLOAT, a->rank, d)->plain = hu_import_flat(c, t, hu_import_shape(a->rank, d));
}

/* The branches' codes by the result's scale, and one of them for each element. */
void
hu_node_qlinear_where(hu_importing *c)
{
	hu_value *if_ = hu_import_in(c, 0), *a = hu_import_in(c, 1), *b = hu_import_in(c, 4);
	float s = number(c, 7), z = number(c, 8);
	hu_inner x;

	if (!if_ || !a || !b || c->st != HU_OK)
		return;
	int p = codes(c, with(c, "div", worth(c, a, 1), (double)s), 0, (double)z, a->type),
	    q = codes(c, with(c, "div", worth(c, b, 4), (double)s), 0, (double)z, b->type);
	hu_inner_begin(&x, c);
	hu_value *in[3] = { if_, hu_inner_value(&x, a->type, a->rank, a->d, p),
		hu_inner_value(&x, b->type, b->rank, b->d, q) };
	hu_inner_put(&x, 0, in[1] && in[2] ? hu_inner_node(&x, hu_node_where, "Where", in, 3, NULL, 0) : NULL);
	hu_inner_end(&x);
}
