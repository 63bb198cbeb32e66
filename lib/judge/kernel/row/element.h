/* SPDX-License-Identifier: Apache-2.0
   Operators of single elements on balls: the functions of functions.def, arithmetic of two values, powers, comparisons.
   map.c and select.c apply them to arrays, and formula_balls.c computes the formulas of lib/op with them. */
#ifndef HU_JUDGE_ROW_ELEMENT_H
#define HU_JUDGE_ROW_ELEMENT_H

#include "lib/judge/kernel/ball.h"
#include "lib/number/elementary/elementary.h"

/* What all elements of a call share: the unit roundoff, what may be lost below the normal numbers, the relative errors
   of exp and of other functions, and the constant of functions that have one. */
typedef struct hu_element_errors {
	double u, tiny, exp_e, e, k;
} hu_element_errors;

static inline double
hu_element_gelu_slope(double x)
{
	return 0.5 * hu_erfc(-x * M_SQRT1_2) + x * exp(-0.5 * x * x) * 0.3989422804014327;
}

/* sqrt(2/pi) (x + 0.044715 x^3). */
static inline double
hu_element_inner(double x)
{
	return 0.7978845608028654 * (x + 0.044715 * x * x * x);
}

static inline double
hu_element_tanh_form(double x)
{
	return x * hu_sigmoid(2 * hu_element_inner(x));
}

