/* SPDX-License-Identifier: Apache-2.0
   Whole numbers and truth values: comparisons, selections, remainders, and what becomes of other numbers that turn into
   them. Whole numbers of 32 bits and more are held in doubles, which are exact up to 2^53. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* OP of tensor A and the number X. */
static int
by(hu_importing *c, const char *op, int a, double x)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	int type = c->p->t[a].format == HU_FP64 ? HU_ONNX_INT64 : HU_ONNX_INT16;
	return hu_import_call2(c, op, a, hu_import_beside(c, a, type, x));
}

int
hu_whole_trunc(hu_importing *c, int a)
{
	int size = hu_import_call1(c, "floor", hu_import_call1(c, "abs", a));

	return hu_import_call2(c, "mul", hu_import_call1(c, "sign", a), size);
}

int
hu_whole_wrap(hu_importing *c, int a, int type)
{
	const char *dtype = hu_import_dtype(type);
	int bits = atoi(dtype + 1);

	if (type == HU_ONNX_BOOL || bits > 32 || a < 0)
		return a;
	/* a - 2^bits floor((a + offset) / 2^bits), where offset is half of it for numbers with a sign */
	int moved = *dtype == 'I' ? by(c, "add", a, ldexp(1, bits - 1)) : a;
	int turns = hu_import_call1(c, "floor", by(c, "mul", moved, ldexp(1, -bits)));
	return hu_import_call2(c, "sub", a, by(c, "mul", turns, ldexp(1, bits)));
}

int
hu_whole_of(hu_importing *c, int a, int type)
{
	hu_format_id f = hu_import_format(c, type);

	if (type == HU_ONNX_BOOL)
		a = hu_import_call1(c, "logical_not", by(c, "equal", a, 0));
	else {
		/* In doubles, which hold what is cut off and what is wrapped. */
		a = a < 0 || c->p->t[a].format == HU_FP64 ? a : hu_import_call(c, "cast", HU_FP64, &a, 1);
		a = hu_whole_wrap(c, hu_whole_trunc(c, a), type);
	}
	if (a >= 0 && c->p->t[a].format != f)
		a = hu_import_call(c, "cast", f, &a, 1);
	if (a >= 0) {
		c->p->t[a].cls = HU_OTHER;
		c->p->t[a].state = 0;
	}
	return a;
}

static hu_value
together(hu_importing *c, const hu_value *a, const hu_value *b)
{
	hu_value all = { .type = a->type, .n = 1, .plain = -1, .last = -1 };

	if (!hu_import_broadcast(a, b, &all.rank, all.d))
		hu_import_fail(c, HU_EFILE, "the shapes of '%.100s' and '%.100s' do not broadcast", a->name, b->name);
	for (int i = 0; i < all.rank; i++)
		all.n *= all.d[i];
	return all;
}

/* A mask, which no policy rounds, as output 0. */
static void
mask_out(hu_importing *c, int t, const hu_value *all)
{
	if (t >= 0) {
		c->p->t[t].cls = HU_OTHER;
		c->p->t[t].state = 0;
	}
	hu_import_out(c, 0, HU_ONNX_BOOL, all->rank, all->d)->plain = t;
}

void
hu_node_compare(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1);
	int exclusive = !strcmp(c->node->op, "Xor");

	if (!a || !b)
		return;
	hu_value all = together(c, a, b);
	const char *op = exclusive ? "equal" : hu_operators_arithmetic(c->node);
	int in[2] = { hu_import_operand(c, a, &all, 0), hu_import_operand(c, b, &all, 0) },
	    t = hu_import_call(c, op, HU_FP32, in, 2);
	mask_out(c, exclusive ? hu_import_call1(c, "logical_not", t) : t, &all);
}

void
hu_node_not(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0);

	if (a)
		mask_out(c, hu_import_call1(c, "logical_not", hu_import_plain(c, a)), a);
}

/* Whether an element is NaN: nothing else differs from itself. */
void
hu_node_is_nan(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0);

	if (!a)
		return;
	int t = hu_import_plain(c, a), same = hu_import_call(c, "equal", HU_FP32, (int[]){ t, t }, 2);
	mask_out(c, hu_import_call1(c, "logical_not", same), a);
}

