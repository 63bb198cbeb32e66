/* SPDX-License-Identifier: Apache-2.0
   The numeric type "ball": formulas of lib/op computed in balls. Every step of a formula is an operation that a kernel
   rounds, so that a result's radius holds for kernels that compute as the formula is written. Operands that a formula
   reads twice count as independent, which only enlarges radii. */
#include "lib/judge/kernel/formula_balls.h"
#include "lib/judge/kernel/row/element.h"

#include "lib/base/console/opt.h"
#include "lib/base/thread.h"
#include "lib/op/element/formula.h"
#include "lib/op/element/formulas.h"

#include <stdio.h>
#include <string.h>

typedef struct hu_ctx_ball {
	hu_element_errors e; /* k: the compute format's largest number, 0 where nothing overflows */
	hu_ball k[HU_CONSTANTS];
} hu_ctx_ball;

typedef const hu_element_errors *errors;

/* Whether x has no more bits than a number of unit roundoff u. */
static int
fits(errors e, double x)
{
	int scale;
	double m = frexp(x, &scale);

	return e->u == 0 || x == 0 || !hu_isfinite(x) || m / e->u == rint(m / e->u);
}

/* What a step computes with: a number that may have overflowed has no bound, the format's largest or double's, of which
   `beyond` told. */
static hu_ball
held(errors e, hu_ball a)
{
	if (isinf(a.x) && isinf(a.v))
		return (hu_ball){ a.x, INFINITY, 0, 0 };
	return e->k > 0 && hu_isfinite(a.x) && hu_ball_most(a) > e->k ? (hu_ball){ a.x, INFINITY, 0, 0 } : a;
}

/* The result Y of operands of which FINITE says that they are and that none is a pole: an infinite one lies beyond
   double's numbers, and a later step may bring the exact value back. Its variance marks it. */
static hu_ball
beyond(hu_ball y, int finite)
{
	if (finite && isinf(y.x) && y.r == 0)
		y.v = INFINITY;
	return y;
}

static hu_ball
ball_literal(errors e, double x)
{
	return (hu_ball){ x, fits(e, x) ? 0 : (e->u + 0x1p-53) * fabs(x), 0, 0 };
}

static hu_ball
ball_literal2(errors e, double h, double l)
{
	return (hu_ball){ h, (e->u * fabs(h) + fabs(l)) * HU_BALL_UP, 0, 0 };
}

/* A sum of two numbers that are known exactly is rounded only where it does not fit. */
static hu_ball
ball_add(errors e, hu_ball a, hu_ball b)
{
	a = held(e, a);
	b = held(e, b);
	double s = a.x + b.x, t = s - a.x, lost = (a.x - (s - t)) + (b.x - t); /* exact (Knuth) */

	if (a.r == 0 && b.r == 0 && lost == 0 && fits(e, s))
		return hu_ball_of(s);
	return beyond(hu_element_add(a, b, e), hu_isfinite(a.x) && hu_isfinite(b.x));
}

static hu_ball
ball_sub(errors e, hu_ball a, hu_ball b)
{
	return ball_add(e, a, hu_ball_neg(b));
}

static hu_ball
ball_neg(hu_ball a)
{
	return hu_ball_neg(a);
}

static hu_ball
ball_abs(hu_ball a)
{
	a.x = hu_abs(a.x);
	return a;
}

static hu_ball
ball_min(hu_ball a, hu_ball b)
{
	return hu_element_min(a, b, NULL);
}

/* a where y is above 0 or no number, else b; within reach of both where y's radius leaves it open. */
static hu_ball
ball_pick(hu_ball y, hu_ball a, hu_ball b)
{
	int is_a = !(y.x <= 0);
	hu_ball chosen = is_a ? a : b, other = is_a ? b : a;

	if (isnan(y.x) ? y.r == 0 : is_a ? y.x - y.r > 0 : y.x + y.r <= 0)
		return chosen;
	chosen.r = hu_ball_radius(fmax(chosen.r, (fabs(a.x - b.x) + other.r) * HU_BALL_UP));
	if (isnan(a.x - b.x) && !(isinf(a.x) && a.x == b.x))
		chosen.r = INFINITY;
	chosen.v = fmax(chosen.v, other.v);
	chosen.c = fmax(chosen.c, other.c);
	return chosen;
}

