/* SPDX-License-Identifier: Apache-2.0
   Quantised tensors: codes are whole numbers, which no policy rounds, and products of codes are exact sums. */
#include "lib/import/importing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scale or zero point V for the elements of X: one number, or one a row of axis AXIS, or one a block of them, repeated
   to X's shape. */
static int
spread(hu_importing *c, hu_value *v, const hu_value *x, int axis, int64_t block)
{
	hu_shape s = hu_import_shape(x->rank, x->d), one = s;

	if (v->n == 1)
		return hu_import_every(c, hu_import_flat(c, hu_import_plain(c, v), hu_shape0()), s);
	if (v->rank == 1 && axis >= 0 && axis < x->rank && v->n == x->d[axis]) {
		for (int i = 0; i < s.rank; i++)
			one.d[i] = i == axis ? v->n : 1;
		return hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, v), one), s);
	}
	if (block < 1 || v->rank != x->rank || axis < 0 || axis >= x->rank || s.rank + 1 > HU_RANK)
		return hu_import_fail(c, HU_EFILE, "its scales fit neither an axis nor blocks of one");
	/* Each scale BLOCK times along the axis; the last block may be shorter. */
	hu_shape wide = { .rank = s.rank + 1 }, long_ = hu_import_shape(v->rank, v->d);
	int from = 0;
	for (int i = 0; i <= s.rank; i++)
		wide.d[i] = i == axis + 1 ? 1 : v->d[from++];
	int t = hu_import_flat(c, hu_import_plain(c, v), wide);
	wide.d[axis + 1] = (size_t)block;
	t = hu_import_expand(c, t, wide);
	long_.d[axis] = v->d[axis] * (size_t)block;
	t = hu_import_flat(c, t, long_);
	return long_.d[axis] < x->d[axis]
		       ? hu_import_fail(c, HU_EFILE, "its blocks of %lld do not cover axis %d", (long long)block, axis)
		       : hu_import_part(c, t, axis, 0, x->d[axis]);
}

/* The format that products of codes are exact in. */
static int
wide(hu_importing *c, int t)
{
	return t < 0 || c->p->t[t].format == HU_FP64 ? t : hu_import_call(c, "cast", HU_FP64, &t, 1);
}

static int
marked(hu_importing *c, int t, hu_tclass cls)
{
	if (t >= 0) {
		c->p->t[t].cls = cls == HU_ACTIVATION && c->constant[t].data ? HU_WEIGHT : cls;
		c->p->t[t].state = c->p->t[t].cls == HU_WEIGHT;
	}
	return t;
}

/* 1 of a zero point that is the constant 0 everywhere. */
static int
is_nought(hu_importing *c, hu_value *zero)
{
	double *x = hu_import_is_constant(c, zero) ? hu_import_constant(c, zero) : NULL;
	int any = x == NULL;

	for (size_t i = 0; x && i < zero->n; i++)
		any |= x[i] != 0;
	free(x);
	return !any;
}

/* Codes of X less their zero points, as whole numbers in tensor T's format. */
static int
centred(hu_importing *c, hu_value *x, hu_value *zero, int axis, int64_t block)
{
	int t = hu_import_plain(c, x);

	return zero ? hu_import_call2(c, "sub", t, spread(c, zero, x, axis, block)) : t;
}

static void
limits(int type, double *low, double *high)
{
	const char *dtype = hu_import_dtype(type);
	int bits = atoi(dtype + 1);

	*low = *dtype == 'I' ? -ldexp(1, bits - 1) : 0;
	*high = ldexp(1, *dtype == 'I' ? bits - 1 : bits) - 1;
}

int
hu_quantise_codes(hu_importing *c, int t, int zero, int type)
{
	double low, high;

	limits(type, &low, &high);
	hu_import_set(c, "low", low);
	hu_import_set(c, "high", high);
	return hu_import_call(c, "codes", HU_NO_FORMAT, (int[]){ t, zero }, zero < 0 ? 1 : 2);
}

