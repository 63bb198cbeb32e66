/* SPDX-License-Identifier: Apache-2.0
   Operators of single elements: functions of one value (functions.def), arithmetic of two, stores. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/store.h"

#include "lib/base/thread.h"
#include "lib/number/elementary/elementary.h"

#include <string.h>

static double
hu_kernel_gelu_slope(double x)
{
	return 0.5 * hu_erfc(-x * M_SQRT1_2) + x * exp(-0.5 * x * x) * 0.3989422804014327;
}

/* sqrt(2/pi) (x + 0.044715 x^3). */
static double
inner(double x)
{
	return 0.7978845608028654 * (x + 0.044715 * x * x * x);
}

static double
hu_kernel_gelu_tanh(double x)
{
	return x * hu_sigmoid(2 * inner(x));
}

static double
hu_kernel_gelu_tanh_slope(double x)
{
	double s = hu_sigmoid(2 * inner(x));

	return s + 2 * x * s * (1 - s) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/* What all elements of a call share. */
typedef struct shared {
	double u, tiny, exp_e, e, k;
} shared;

typedef hu_ball (*function)(hu_ball a, const shared *s);

#define FN(name, Y, D, M2, OWN, SUMMARY)                                                                               \
	static hu_ball fn_##name(hu_ball a, const shared *s)                                                           \
	{                                                                                                              \
		double x = a.x, r = a.r, u = s->u, exp_e = s->exp_e, e = s->e, k = s->k, y = (Y), own;                 \
		(void)r, (void)u, (void)exp_e, (void)e, (void)k;                                                       \
		if (!hu_isfinite(x) || !hu_isfinite(y))                                                                \
			return hu_ball_special(y, a.r == 0);                                                           \
		own = (OWN);                                                                                           \
		return hu_ball_widened(hu_ball_smooth(a, y, (D), a.r == 0 ? 0 : (M2)), own + (own != 0 ? s->tiny : 0), \
			own + (own != 0 ? s->tiny : 0));                                                               \
	}
#include "lib/judge/kernel/functions.def"
#undef FN

static hu_status
each(const hu_ball_call *c, const hu_balls *in, hu_balls *out, function f)
{
	const hu_roundoffs *a = c->roundoffs;
	shared s = { a->u, a->tiny, a->exp, a->fn, 0 };
	const hu_ball *x = in[0].b;

	HU_TRY(hu_ball_real(c, "k", 1, &s.k));
	HU_TRY(hu_ball_real(c, "fn", s.e, &s.e));
	HU_TRY(hu_ball_real(c, "exp", s.exp_e, &s.exp_e));
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	hu_ball *y = out[0].b;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < in[0].n; i++)
		y[i] = f(x[i], &s);
	return HU_OK;
}

#define FN(name, Y, D, M2, OWN, SUMMARY)                                                                               \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return each(c, in, out, fn_##name);                                                                    \
	}
#include "lib/judge/kernel/functions.def"
#undef FN

typedef hu_ball (*pair)(hu_ball a, hu_ball b, const shared *s);

/* What is certainly infinite stays so, whatever is added to it within bounds. */
static hu_ball
add(hu_ball a, hu_ball b, const shared *s)
{
	if ((isinf(a.x) && a.r == 0 && hu_ball_most(b) < INFINITY) ||
		(isinf(b.x) && b.r == 0 && hu_ball_most(a) < INFINITY))
		return hu_ball_of(a.x + b.x);
	return hu_ball_rounded(hu_ball_add(a, b), s->u, s->tiny);
}

static hu_ball
sub(hu_ball a, hu_ball b, const shared *s)
{
	return add(a, hu_ball_neg(b), s);
}

static hu_ball
mul(hu_ball a, hu_ball b, const shared *s)
{
	return hu_ball_rounded(hu_ball_mul(a, b), s->u, s->tiny);
}

/* Kernels also multiply by an approximate reciprocal. */
static hu_ball
quotient(hu_ball a, hu_ball b, const shared *s)
{
	return hu_ball_rounded(hu_ball_div(a, b), fmax(s->u, s->e), s->tiny);
}

static hu_ball
larger(hu_ball a, hu_ball b, const shared *s)
{
	(void)s;
	if (isnan(a.x) || isnan(b.x))
		return hu_ball_special(NAN, (!isnan(a.x) || a.r == 0) && (!isnan(b.x) || b.r == 0));
	if ((a.x == INFINITY && a.r == 0) || (b.x == INFINITY && b.r == 0))
		return hu_ball_of(INFINITY);
	return (hu_ball){ fmax(a.x, b.x), fmax(a.r, b.r), fmax(a.v, b.v), fmax(a.c, b.c) };
}

static hu_ball
smaller(hu_ball a, hu_ball b, const shared *s)
{
	return hu_ball_neg(larger(hu_ball_neg(a), hu_ball_neg(b), s));
}

static hu_status
both(const hu_ball_call *c, const hu_balls *in, hu_balls *out, pair f)
{
	const hu_roundoffs *a = c->roundoffs;
	shared s = { a->u, a->tiny, a->exp, a->fn, 0 };
	hu_balls y;

	HU_TRY(hu_balls_broadcast(&y, &in[0], &in[1], c->row->name));
	HU_TRY(hu_balls_like(&out[0], &y, c->row->name));
	y = out[0];
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (y.n > 4096)
	for (size_t i = 0; i < y.n; i++)
		y.b[i] = f(in[0].b[hu_balls_at(&in[0], &y, i)], in[1].b[hu_balls_at(&in[1], &y, i)], &s);
	return HU_OK;
}

#define BOTH(name, f)                                                                                                  \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return both(c, in, out, f);                                                                            \
	}
BOTH(add, add)
BOTH(sub, sub)
BOTH(mul, mul)
BOTH(div, quotient)
BOTH(max, larger)
BOTH(min, smaller)

hu_status hu_ball_row_store(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_store(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_format_id id;

	HU_TRY(hu_ball_format(c, "to", &id));
	hu_format f = hu_format_of(id);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < in[0].n; i++)
		out[0].b[i] = hu_ball_store(in[0].b[i], f, c->stores);
	return HU_OK;
}

/* From here on the elements' independent errors count as shared: what follows uses them together. */
hu_status hu_ball_row_share(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_share(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball a = in[0].b[i];
		out[0].b[i] = (hu_ball){ a.x, a.r, 0, a.c + sqrt(a.v) };
	}
	return HU_OK;
}
