/* SPDX-License-Identifier: Apache-2.0
   Operators on elements, with ONNX's broadcasting. Where an operand has its channels last already, the others follow
   it. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first operator that computes the node. */
static const char *
ours(hu_importing *c)
{
	return hu_operators_arithmetic(c->node);
}

void
hu_node_unary(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (!v)
		return;
	const char *op = hu_ort_function(c, ours(c), v->type);
	int last = hu_import_is_last(v), t = hu_import_call1(c, op, last ? v->last : hu_import_plain(c, v));
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

/* 1 where the shape that A and B have together is better held with channels last. */
static int
together_last(const hu_value *a, const hu_value *b, const hu_value *all)
{
	return all->rank > 2 && ((hu_import_is_last(a) && a->n == all->n) || (hu_import_is_last(b) && b->n == all->n));
}

/* 1 where B is one number for each channel, as operator bias adds them. */
static int
is_bias(hu_importing *c, const hu_value *b, const hu_value *all, int last)
{
	int axis = last ? 1 : all->rank - 1, k = axis - (all->rank - b->rank);

	return hu_import_is_constant(c, b) && all->rank > 1 && k >= 0 && b->n == all->d[axis] && b->d[k] == b->n;
}

/* OP of two values; *ALL gets what is made. */
static int
two(hu_importing *c, const char *op, hu_value *a, hu_value *b, hu_value *all, int *last)
{
	*all = (hu_value){ .type = a->type, .plain = -1, .last = -1, .n = 1 };
	*last = 0;
	if (!hu_import_broadcast(a, b, &all->rank, all->d))
		return hu_import_fail(
			c, HU_EFILE, "the shapes of '%.100s' and '%.100s' do not broadcast", a->name, b->name);
	for (int i = 0; i < all->rank; i++)
		all->n *= all->d[i];
	*last = together_last(a, b, all);
	/* A bias, or one number of a sum or product, stands behind. */
	if ((!strcmp(op, "add") && is_bias(c, a, all, *last) && b->n == all->n) ||
		(a->n == 1 && b->n == all->n && (!strcmp(op, "add") || !strcmp(op, "mul")))) {
		hu_value *swap = a;
		a = b;
		b = swap;
	}
	int x = hu_import_operand(c, a, all, *last);
	if (!strcmp(op, "add") && a->n == all->n && is_bias(c, b, all, *last))
		return hu_import_call2(c, "bias", x, hu_import_flat(c, hu_import_plain(c, b), hu_shape1(b->n)));
	int y = hu_import_operand_behind(c, b, all, *last);
	int t = hu_import_call2(c, op, x, y);
	/* Whole numbers divide towards zero; the quotient in doubles is right below 2^53. Short ones wrap around. */
	if (!strcmp(op, "div") && hu_import_whole(a->type))
		return hu_whole_trunc(c, t);
	return hu_import_whole(a->type) && strcmp(op, "max") && strcmp(op, "min") ? hu_whole_wrap(c, t, a->type) : t;
}

void
hu_node_binary(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), all;
	int last;

	if (!a || !b)
		return;
	int t = two(c, ours(c), a, b, &all, &last);
	hu_value *to = hu_import_out(c, 0, a->type, all.rank, all.d);
	*(last ? &to->last : &to->plain) = t;
}

/* The first operator on all inputs, from the first to the last; *V gets the result. */
static void
fold(hu_importing *c, const char *op, hu_value *v)
{
	hu_value *a = hu_import_in(c, 0), *b, all;
	int last;

	*v = (hu_value){ .plain = -1, .last = -1 };
	if (!a)
		return;
	*v = *a;
	for (size_t i = 1; i < c->node->nin && c->st == HU_OK; i++) {
		if (!(b = hu_import_in(c, i)))
			return;
		int t = two(c, op, v, b, &all, &last);
		*v = all;
		*(last ? &v->last : &v->plain) = t;
	}
}

void
hu_node_variadic(hu_importing *c)
{
	hu_value v;

	fold(c, ours(c), &v);
	hu_import_same(c, 0, &v, v.rank, v.d);
}

void
hu_node_mean(hu_importing *c)
{
	hu_value v;

	fold(c, "add", &v);
	if (c->st != HU_OK)
		return;
	int n = hu_import_number(c, v.type, (double)c->node->nin), plain = hu_import_plain(c, &v),
	    t = hu_import_call2(c, "div", plain, hu_import_expand(c, n, hu_import_shape(v.rank, v.d)));
	hu_import_out(c, 0, v.type, v.rank, v.d)->plain = t;
}

void
hu_node_gelu(hu_importing *c)
{
	hu_import_set_text(c, "approx", hu_import_text(c, "approximate", "none"));
	hu_node_unary(c);
}

/* A call on the first input with one number of the node's: attribute NAME, by default OTHERWISE, is our KEY. */
static void
with(hu_importing *c, const char *key, const char *name, double otherwise)
{
	hu_import_set(c, key, hu_import_real(c, name, otherwise));
}

void
hu_node_leaky_relu(hu_importing *c)
{
	with(c, "slope", "alpha", (double)0.01f);
	hu_node_unary(c);
}

void
hu_node_elu(hu_importing *c)
{
	with(c, "alpha", "alpha", 1);
	hu_node_unary(c);
}

