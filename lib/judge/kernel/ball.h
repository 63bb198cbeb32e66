/* SPDX-License-Identifier: Apache-2.0
   A value with what is known of its error, the number type of the kernel judge: exact value, proven radius, and a
   probabilistic model of the error. Operations here are on single values; arrays of them are in balls.h. Everything is
   computed in double. What double loses is part of each radius, and UP covers the roundings of the radius itself. */
#ifndef HU_JUDGE_BALL_H
#define HU_JUDGE_BALL_H

#include "lib/number/round.h"
#include "lib/number/ulp.h"

#include <math.h>

/* x is the value of the declared graph without roundings (or, where stores are decided, with those). A kernel that
   computes with the declared roundings gets a value within r of it; r = Inf where there is no bound. v is a proxy
   variance, in the sub-Gaussian sense, of errors that are independent from element to element, and c a standard
   deviation of errors that elements share, which add up linearly. */
typedef struct hu_ball {
	double x, r, v, c;
} hu_ball;

/* One operation in double loses at most 2^-53 of its result; an elementary function 2^-50 (HU_ELEMENTARY_ERROR). */
#define HU_BALL_OWN 0x1p-50
#define HU_BALL_UP (1 + 0x1p-40)

static inline hu_ball
hu_ball_of(double x)
{
	return (hu_ball){ x, 0, 0, 0 };
}

/* A result that is infinite or no number: certain where what it was made of is exact, else without a bound. */
static inline hu_ball
hu_ball_special(double y, int exact)
{
	return (hu_ball){ y, exact ? 0 : INFINITY, 0, 0 };
}

/* The mean of no values, which a mask leaves to attention's row: kernels answer no number, or 0, or, where masked
   scores are large negative numbers, the mean of all values, which is `mean` within r. For what computes with it it is
   no number without a bound. */
static inline hu_ball
hu_ball_nothing(double mean, double r)
{
	return (hu_ball){ NAN, INFINITY, -1 - r, mean };
}

static inline int
hu_ball_is_nothing(hu_ball a)
{
	return a.v < 0;
}

/* A radius that is no number, as 0 times Inf, is no bound. */
static inline double
hu_ball_radius(double r)
{
	return r >= 0 ? r : INFINITY;
}

/* (1+u)^n - 1, the relative error of n roundings (Higham's gamma_n is above it). */
static inline double
hu_ball_gamma(double u, double n)
{
	return n > 0 ? expm1(n * log1p(u)) : 0;
}

/* The largest magnitude that the kernel's value may have. */
static inline double
hu_ball_most(hu_ball a)
{
	return fabs(a.x) + a.r;
}

/* The end x + r of a ball, or one beyond it: where double's sum rounds inward, a step function would miss a step. */
static inline double
hu_ball_end(double x, double r)
{
	return (x + r) + copysign(0x1p-52 * (fabs(x) + fabs(r)), r);
}

/* What double loses at x beyond a relative error: below its normal numbers, which a later factor may bring back. */
static inline double
hu_ball_underflow(double x)
{
	return x != 0 && fabs(x) < 0x1p-1021 ? 0x1p-1073 : 0;
}

/* Adds a rounding of relative error u, and of absolute error tiny where results may be subnormal. u = 0 adds only what
   double itself lost. */
static inline hu_ball
hu_ball_rounded(hu_ball a, double u, double tiny)
{
	double w = u * fabs(a.x) + tiny;

	if (!hu_isfinite(a.x))
		return hu_ball_special(a.x, a.r == 0);
	a.r = hu_ball_radius(
		(a.r + (u + HU_BALL_OWN) * hu_ball_most(a) + tiny + hu_ball_underflow(a.x)) * HU_BALL_UP);
	a.v += w * w;
	return a;
}

/* Adds an own error of at most e, whose proxy standard deviation is s. */
static inline hu_ball
hu_ball_widened(hu_ball a, double e, double s)
{
	if (!hu_isfinite(a.x))
		return hu_ball_special(a.x, a.r == 0);
	a.r = hu_ball_radius((a.r + e + HU_BALL_OWN * fabs(a.x) + hu_ball_underflow(a.x)) * HU_BALL_UP);
	a.v += s * s;
	return a;
}

static inline hu_ball
hu_ball_add(hu_ball a, hu_ball b)
{
	return (hu_ball){ a.x + b.x, a.r + b.r, a.v + b.v, a.c + b.c };
}

static inline hu_ball
hu_ball_neg(hu_ball a)
{
	a.x = -a.x;
	return a;
}

/* Unrounded; hu_ball_rounded covers double's own error. */
static inline hu_ball
hu_ball_mul(hu_ball a, hu_ball b)
{
	double p = fabs(a.x), q = fabs(b.x);

	return (hu_ball){ a.x * b.x, (a.r != 0 ? a.r * (q + b.r) : 0) + (b.r != 0 ? p * b.r : 0),
		p * p * b.v + a.v * q * q + a.v * b.v, p * b.c + a.c * q };
}

/* A denominator within its radius of 0 has no bound, and then the quotient has none. */
static inline hu_ball
hu_ball_div(hu_ball a, hu_ball b)
{
	double q = a.x / b.x, low = fabs(b.x) - b.r, s = fabs(b.x);

	if (!(low > 0))
		return (hu_ball){ q, b.r == 0 && a.r == 0 ? 0 : INFINITY, 0, 0 };
	return (hu_ball){ q, (a.r + fabs(q) * b.r) / low, (a.v + q * q * b.v) / (s * s), (a.c + fabs(q) * b.c) / s };
}

/* Half an ulp of format f at magnitude x: the most that a rounding to nearest may err there. */
static inline double
hu_ball_half_ulp(double x, hu_format f)
{
	return hu_isfinite(x) ? hu_times_pow2(0.5, hu_ulp_exponent(x, f)) : INFINITY;
}

/* Whether a kernel may answer `got`, in format f, for a mean of no values. */
static inline int
hu_ball_nothing_allows(hu_ball a, double got, hu_format f)
{
	double r = -1 - a.v;

	return isnan(got) || got == 0 || fabs(got - a.c) <= r + hu_ball_half_ulp(fabs(a.c) + r, f);
}

/* A function with derivative d and |f''| <= m2 between a.x - a.r and a.x + a.r: the value y = f(a.x), unrounded. */
static inline hu_ball
hu_ball_smooth(hu_ball a, double y, double d, double m2)
{
	d = fabs(d);
	if (a.r == 0)
		return hu_ball_of(y);
	return (hu_ball){ y, d * a.r * HU_BALL_UP + 0.5 * m2 * a.r * a.r, d * d * a.v, d * a.c };
}
#endif