/* The same in the format of codes. */
static int
codes(hu_importing *c, int t, int zero, int type)
{
	t = hu_quantise_codes(c, t, zero, type);
	if (t >= 0 && c->p->t[t].format != hu_import_format(c, type))
		t = hu_import_call(c, "cast", hu_import_format(c, type), &t, 1);
	return marked(c, t, HU_OTHER);
}

void
hu_node_dequantise(hu_importing *c)
{
	hu_value *x = hu_import_in(c, 0), *scale = hu_import_in(c, 1), *zero = hu_import_in(c, 2);

	if (!x || !scale)
		return;
	int at = (int)hu_import_int(c, "axis", 1),
	    axis = scale->n == 1 || !x->rank ? 0 : hu_import_axis(c, at, x->rank),
	    type = (int)hu_import_int(c, "output_dtype", 0);
	int64_t block = hu_import_int(c, "block_size", 0);
	type = type ? type : scale->type;
	if (hu_import_whole(type))
		hu_import_fail(c, HU_EFILE, "its output_dtype is %s, and its results are no whole numbers",
			hu_onnx_type_name(type));
	hu_format_id f = hu_import_format(c, type);
	int whole = hu_import_whole(x->type),
	    moves = zero && (whole || zero->n > 1) && !is_nought(c, zero),
	    t = centred(c, x, moves ? zero : NULL, axis, block);
	if (t >= 0 && c->p->t[t].format != f)
		t = hu_import_call(c, "cast", f, &t, 1);
	int s = spread(c, scale, x, axis, block);
	t = marked(c, hu_import_call(c, "mul", f, (int[]){ t, s }, 2), HU_ACTIVATION);
	hu_import_out(c, 0, type, x->rank, x->d)->plain = t;
}

void
hu_node_quantise(hu_importing *c)
{
	hu_value *x = hu_import_in(c, 0), *scale = hu_import_in(c, 1), *zero = hu_import_in(c, 2);

	if (!x || !scale)
		return;
	int at = (int)hu_import_int(c, "axis", 1),
	    axis = scale->n == 1 || !x->rank ? 0 : hu_import_axis(c, at, x->rank),
	    type = (int)hu_import_int(c, "output_dtype", 0), saturates = hu_import_int(c, "saturate", 1) != 0;
	int64_t block = hu_import_int(c, "block_size", 0), precision = hu_import_int(c, "precision", 0);
	if (zero && type && type != zero->type)
		hu_import_fail(c, HU_EFILE, "its output_dtype is not the type of its zero point");
	if (precision && precision != HU_ONNX_FLOAT && precision != x->type)
		hu_import_fail(
			c, HU_EUNABLE, "its division in type %s is not possible", hu_onnx_type_name((int)precision));
	type = zero ? zero->type : type ? type : HU_ONNX_UINT8;
	int t = hu_import_plain(c, x), s = spread(c, scale, x, axis, block);
	t = hu_import_call2(c, "div", t, s);
	if (hu_import_whole(type)) {
		int z = zero ? spread(c, zero, x, axis, block) : -1;
		t = codes(c, t, z, type);
	} else {
		t = hu_import_call(c, "cast", hu_import_format(c, type), &t, 1);
		if (t >= 0 && c->p->t[t].producer >= 0 && saturates)
			c->p->c[c->p->t[t].producer].flags |= HU_SATURATE;
	}
	hu_import_out(c, 0, type, x->rank, x->d)->plain = t;
}

/* The scale of nothing but zeros is 1, as ONNX Runtime has it. */
int
hu_quantise_dynamic(hu_importing *c, int t, int *scale, int *zero)
{
	int high = hu_import_call1(c, "reduce_max", t), low = hu_import_call1(c, "reduce_min", t),
	    nought = hu_import_number(c, HU_ONNX_FLOAT, 0);
	hu_shape all = t < 0 ? hu_shape0() : c->p->t[t].shape;

	high = hu_import_call2(c, "max", high, nought);
	low = hu_import_call2(c, "min", low, nought);
	int s = hu_import_call2(
		c, "div", hu_import_call2(c, "sub", high, low), hu_import_number(c, HU_ONNX_FLOAT, 255));
	s = hu_import_call(c, "where", HU_FP32, (int[]){ s, s, hu_import_number(c, HU_ONNX_FLOAT, 1) }, 3);
	int z = codes(c, hu_import_call1(c, "neg", hu_import_call2(c, "div", low, s)), -1, HU_ONNX_UINT8);
	*scale = s;
	*zero = z;
	int y = hu_import_call2(c, "div", t, hu_import_every(c, s, all));
	return codes(c, y, hu_import_every(c, z, all), HU_ONNX_UINT8);
}