void
hu_node_is_inf(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0);
	int mask = -1;

	if (!a)
		return;
	int t = hu_import_plain(c, a);
	hu_shape s = hu_import_shape(a->rank, a->d);
	for (int i = 0; i < 2 && t >= 0; i++) {
		double end = hu_import_int(c, i ? "detect_negative" : "detect_positive", 1) ? INFINITY : NAN;
		int k = hu_import_expand(c, hu_import_number(c, a->type, i ? -end : end), s),
		    one = hu_import_call(c, "equal", HU_FP32, (int[]){ t, k }, 2);
		mask = i ? hu_import_call2(c, "logical_or", mask, one) : one;
	}
	mask_out(c, mask, a);
}

/* Remainder T of X and Y, numbers of TYPE that may be infinite: of a finite X and an infinite Y it is X, or Y where
   that has the other sign and the remainder has the divisor's. */
static int
of_infinite(hu_importing *c, int t, int x, int y, int type, int dividends)
{
	int none = hu_import_like(c, x, type, INFINITY), finite, far, in[3] = { -1, y, x };

	if (t < 0)
		return -1;
	finite = hu_import_truth(c, "less", hu_import_call1(c, "abs", x), none);
	far = hu_import_truth(c, "equal", hu_import_call1(c, "abs", y), none);
	int signs = hu_import_call2(c, "mul", hu_import_call1(c, "sign", x), hu_import_call1(c, "sign", y));
	in[0] = hu_import_truth(c, "less", signs, hu_import_like(c, signs, type, 0));
	int rest = dividends ? x : hu_import_call(c, "where", hu_import_format(c, type), in, 3);
	int here = hu_import_truth(c, "logical_and", finite, far);
	return hu_import_call(c, "where", hu_import_format(c, type), (int[]){ here, rest, t }, 3);
}

/* The remainder that has the divisor's sign, or with fmod=1 the dividend's. */
void
hu_node_mod(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1);
	int dividends = hu_import_int(c, "fmod", 0) != 0;

	if (!a || !b)
		return;
	hu_value all = together(c, a, b);
	int x = hu_import_operand(c, a, &all, 0), y = hu_import_operand(c, b, &all, 0),
	    q = hu_import_call2(c, "div", x, y);
	q = dividends ? hu_whole_trunc(c, q) : hu_import_call1(c, "floor", q);
	int t = hu_import_call2(c, "sub", x, hu_import_call2(c, "mul", q, y));
	if (!hu_import_whole(a->type))
		t = of_infinite(c, t, x, y, a->type, dividends);
	hu_import_out(c, 0, a->type, all.rank, all.d)->plain = t;
}

void
hu_node_where(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), *d = hu_import_in(c, 2);

	if (!a || !b || !d)
		return;
	hu_value some = together(c, b, d), all = together(c, a, &some);
	int last = all.rank > 2 && ((hu_import_is_last(b) && b->n == all.n) || (hu_import_is_last(d) && d->n == all.n)),
	    in[3] = { hu_import_operand(c, a, &all, last), hu_import_operand_behind(c, b, &all, last),
		    hu_import_operand_behind(c, d, &all, last) },
	    t = hu_import_call(c, "where", hu_import_format(c, b->type), in, 3);
	if (t >= 0 && hu_import_whole(b->type))
		c->p->t[t].cls = HU_OTHER;
	hu_value *to = hu_import_out(c, 0, b->type, all.rank, all.d);
	*(last ? &to->last : &to->plain) = t;
}

void
hu_node_range(hu_importing *c)
{
	hu_value *v[3];
	double k[3];

	for (size_t i = 0; i < 3; i++) {
		double *x = (v[i] = hu_import_in(c, i)) ? hu_import_constant(c, v[i]) : NULL;
		if (!x || !v[i]->n) {
			free(x);
			hu_import_fail(c, HU_EFILE, "it needs a start, a limit and a step");
			return;
		}
		k[i] = x[0];
		free(x);
	}
	double count = ceil((k[1] - k[0]) / k[2]);
	if (!(count >= 1 && count < 0x1p30)) {
		hu_import_fail(c, HU_EUNABLE, "it makes %g elements", count);
		return;
	}
	size_t n = (size_t)count;
	double *x = hu_import_room(c, n);
	for (size_t i = 0; x && i < n; i++)
		x[i] = hu_import_format(c, v[0]->type) == HU_FP32 ? (double)((float)k[0] + (float)i * (float)k[2])
								  : k[0] + (double)i * k[2];
	int t = x ? hu_import_numbers(c, v[0]->type, 1, &n, x) : -1;
	hu_import_out(c, 0, v[0]->type, 1, &n)->plain = t;
	free(x);
}
