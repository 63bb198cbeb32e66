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
	return hu_onnx_arithmetic(c->m, c->node);
}

void
hu_node_unary(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);

	if (!v)
		return;
	int last = hu_import_is_last(v), t = hu_import_call1(c, ours(c), last ? v->last : hu_import_plain(c, v));
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

/* V repeated to the shape of ALL, in its order: channels last or not. */
int
hu_import_operand(hu_importing *c, hu_value *v, const hu_value *all, int last)
{
	hu_axes x;

	if (!last)
		return hu_import_expand(c, hu_import_plain(c, v), hu_import_shape(all->rank, all->d));
	x = hu_axes_same(hu_import_shape_last(all));
	if (hu_import_is_last(v) && v->rank == all->rank) {
		hu_shape s = c->p->t[v->last].shape;
		for (int j = 0; j < s.rank; j++)
			x.from[j] = s.d[j] == x.s.d[j] ? j : -1;
		return hu_import_move(c, v->last, &x);
	}
	if (v->rank == all->rank && v->n == all->n)
		return hu_import_last(c, v);
	for (int j = 0; j < all->rank; j++) {
		int axis = j == 0 ? 0 : j == all->rank - 1 ? 1 : j + 1, k = axis - (all->rank - v->rank);
		x.from[j] = k >= 0 && v->d[k] == all->d[axis] ? k : -1;
	}
	return hu_import_move(c, hu_import_plain(c, v), &x);
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

/* Whole numbers divide towards zero, by way of the quotient in doubles, which is right below 2^53. */
static int
divide_whole(hu_importing *c, int a, int b)
{
	int t = hu_import_call2(c, "div", a, b);

	if (t < 0 || !c->constant[t].data)
		return t < 0 ? -1
			     : hu_import_fail(c, HU_EUNABLE,
				       "whole numbers that depend on the model's inputs cannot be divided");
	for (size_t i = 0; i < c->constant[t].n; i++)
		hu_put(&c->constant[t], i, trunc(hu_get(&c->constant[t], i)));
	return t;
}

/* OP of two values; *ALL gets what is made. */
static int
two(hu_importing *c, const char *op, hu_value *a, hu_value *b, hu_value *all, int *last)
{
	*all = (hu_value){ .type = a->type, .plain = -1, .last = -1, .n = 1 };
	if (!hu_import_broadcast(a, b, &all->rank, all->d))
		return hu_import_fail(
			c, HU_EFILE, "the shapes of '%.100s' and '%.100s' do not broadcast", a->name, b->name);
	for (int i = 0; i < all->rank; i++)
		all->n *= all->d[i];
	*last = together_last(a, b, all);
	if (!strcmp(op, "add") && is_bias(c, a, all, *last) && b->n == all->n) {
		hu_value *swap = a;
		a = b;
		b = swap;
	}
	int x = hu_import_operand(c, a, all, *last);
	if (!strcmp(op, "add") && a->n == all->n && is_bias(c, b, all, *last))
		return hu_import_call2(c, "bias", x, hu_import_flat(c, hu_import_plain(c, b), hu_shape1(b->n)));
	int y = hu_import_operand(c, b, all, *last);
	return !strcmp(op, "div") && hu_import_whole(a->type) ? divide_whole(c, x, y) : hu_import_call2(c, op, x, y);
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

/* Powers that are products or roots. */
void
hu_node_pow(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *e = hu_import_in(c, 1);
	double k = 0;

	if (!v || !e)
		return;
	double *x = hu_import_constant(c, e);
	if (!x)
		return;
	k = e->n ? x[0] : 0;
	for (size_t i = 1; i < e->n; i++)
		k = x[i] == k ? k : 0;
	free(x);
	int last = hu_import_is_last(v), t = last ? v->last : hu_import_plain(c, v);
	if (k == 2)
		t = hu_import_call2(c, "mul", t, t);
	else if (k == 3)
		t = hu_import_call2(c, "mul", hu_import_call2(c, "mul", t, t), t);
	else if (k == 0.5)
		t = hu_import_call1(c, "sqrt", t);
	else if (k != 1)
		hu_import_fail(c, HU_EUNABLE, "only the powers 0.5, 1, 2 and 3 are possible, and it has another");
	if (e->rank > v->rank || (e->n > 1 && e->n != v->n))
		hu_import_fail(c, HU_EUNABLE, "its exponents have more axes than its base");
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}