int
hu_quantise_dynamic_product(hu_importing *c, int t, int codes, int scale, int pairs)
{
	int s, z, q = hu_quantise_dynamic(c, t, &s, &z);

	if (q < 0 || codes < 0 || scale < 0)
		return -1;
	c->pairs = pairs ? hu_import_flat(c, wide(c, z), hu_shape1(1)) + 1 : 0;
	q = hu_import_call2(c, "sub", q, hu_import_every(c, z, c->p->t[q].shape));
	int y = hu_import_product(c, "matmul", wide(c, q), codes);
	c->pairs = 0;
	y = y < 0 ? -1 : hu_import_call(c, "cast", HU_FP32, &y, 1);
	s = hu_import_call2(c, "mul", hu_import_expand(c, s, c->p->t[scale].shape), scale);
	return y < 0 ? -1 : hu_import_call2(c, "mul", y, hu_import_every(c, s, c->p->t[y].shape));
}

int
hu_quantise_centred(hu_importing *c, hu_value *v, hu_value *zero)
{
	int t = hu_import_plain(c, v);

	if (!zero || zero->rank < 2)
		return wide(c, centred(c, v, zero, 0, 0));
	hu_shape one = hu_shape3(v->d[0], 1, v->d[2]);
	int z = hu_import_expand(c, hu_import_flat(c, hu_import_plain(c, zero), one), hu_import_shape(3, v->d));
	return wide(c, hu_import_call2(c, "sub", t, z));
}

void
hu_node_dynamic_quantise(hu_importing *c)
{
	hu_value *x = hu_import_in(c, 0);

	if (!x)
		return;
	int s, z, y = hu_quantise_dynamic(c, hu_import_plain(c, x), &s, &z);
	hu_import_out(c, 0, HU_ONNX_UINT8, x->rank, x->d)->plain = y;
	hu_import_out(c, 1, HU_ONNX_FLOAT, 0, NULL)->plain = s;
	hu_import_out(c, 2, HU_ONNX_UINT8, 0, NULL)->plain = z;
}

/* Input I less the zero point that input Z is, as a value of doubles that the product's code then reads. */
static int
factor(hu_importing *c, size_t i, size_t z, int axis, hu_value *to)
{
	hu_value *x = hu_import_in(c, i), *zero = z ? hu_import_in(c, z) : NULL;

	if (!x)
		return -1;
	*to = *x;
	to->type = HU_ONNX_INT64;
	to->last = -1;
	/* A column of zero points for the rows of a matrix. */
	if (zero && zero->rank == 1 && zero->n > 1 && x->rank > 1 && axis < 0)
		axis = zero->n == x->d[x->rank - 1] ? x->rank - 1 : x->rank - 2;
	to->plain = wide(c, centred(c, x, zero, axis < 0 ? 0 : axis, 0));
	return to->plain;
}

/* The product's operator computes the codes' sums: a node of two operands without zero points. *TO gets its output. */
static void
product(hu_importing *c, hu_node_import *code, hu_value *a, hu_value *b, hu_value *to)
{
	const char *in[2] = { "halfulp:a", "halfulp:b" }, *out[1] = { "halfulp:y" };
	const hu_onnx_node *was = c->node;
	hu_onnx_node inner = *was;
	hu_scope scope = { .outer = c->scope, .caller = c->scope->caller }, *outer = c->scope;

	*to = (hu_value){ .plain = -1, .last = -1 };
	if (c->st != HU_OK)
		return;
	inner.in = in;
	inner.nin = 2;
	inner.out = out;
	inner.nout = 1;
	c->scope = &scope;
	hu_value *x = hu_import_value(c, &scope, in[0], a->type, a->rank, a->d);
	x->plain = a->plain;
	hu_value *y = hu_import_value(c, &scope, in[1], b->type, b->rank, b->d);
	y->plain = b->plain;
	c->node = &inner;
	code(c);
	c->node = was;
	c->pairs = 0;
	hu_value *made = c->st == HU_OK ? hu_import_find(c, out[0]) : NULL;
	if (made) {
		*to = *made;
		to->plain = hu_import_plain(c, made);
	}
	c->scope = outer;
	hu_import_scope_release(&scope);
}