static inline double
hu_element_tanh_form_slope(double x)
{
	double s = hu_sigmoid(2 * hu_element_inner(x));

	return s + 2 * x * s * (1 - s) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

#define FN(name, Y, D, M2, OWN, SUMMARY)                                                                               \
	static inline hu_ball hu_element_##name(hu_ball a, const hu_element_errors *s)                                 \
	{                                                                                                              \
		double x = a.x, r = a.r, u = s->u, exp_e = s->exp_e, e = s->e, k = s->k, y = (Y), own, most;           \
		(void)r, (void)u, (void)exp_e, (void)e, (void)k;                                                       \
		if (!hu_isfinite(x) || !hu_isfinite(y))                                                                \
			return hu_ball_special(y, a.r == 0);                                                           \
		own = most = (OWN);                                                                                    \
		hu_ball b = hu_ball_smooth(a, y, (D), a.r == 0 ? 0 : (M2));                                            \
		if (r != 0) { /* the routine gets a value within r, and errs by what it errs there */                  \
			y = fabs(y) + b.r;                                                                             \
			x = a.x - r;                                                                                   \
			most = (OWN);                                                                                  \
			x = a.x + r;                                                                                   \
			most = hu_ball_radius(fmax(most, (OWN)));                                                      \
		}                                                                                                      \
		return hu_ball_widened(b, most + (most != 0 ? s->tiny : 0), own + (own != 0 ? s->tiny : 0));           \
	}
#include "lib/judge/kernel/functions.def"
#undef FN

/* What is certainly infinite stays so, whatever is added to it within bounds. */
static inline hu_ball
hu_element_add(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	if ((isinf(a.x) && a.r == 0 && hu_ball_most(b) < INFINITY) ||
		(isinf(b.x) && b.r == 0 && hu_ball_most(a) < INFINITY))
		return hu_ball_of(a.x + b.x);
	return hu_ball_rounded(hu_ball_add(a, b), s->u, s->tiny);
}

static inline hu_ball
hu_element_sub(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	return hu_element_add(a, hu_ball_neg(b), s);
}

static inline hu_ball
hu_element_mul(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	return hu_ball_rounded(hu_ball_mul(a, b), s->u, s->tiny);
}

/* Kernels also multiply by an approximate reciprocal. */
static inline hu_ball
hu_element_div(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	return hu_ball_rounded(hu_ball_div(a, b), fmax(s->u, s->e), s->tiny);
}

static inline hu_ball
hu_element_max(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	(void)s;
	if (isnan(a.x) || isnan(b.x))
		return hu_ball_special(NAN, (!isnan(a.x) || a.r == 0) && (!isnan(b.x) || b.r == 0));
	if ((a.x == INFINITY && a.r == 0) || (b.x == INFINITY && b.r == 0))
		return hu_ball_of(INFINITY);
	return (hu_ball){ fmax(a.x, b.x), fmax(a.r, b.r), fmax(a.v, b.v), fmax(a.c, b.c) };
}

static inline hu_ball
hu_element_min(hu_ball a, hu_ball b, const hu_element_errors *s)
{
	return hu_ball_neg(hu_element_max(hu_ball_neg(a), hu_ball_neg(b), s));
}

/* x^e, where e is exact: a routine's relative error grows with the magnitude of e log x. */
static inline hu_ball
hu_element_pow(hu_ball a, hu_ball e, const hu_element_errors *s)
{
	double x = a.x, k = e.x, y = pow(x, k), low = fabs(x) - a.r, most = hu_ball_most(a), m2;
	int whole = k == floor(k), crosses = a.r > 0 && !(low > 0);

	if (e.r != 0 || (crosses && !(whole && k >= 0)) || (!whole && x < 0))
		return (hu_ball){ y, INFINITY, 0, 0 };
	m2 = a.r == 0 ? 0 : fabs(k * (k - 1)) * (k >= 2 ? pow(most, k - 2) : k == 0 || k == 1 ? 0 : pow(low, k - 2));
	hu_ball b = hu_ball_smooth(a, y, k == 0 ? 0 : k * pow(x, k - 1), m2);
	double own = x == 0 || k == 0 || k == 1 ? 0 : (s->e + (2 + fabs(k * log(fabs(x)))) * s->u) * fabs(y), r = own;
	if (a.r != 0 && k != 0 && k != 1) /* as at the end that is farther from 1; at 0 a power is small */
		r = (s->e + (2 + fabs(k) * fmax(fabs(log(most)), low > 0 ? fabs(log(low)) : 745)) * s->u) *
		    (fabs(y) + b.r);
	return hu_ball_widened(b, r + s->tiny, own);
}

/* The angle of the point (x, y). Over all points within the radii its slopes are at most 1 over their least distance
   from the origin; where they reach the negative half of the x axis from both sides, it may turn once. */
static inline hu_ball
hu_element_atan2(hu_ball y, hu_ball x, const hu_element_errors *s)
{
	double angle = hu_atan2(y.x, x.x), high = fabs(y.x) - y.r, wide = fabs(x.x) - x.r,
	       gap = (high > wide ? high : wide) * (1 - HU_BALL_OWN), d = hypot(x.x, y.x);
	double up = x.x / d / d, along = y.x / d / d, own = (s->e + 2 * s->u) * fabs(angle);
	hu_ball a = { angle, y.r + x.r == 0 ? 0 : hu_ball_radius((y.r + x.r) / gap * HU_BALL_UP), 0, 0 };

	if (isnan(angle) || !hu_isfinite(x.x) || !hu_isfinite(y.x))
		return hu_ball_special(angle, y.r == 0 && x.r == 0);
	a.v = d > 0 ? up * up * y.v + along * along * x.v : 0;
	a.c = d > 0 ? fabs(up) * y.c + fabs(along) * x.c : 0;
	if ((y.r > 0 && high <= 0 && x.x - x.r <= 0) || (y.r + x.r > 0 && !(gap > 0))) {
		a.r = 6.2832;
		a.v = a.r * a.r;
	}
	a.r = fmin(a.r, 6.2832);
	return hu_ball_widened(a, own + (s->e + 2 * s->u) * a.r + (own != 0 || a.r > 0 ? s->tiny : 0),
		own + (own != 0 ? s->tiny : 0));
}

/* if_less, if_equal or if_greater, as a compares with b, or 0 where one is no number. Where the radii leave more than
   one answer, the radius is 1. */
static inline hu_ball
hu_element_compared(hu_ball a, hu_ball b, int if_less, int if_equal, int if_greater)
{
	double reach = a.r + b.r;
	hu_ball y = hu_ball_of(a.x < b.x ? if_less : a.x > b.x ? if_greater : a.x == b.x ? if_equal : 0);

	y.r = reach > 0 && !(fabs(a.x - b.x) > reach) ? 1 : 0;
	return y;
}
#endif