/* POLE says of operands a and b that the result is infinite by itself. */
#define TWO(name, row, pole)                                                                                           \
	static hu_ball ball_##name(errors e, hu_ball a, hu_ball b)                                                     \
	{                                                                                                              \
		int finite = hu_isfinite(a.x) && hu_isfinite(b.x) && !(pole);                                          \
		return beyond(hu_element_##row(held(e, a), held(e, b), e), finite);                                    \
	}
#define ONE(name, row)                                                                                                 \
	static hu_ball ball_##name(errors e, hu_ball a)                                                                \
	{                                                                                                              \
		return hu_element_##row(held(e, a), e);                                                                \
	}
#define GROWING(name, row)                                                                                             \
	static hu_ball ball_##name(errors e, hu_ball a)                                                                \
	{                                                                                                              \
		return beyond(hu_element_##row(held(e, a), e), hu_isfinite(a.x));                                      \
	}
TWO(mul, mul, 0)
TWO(div, div, b.x == 0)
TWO(pow, pow, a.x == 0)
TWO(atan2, atan2, 0)
GROWING(exp, exp)
GROWING(expm1, expm1)
ONE(sqrt, sqrt)
ONE(log, log)
ONE(erf, erf)
ONE(tanh, tanh)
ONE(sigmoid, sigmoid)
ONE(rint, round)
ONE(floor, floor)
ONE(ceil, ceil)
ONE(sign, sign)
ONE(log1p, log1p)
ONE(rsqrt, rsqrt)
ONE(sin, sin)
ONE(cos, cos)

static hu_ball
ball_less(errors e, hu_ball a, hu_ball b)
{
	(void)e;
	return hu_element_compared(a, b, 1, 0, 0);
}

static hu_ball
ball_equal(errors e, hu_ball a, hu_ball b)
{
	(void)e;
	return hu_element_compared(a, b, 0, 1, 0);
}

#define WITH_ERRORS(c, function, ...) function(&(c)->e, __VA_ARGS__)
HU_ENCLOSURE_OF(ball, hu_ball, hu_ctx_ball, ball, x, WITH_ERRORS)
#define HU_S ball
#include "lib/op/element/formula.inc"

/* Which operands a formula of so many has. */
#define READ1 x[0]
#define READ2 x[0], x[1]
#define READ3 x[0], x[1], x[2]

static hu_ball
value(hu_formula f, const hu_ctx_ball *c, const hu_ball *x)
{
	switch (f) {
/* clang-format off */
#define ROW(NAME, READ) case HU_FORMULA_##NAME: return hu_formula_##NAME##_ball(c, READ);
#define FORMULA1(NAME, Y) ROW(NAME, READ1)
#define FORMULA2(NAME, Y) ROW(NAME, READ2)
#define FORMULA3(NAME, Y) ROW(NAME, READ3)
#include "lib/op/element/formulas.def"
	/* clang-format on */
	case HU_FORMULAS: break;
	}
	return (hu_ball){ NAN, INFINITY, 0, 0 };
}

/* The element of an operand that element i of the result reads. */
static size_t
place(hu_how how, size_t i, size_t channels, size_t image)
{
	switch (how) {
	case HU_EACH: return i;
	case HU_CHANNEL:
	case HU_INDEX: return i % channels;
	case HU_ROW: return i / channels;
	case HU_IMAGE: return i / image * channels + i % channels;
	case HU_ONE: return 0;
	}
	return 0;
}

hu_status
hu_formula_balls(const hu_call *c, const hu_roundoffs *a, const hu_balls *in, hu_balls *y)
{
	hu_ctx_ball k = { .e = { a->u, a->tiny, a->exp, a->fn, a->max } };
	hu_pointwise_call p;
	size_t n = in[0].n, channels = hu_balls_dim(&in[0], -1), image = in[0].d[0] ? n / in[0].d[0] : 0;

	hu_pointwise_describe(&p, c);
	for (int i = 1; i < p.nin; i++)
		p.how[i] = hu_pointwise_how(p.how[i], in[i].rank);
	for (int i = 0; i < p.nk; i++)
		k.k[i] = ball_literal(&k.e, p.k[i]);
	for (int i = 0; i < p.nin && n; i++)
		if (in[i].n <= place(p.how[i], n - 1, channels, image))
			return hu_fail(HU_EFILE,
				"%s: operand %d has %zu elements, which are too few for an array of %zu", c->op->name,
				i + 1, in[i].n, n);
	HU_TRY(hu_balls_like(y, &in[0], c->op->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 4096)
	for (size_t i = 0; i < n; i++) {
		hu_ball x[HU_POINTWISE_IN] = { { 0 } };
		for (int j = 0; j < p.nin; j++)
			x[j] = in[j].b[place(p.how[j], i, channels, image)];
		y->b[i] = value(p.formula, &k, x);
		if (isinf(y->b[i].x) && isinf(y->b[i].v))
			y->b[i].v = 0;
	}
	return HU_OK;
}

static hu_status
run_row(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_call call = { .op = hu_op_find(c->row->name), .nin = c->nin, .nout = 1 };
	double x;

	for (int i = 0; i < c->nkey; i++) {
		const char *s = hu_ball_text(c, c->key[i].key, "");
		if (hu_parse_real(s, &x))
			hu_attr_set(&call, c->key[i].key, x);
		else
			hu_attr_set_text(&call, c->key[i].key, s);
	}
	return hu_formula_balls(&call, c->roundoffs, in, &out[0]);
}

const hu_ball_row *
hu_formula_balls_row(const char *name)
{
	enum { MOST = 512 };
	static hu_ball_row rows[MOST];
	const hu_op *op;

	for (int i = 0; i < MOST && (op = hu_op_at(i)); i++) {
		if (strcmp(op->name, name) || !hu_pointwise_is_formula(op))
			continue;
		rows[i] = (hu_ball_row){ op->name, op->min_in, op->max_in, 1, op->attrs ? op->attrs : "", run_row,
			op->summary };
		return &rows[i];
	}
	return NULL;
}
