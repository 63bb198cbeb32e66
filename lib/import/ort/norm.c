/* SPDX-License-Identifier: Apache-2.0
   Normalisations with the bits of ONNX Runtime's CPU, version 1.32 on x86 processors with AVX2. */
#include "lib/import/importing.h"

static int
as(hu_importing *c, int t, hu_format_id f)
{
	return t < 0 ? -1 : hu_import_call(c, "cast", f, &t, 1);
}

/* OP of X and what T repeats to X's shape. */
static int
each(hu_importing *c, const char *op, int x, int t)
{
	return x < 0 || t < 0 ? -1 : hu_import_call2(c, op, x, hu_import_expand(c, t, c->p->t[x].shape));
}

/* 1 / sqrt(V + EPS), each step rounded. */
static int
inverse(hu_importing *c, int v, int type, double eps)
{
	v = hu_import_call1(c, "sqrt", hu_import_by(c, "add", v, type, eps));
	return hu_import_call1(c, "reciprocal", v);
}

/* The mean is as that in doubles, rounded once; squares of what differs from it are added in eight lanes, each by fma;
   and the bias by fma. */
int
hu_ort_layernorm(hu_importing *c, int x, int type, size_t n, double eps, int scale, int bias)
{
	enum { LANES = 8 };

	int wide = as(c, x, HU_FP64);
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	int d = each(c, "sub", x, as(c, hu_import_call1(c, "reduce_mean", wide), HU_FP32));
	if (d < 0)
		return -1;
	hu_shape rows = c->p->t[d].shape, one = hu_shape2(rows.d[0], 1), deep = hu_shape3(rows.d[0], n, 1);
	wide = as(c, d, HU_FP64);
	int squares = hu_import_call2(c, "mul", wide, wide), /* these are exact */
	    rounded = n % LANES ? hu_import_call2(c, "mul", d, d) : -1;
	rounded = rounded < 0 ? -1 : hu_import_flat(c, rounded, deep);
	int v = hu_ort_lanes(c, hu_import_flat(c, squares, deep), rounded, LANES, 0);
	v = hu_import_flat(c, hu_import_by(c, "div", v, type, (double)n), one);
	int t = each(c, "mul", d, inverse(c, v, type, eps));
	if (bias < 0)
		return each(c, "mul", t, scale);
	/* Products of two float32 are exact in doubles. */
	t = each(c, "mul", as(c, t, HU_FP64), as(c, scale, HU_FP64));
	return as(c, each(c, "add", t, as(c, bias, HU_FP64)), HU_FP32);
}

/* IN: channels last, their scale, bias, mean and variance. What constants make comes first, and no sum is fused. */
int
hu_ort_batchnorm(hu_importing *c, const int *in, int type, double eps)
{
	int scale = hu_import_call2(c, "mul", inverse(c, in[4], type, eps), in[1]),
	    bias = hu_import_call2(c, "sub", in[2], hu_import_call2(c, "mul", in[3], scale));

	return each(c, "add", each(c, "mul", in[0], scale), bias);
}