void
hu_node_integer_product(hu_importing *c)
{
	hu_value a, b, y;
	int conv = !strcmp(c->node->op, "ConvInteger");

	if (factor(c, 0, 2, -1, &a) < 0 || factor(c, 1, 3, conv ? 0 : -1, &b) < 0)
		return;
	if (!conv) /* ConvInteger has the unsigned bytes on the right, and adds in 32 bits */
		hu_import_pairs(c, hu_import_in(c, 0), hu_import_in(c, 2), hu_import_in(c, 1), hu_import_in(c, 3));
	product(c, conv ? hu_node_conv : hu_node_matmul, &a, &b, &y);
	int t = marked(c, y.plain, HU_OTHER);
	if (c->st == HU_OK)
		hu_import_out(c, 0, HU_ONNX_INT32, y.rank, y.d)->plain = t;
}

/* Scale A of all elements of Y by OP with scale B, where either is one number or has a number for each. */
static int
by_scale(hu_importing *c, const char *op, hu_format_id f, const hu_value *y, int a, int b)
{
	if (a >= 0 && b >= 0 && c->p->t[b].shape.rank)
		a = hu_import_expand(c, a, hu_import_shape(y->rank, y->d));
	return hu_import_call(c, op, f, (int[]){ a, b }, 2);
}

/* Codes times codes, their sums scaled and rounded to codes. */
void
hu_node_quantised_product(hu_importing *c)
{
	int conv = !strcmp(c->node->op, "QLinearConv");
	hu_value *sa = hu_import_in(c, 1), *sb = hu_import_in(c, 4), *sy = hu_import_in(c, 6), *zy = hu_import_in(c, 7),
		 *bias = conv ? hu_import_in(c, 8) : NULL, a, b, y;

	if (!sa || !sb || !sy || !zy || factor(c, 0, 2, -1, &a) < 0 || factor(c, 3, 5, conv ? 0 : -1, &b) < 0)
		return;
	hu_import_pairs(c, hu_import_in(c, 0), hu_import_in(c, 2), hu_import_in(c, 3), hu_import_in(c, 5));
	/* The kernel for a channel a group adds in 32 bits. */
	if (conv && b.d[1] == 1 && b.d[0] > 1 && b.d[0] == (size_t)hu_import_int(c, "group", 1))
		c->pairs = 0;
	product(c, conv ? hu_node_conv : hu_node_matmul, &a, &b, &y);
	int t = y.plain, axis = conv ? 1 : y.rank - 1, left = sa->n > 1 ? y.rank - 2 : axis;
	if (bias && t >= 0) {
		int k = spread(c, bias, &y, 1, 0);
		t = hu_import_call2(c, "add", t, wide(c, k));
	}
	/* The scale is one float32 number, or one a row or column; the quotient is rounded to it once. */
	hu_format_id f = hu_import_format(c, sa->type);
	int s = by_scale(c, "mul", f, &y, spread(c, sb, &y, axis, 0), spread(c, sa, &y, left, 0));
	s = by_scale(c, "div", f, &y, s, spread(c, sy, &y, axis, 0));
	t = t < 0 ? -1 : hu_import_call(c, "cast", f, &t, 1);
	t = hu_import_call(c, "mul", f, (int[]){ t, s }, 2);
	t = codes(c, t, spread(c, zy, &y, axis, 0), zy->type);
	if (c->st == HU_OK)
		hu_import_out(c, 0, zy->type, y.rank, y.d)->plain = t;
}
