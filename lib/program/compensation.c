/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/compensation.h"

#include "lib/program/links.h"

#include <math.h>
#include <string.h>

/* How many calls are looked at for one tensor: a compensated update has a dozen. */
enum { MOST_CALLS = 512 };
/* Factors are products of a few doubles, so that their difference is 0, or as large as a rounding of them. */
#define SAME 0x1p-48

static void
add(hu_linear *to, const hu_linear *l, double factor)
{
	for (int i = 0; i < l->n && to->n >= 0; i++) {
		double f = factor * l->term[i].factor;
		int k = 0;
		while (k < to->n && to->term[k].tensor != l->term[i].tensor)
			k++;
		if (k == HU_LINEAR) {
			to->n = -1;
			return;
		}
		if (k == to->n)
			to->term[to->n++].factor = 0;
		to->term[k].tensor = l->term[i].tensor;
		double sum = to->term[k].factor + f;
		to->term[k].factor = fabs(sum) <= SAME * fabs(f) ? 0 : sum;
	}
}

/* The factors of a call's first two operands, where its result is the sum of these alone if nothing is rounded. */
static int
factors_of(const hu_call *c, double f[2])
{
	const char *op = c->op->name;

	f[0] = f[1] = 1;
	if (!strcmp(op, "add"))
		return 2;
	if (!strcmp(op, "sub"))
		return f[1] = -1, 2;
	if (!strcmp(op, "axpby"))
		return f[0] = hu_attr_num(c, "alpha", 1), f[1] = hu_attr_num(c, "beta", 1), 2;
	if (!strcmp(op, "cast") && c->nin == 1)
		return 1;
	if (!strcmp(op, "neg"))
		return f[0] = -1, 1;
	if (!strcmp(op, "scale") && c->nin == 1)
		return f[0] = hu_attr_num(c, "factor", 1), 1;
	return 0;
}

/* What is added to the first operand of these calls is a value of its own. */
static int
adds_to_first(const hu_call *c)
{
	return !strcmp(c->op->name, "addcdiv") || !strcmp(c->op->name, "addcmul");
}

/* Expands tensor t into tensors that no linear call made. The terms of what an addcdiv or addcmul adds have the number
   -1 - t of its result, since no tensor holds it. */
static void
expand(hu_linear *l, const hu_program *p, int t, int *calls)
{
	const hu_call *c = p->t[t].producer >= 0 ? &p->c[p->t[t].producer] : NULL;
	double f[2];
	int n = c && c->nout == 1 && --*calls > 0 ? factors_of(c, f) : 0, over = !n && c && adds_to_first(c);

	l->n = 0;
	for (int i = 0; i < n + over; i++)
		if (!hu_same_shape(p->t[c->in[i]].shape, p->t[t].shape))
			n = over = 0;
	for (int i = 0; i < n + over; i++) {
		hu_linear part;
		expand(&part, p, c->in[i], calls);
		add(l, &part, over ? 1 : f[i]);
	}
	if (over)
		add(l, &(hu_linear){ .term = { { -1 - t, 1 } }, .n = 1 }, 1);
	if ((!n && !over) || l->n < 0) {
		l->term[0].tensor = t;
		l->term[0].factor = 1;
		l->n = 1;
	}
}

static void
linear_of(hu_linear *l, const hu_program *p, int t)
{
	int calls = MOST_CALLS;

	expand(l, p, t, &calls);
	if (calls <= 0)
		l->n = 0;
}

/* Whether a tensor that calls made is the sum of nothing: every term was subtracted again. */
static int
vanishes(const hu_program *p, int t)
{
	hu_linear l;

	if (t < 0 || p->t[t].producer < 0)
		return 0;
	linear_of(&l, p, t);
	for (int i = 0; i < l.n; i++)
		if (l.term[i].factor != 0)
			return 0;
	return l.n > 0;
}

int
hu_program_compensation(const hu_program *p, size_t step, int state, hu_compensation *c)
{
	int next = hu_program_next(p, step, state);

	if (next < 0 || p->t[next].producer < 0)
		return 0;
	linear_of(&c->sum, p, next);
	for (int i = 0; i < c->sum.n; i++) {
		int rest = c->sum.term[i].tensor;
		double factor = c->sum.term[i].factor;
		if (rest < 0 || rest == state || factor == 0 || !p->t[rest].state || p->t[rest].trainable)
			continue;
		int after = hu_program_next(p, step, rest);
		if (vanishes(p, after)) {
			c->rest = rest;
			c->after = after;
			c->factor = factor;
			return 1;
		}
	}
	return 0;
}

int
hu_program_compensates(const hu_program *p, size_t step, int state)
{
	if (p->t[state].trainable || !vanishes(p, hu_program_next(p, step, state)))
		return 0;
	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++)
			if (p->c[i].in[k] == state)
				return 1;
	return 0;
}