void
hu_node_hardsigmoid(hu_importing *c)
{
	with(c, "slope", "alpha", (double)0.2f);
	with(c, "offset", "beta", 0.5);
	hu_node_unary(c);
}

/* The number X as a tensor like T. */
static int
like(hu_importing *c, int t, const hu_value *v, double x)
{
	return hu_import_like(c, t, v->type, x);
}

/* OP of T and the number X. */
static int
by(hu_importing *c, const char *op, int t, const hu_value *v, double x)
{
	int k = hu_import_beside(c, t, v->type, x);

	return hu_import_call2(c, op, t, k);
}

/* a where T compared with X by OP holds, else b. */
static int
pick(hu_importing *c, const char *op, int t, const hu_value *v, double x, int a, int b)
{
	int in[2] = { t, hu_import_beside(c, t, v->type, x) }, mask = hu_import_call(c, op, HU_FP32, in, 2);

	if (mask >= 0)
		c->p->t[mask].cls = HU_OTHER;
	return hu_import_call(c, "where", t < 0 ? HU_FP32 : c->p->t[t].format, (int[]){ mask, a, b }, 3);
}

/* Activations that are made of several calls, or of one with other constants than its own. */
void
hu_node_activation(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	const char *op = c->node->op;

	if (!v)
		return;
	int last = hu_import_is_last(v), x = last ? v->last : hu_import_plain(c, v), t = -1, low;
	double alpha = hu_import_real(c, "alpha", 1);
	if (!strcmp(op, "ThresholdedRelu")) {
		low = like(c, x, v, 0);
		t = pick(c, "greater", x, v, alpha, x, low);
	} else if (!strcmp(op, "Celu")) {
		if (alpha == 0)
			hu_import_fail(c, HU_EFILE, "its alpha is 0, by which it divides");
		low = by(c, "div", x, v, alpha);
		hu_import_set(c, "alpha", 1);
		low = by(c, "mul", hu_import_call1(c, "elu", low), v, alpha);
		t = pick(c, "greater", x, v, 0, x, low);
	} else if (!strcmp(op, "Selu")) {
		double gamma = hu_import_real(c, "gamma", (double)1.0507009873554805f);
		alpha = hu_import_real(c, "alpha", (double)1.6732632423543772f);
		if (alpha == (double)1.6732632423543772f && gamma == (double)1.0507009873554805f)
			t = hu_import_call1(c, "selu", x);
		else {
			hu_import_set(c, "alpha", alpha);
			t = by(c, "mul", hu_import_call1(c, "elu", x), v, gamma);
		}
	} else if (!strcmp(op, "Shrink")) {
		double limit = hu_import_real(c, "lambd", 0.5), bias = hu_import_real(c, "bias", 0);
		int up = by(c, "add", x, v, bias), down = by(c, "sub", x, v, bias), zero = like(c, x, v, 0);
		t = pick(c, "less", x, v, -limit, up, pick(c, "greater", x, v, limit, down, zero));
	} else { /* Swish */
		t = alpha == 1 ? x : by(c, "mul", x, v, alpha);
		t = alpha == 1 ? hu_import_call1(c, "silu", x)
			       : hu_import_call2(c, "mul", x, hu_import_call1(c, "sigmoid", t));
	}
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

void
hu_node_prelu(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *slope = hu_import_in(c, 1);

	if (!v || !slope)
		return;
	int last = hu_import_is_last(v), x = last ? v->last : hu_import_plain(c, v),
	    s = hu_import_operand(c, slope, v, last), t = hu_import_call2(c, "mul", x, s);
	t = pick(c, "greater", x, v, 0, x, t);
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

void
hu_node_clip(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *bound[2] = { c->version < 11 ? NULL : hu_import_in(c, 1),
		c->version < 11 ? NULL : hu_import_in(c, 2) };
	static const char *const key[2] = { "min", "max" }, *const op[2] = { "max", "min" };

	if (!v)
		return;
	int last = hu_import_is_last(v), t = last ? v->last : hu_import_plain(c, v);
	for (int i = 0; i < 2; i++) {
		const hu_onnx_attr *a = c->version < 11 ? hu_import_attr(c, key[i]) : NULL;
		if (a && a->has_f)
			t = by(c, op[i], t, v, (double)a->f);
		else if (bound[i] && bound[i]->n)
			t = hu_import_call2(c, op[i], t, hu_import_operand_behind(c, bound[i], v, last));
	}
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

/* Squares are products: the same bits as the power's, sooner. */
void
hu_node_pow(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *e = hu_import_in(c, 1), all;
	int last;

	if (!v || !e)
		return;
	double *x = hu_import_is_constant(c, e) && e->n == 1 && e->rank <= v->rank ? hu_import_constant(c, e) : NULL;
	int square = x && x[0] == 2, t = -1;
	free(x);
	if (!square) {
		t = two(c, "pow", v, e, &all, &last);
	} else {
		all = *v;
		last = hu_import_is_last(v);
		t = last ? v->last : hu_import_plain(c, v);
		t = hu_import_call2(c, "mul", t, t);
	}
	hu_value *to = hu_import_out(c, 0, v->type, all.rank, all.d);
	*(last ? &to->last : &to->plain) = t;
}
