/* SPDX-License-Identifier: Apache-2.0
   LayerNormalization as ONNX Runtime's CPU computes it, in every bit: its kernel of version 1.32 for x86 processors
   with AVX2. The mean is as that in doubles, rounded once; squares of what differs from it are added in eight lanes,
   each by fma, which fold to four, two and one; what eight do not divide is added behind; and the bias by fma. */
#include "lib/import/importing.h"

#include "lib/op/reduce/summed.h"

enum { LANES = HU_ORT_LANES };

/* One number for each row of T: OP of the row. */
static int
of_rows(hu_importing *c, const char *op, int t, int axis)
{
	hu_import_set(c, "axis", axis);
	hu_import_set(c, "keep", 1);
	return hu_import_call1(c, op, t);
}

static int
as(hu_importing *c, int t, hu_format_id f)
{
	return t < 0 ? -1 : hu_import_call(c, "cast", f, &t, 1);
}

/* OP of rows X and the one number that T has for each of them. */
static int
each(hu_importing *c, const char *op, int x, int t)
{
	return x < 0 || t < 0 ? -1 : hu_import_call2(c, op, x, hu_import_expand(c, t, c->p->t[x].shape));
}

/* The sum of the squares of each row of D, which has N elements. */
static int
squares(hu_importing *c, int d, size_t n)
{
	size_t whole = n / LANES * LANES;
	int t = whole < n ? hu_import_part(c, d, 1, 0, whole) : d;

	if (t < 0)
		return -1;
	t = hu_import_flat(c, t, hu_shape3(c->p->t[t].shape.d[0], whole / LANES, LANES));
	t = as(c, t, HU_FP64); /* where squares are exact */
	t = of_rows(c, "reduce_sum", hu_import_call2(c, "mul", t, t), 1);
	if (t >= 0 && !c->constant[t].data) {
		hu_status st = hu_summed_set(&c->p->c[c->p->nc - 1], hu_sum_default());
		if (st != HU_OK)
			return hu_import_fail(c, st, "%s", hu_reason());
	}
	t = as(c, t, HU_FP32);
	for (size_t half = LANES / 2; half; half /= 2)
		t = hu_import_call2(c, "add", hu_import_part(c, t, 2, 0, half), hu_import_part(c, t, 2, half, half));
	t = t < 0 ? -1 : hu_import_flat(c, t, hu_shape2(c->p->t[t].shape.d[0], 1));
	for (size_t i = whole; i < n; i++) {
		int e = hu_import_part(c, d, 1, i, 1);
		t = hu_import_call2(c, "add", t, hu_import_call2(c, "mul", e, e));
	}
	return t;
}

int
hu_layernorm_ort(hu_importing *c, int x, int type, size_t n, double eps, int scale, int bias)
{
	int mean = as(c, of_rows(c, "reduce_mean", as(c, x, HU_FP64), 1), HU_FP32), d = each(c, "sub", x, mean);
	int v = hu_import_by(c, "div", squares(c, d, n), type, (double)n);

	v = hu_import_call1(c, "sqrt", hu_import_by(c, "add", v, type, eps));
	int t = each(c, "mul", d, hu_import_call1(c, "reciprocal", v));
	if (t < 0)
		return -1;
	hu_shape all = c->p->t[t].shape;
	if (bias < 0)
		return hu_import_call2(c, "mul", t, hu_import_expand(c, scale, all));
	/* Products of two float32 are exact in doubles. */
	scale = hu_import_expand(c, as(c, scale, HU_FP64), all);
	bias = hu_import_expand(c, as(c, bias, HU_FP64), all);
	t = hu_import_call2(c, "mul", as(c, t, HU_FP64), scale);
	return as(c, hu_import_call2(c, "add", t, bias), HU_FP32);
}
