/* SPDX-License-Identifier: Apache-2.0
   Double-double numbers (an unevaluated sum of two doubles) with a running error bound: the numeric type of certified
   values. Every operation adds what it may itself lose to the errors of its operands, so that only single operations
   need an error analysis; an exact result keeps the bound 0. */
#ifndef HU_EXACT_DD_H
#define HU_EXACT_DD_H

#include "lib/base/inline.h"
#include "lib/number/round.h"

#include <math.h>

/* The exact value lies within e of h + l, where h = RN(h + l), the double nearest to the sum. An infinite h beside an l
   and an e of 0 is infinity itself, as masked scores have it. e = +Inf, or any other part that is not finite, says
   nothing, and whoever reads it asks MPFR. Operations that leave double's range produce such values by themselves. */
typedef struct hu_dd { double h, l, e; } hu_dd;

#define HU_DD HU_INLINE

HU_DD int hu_dd_endless(hu_dd a) { return fabs(a.h) == INFINITY && a.l == 0 && a.e == 0; }

/* Whether a says something, of a finite value. */
HU_DD int hu_dd_finite(hu_dd a) { return fabs(a.h) < INFINITY && fabs(a.l) < INFINITY && a.e < INFINITY; }

HU_DD int hu_dd_known(hu_dd a) { return hu_dd_endless(a) || hu_dd_finite(a); }

/* What the operations below make of operands of which one is infinite: infinity itself, a finite value or, where
   nothing is known, NaN with an infinite bound (dd_endless.c). */
hu_dd hu_dd_endless_add(hu_dd a, hu_dd b);
hu_dd hu_dd_endless_mul(hu_dd a, hu_dd b);
hu_dd hu_dd_endless_div(hu_dd a, hu_dd b);
hu_dd hu_dd_endless_min(hu_dd a, hu_dd b);

HU_DD hu_dd hu_dd_of(double x) { return (hu_dd){ x, 0, 0 }; }

/* Knuth's two-sum: s + *t = a + b exactly, whichever magnitude is larger. */
HU_DD double
hu_dd_sum(double a, double b, double *t)
{
	double s = a + b, z = s - a;

	*t = (a - (s - z)) + (b - z);
	return s;
}

/* p + *t = a b exactly, unless p or t underflows or |a| or |b| > 2^995 (*t is then NaN). This is Dekker's product with
   Veltkamp's splitting if the processor has no fma; both ways give the same *t. */
HU_DD double
hu_dd_product(double a, double b, double *t)
{
	double p = a * b;
#ifdef __FMA__
	*t = fma(a, b, -p);
#else
	double ca = 0x1.0000002p27 * a, cb = 0x1.0000002p27 * b, ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah,
	       bl = b - bh;

	*t = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
	return p;
}

/* h + v as a normalised pair. Computing e took at most ten roundings of 2^-53 each, which the factor covers. */
HU_DD hu_dd
hu_dd_made(double h, double v, double e)
{
	hu_dd r;

	r.h = hu_dd_sum(h, v, &r.l);
	r.e = e * (1 + 0x1p-48);
	return r;
}

/* The additions u = a.l + b.l and v = t + u may each lose 2^-53 of their result; 2^-52 covers the roundings of this
   estimate too. Subnormal sums are exact, so there the estimate may be 0. */
HU_DD hu_dd
hu_dd_add(hu_dd a, hu_dd b)
{
	double t, s = hu_dd_sum(a.h, b.h, &t), u = a.l + b.l, v = t + u;

	if (fabs(s) == INFINITY)
		return hu_dd_endless_add(a, b);
	return hu_dd_made(s, v, a.e + b.e + (u != 0 ? 0x1p-52 * (fabs(u) + fabs(v)) : 0));
}

HU_DD hu_dd
hu_dd_neg(hu_dd a)
{
	return (hu_dd){ -a.h, -a.l, a.e };
}

HU_DD hu_dd hu_dd_sub(hu_dd a, hu_dd b) { return hu_dd_add(a, hu_dd_neg(b)); }

/* Sums three of the four partial products; the fourth, a.l b.l, enters the bound. An underflow anywhere loses less than
   2^-1070, which is counted wherever a product is small or has trailing parts and neither factor is 0; a factor of
   exactly 0 gives an exact 0. */
HU_DD hu_dd
hu_dd_mul(hu_dd a, hu_dd b)
{
	double r, p = hu_dd_product(a.h, b.h, &r), x = a.h * b.l, y = a.l * b.h, t = x + y, v = r + t, e;
	if (fabs(p) == INFINITY)
		return hu_dd_endless_mul(a, b);
	int some = a.h != 0 && b.h != 0, off = (a.e != 0 && (b.h != 0 || b.e != 0)) || (b.e != 0 && a.h != 0);

	e = 0x1p-52 * (fabs(x) + fabs(y) + fabs(t)) + fabs(a.l * b.l);
	e += some && (a.l != 0 || b.l != 0) ? 0x1p-52 * fabs(v) + 0x1p-1070 : 0;
	e += some && fabs(p) < 0x1p-960 ? 0x1p-1070 : 0;
	e += fabs(a.h) * b.e + fabs(b.h) * a.e + a.e * b.e + (off ? 0x1p-1070 : 0);
	return hu_dd_made(p, v, e);
}

/* Two steps of long division. The bound comes from the remainder: a/b - q = (a - q b) / b. */
HU_DD hu_dd
hu_dd_div(hu_dd a, hu_dd b)
{
	double q1 = a.h / b.h, q2, gap = fabs(b.h) * (1 - 0x1p-50) - b.e;
	if (fabs(q1) == INFINITY || fabs(b.h) == INFINITY)
		return hu_dd_endless_div(a, b);
	hu_dd r = hu_dd_sub((hu_dd){ a.h, a.l, 0 }, hu_dd_mul(hu_dd_of(q1), (hu_dd){ b.h, b.l, 0 })), q;

	q2 = r.h / b.h;
	q.h = hu_dd_sum(q1, q2, &q.l);
	q.e = 0;
	r = hu_dd_sub(a, hu_dd_mul(q, b));
	q.e = fabs(r.h) + fabs(r.l) + r.e;
	q.e = q.e == 0 && gap > 0 ? 0 : gap > 0 ? q.e / gap * (1 + 0x1p-48) + 0x1p-1070 : INFINITY;
	return q;
}

/* The exact value must not be negative. One Newton step; the bound uses |sqrt(a) - s| = |a - s^2| / (sqrt(a) + s). The
   code selects instead of branching, so that loops vectorise. */
HU_DD hu_dd
hu_dd_sqrt(hu_dd a)
{
	int positive = a.h > 0;
	double h = positive ? a.h : 1, s1 = sqrt(h), most = a.h + a.l + a.e, zero;
	double near, far;
	hu_dd r = hu_dd_sub((hu_dd){ h, a.l, 0 }, hu_dd_mul(hu_dd_of(s1), hu_dd_of(s1))), s;

	s.h = hu_dd_sum(s1, r.h / (2 * s1), &s.l);
	s.e = 0;
	r = hu_dd_sub((hu_dd){ h, a.l, 0 }, hu_dd_mul(s, s));
	/* Adds the error of the computed root and that of the operand: |sqrt(x) - sqrt(a)| <= |x - a| / sqrt(a), and <=
	   sqrt(|x - a|). */
	s.e = fabs(r.h) + fabs(r.l) + r.e;
	near = a.e / s.h * (1 + 0x1p-48);
	far = sqrt(a.e) * (1 + 0x1p-48);
	s.e = (s.e == 0 ? 0 : s.e / s.h * (1 + 0x1p-48) + 0x1p-1070) +
	      (a.e == 0 ? 0 : (near < far ? near : far) + 0x1p-1070);
	zero = most >= 0 ? sqrt(fabs(a.h) + a.e) * (1 + 0x1p-48) : INFINITY; /* if the value may be 0 */
	s.h = positive ? s.h : 0;
	s.l = positive ? s.l : 0;
	s.e = positive ? s.e : zero;
	return s;
}

HU_DD hu_dd
hu_dd_abs(hu_dd a)
{
	return a.h < 0 ? hu_dd_neg(a) : (hu_dd){ fabs(a.h), a.l, a.e };
}

/* Uses that |min(a, b) - min(a', b')| is at most the larger of |a - a'| and |b - b'|. */
HU_DD hu_dd
hu_dd_min(hu_dd a, hu_dd b)
{
	hu_dd r = b.h < a.h || (b.h == a.h && b.l < a.l) ? b : a;

	r.e = a.e < b.e ? b.e : a.e;
	if (!(a.h - b.h < INFINITY && b.h - a.h < INFINITY)) /* a NaN or an infinity is involved */
		return hu_dd_endless_min(a, b);
	return r;
}

/* y <= 0 ? b : a if the sign of y is certain, else an enclosure of both. A y of NaN counts as uncertain: an operation
   on an infinity may have left it. */
HU_DD hu_dd
hu_dd_pick(hu_dd y, hu_dd a, hu_dd b)
{
	hu_dd r = !(y.h <= 0) ? a : b;

	if (y.h != y.h || (y.e != 0 && !(fabs(y.h) > y.e)))
		r.e = (a.e + b.e + (fabs(a.h - b.h) + fabs(a.l) + fabs(b.l))) * (1 + 0x1p-48);
	return r;
}

/* Elementary functions (dd.c, dd_erf.c): the error is about 2^-95, relative for exp, log and the sigmoid, absolute for
   erf and tanh. */
hu_dd hu_dd_exp(hu_dd a);
hu_dd hu_dd_log(hu_dd a);
hu_dd hu_dd_erf(hu_dd a);
hu_dd hu_dd_tanh(hu_dd a);
hu_dd hu_dd_sigmoid(hu_dd a);

hu_dd hu_dd_expm1(hu_dd a);
hu_dd hu_dd_log1p(hu_dd a);
hu_dd hu_dd_rsqrt(hu_dd a);
/* a^b; it says nothing if a is not positive, unless b is a whole number up to 64. */
hu_dd hu_dd_pow(hu_dd a, hu_dd b);

/* Sine and cosine (dd_turn.c); they say nothing beyond 2^20 quarter turns. */
hu_dd hu_dd_sin(hu_dd a);
hu_dd hu_dd_cos(hu_dd a);
/* The angle of the point (x, y) (dd_turn.c); it says nothing where the errors of both leave open on which side of the
   negative half of the x axis the point is, nor of coordinates below 2^-700 (or 2^-900, beside none above 2^900). */
hu_dd hu_dd_atan2(hu_dd y, hu_dd x);

/* Steps and comparisons (dd_step.c): exact, or an enclosure of all values that the operands' errors leave open. */
hu_dd hu_dd_rint(hu_dd a);
hu_dd hu_dd_floor(hu_dd a);
hu_dd hu_dd_ceil(hu_dd a);
hu_dd hu_dd_sign(hu_dd a);
hu_dd hu_dd_less(hu_dd a, hu_dd b);
hu_dd hu_dd_equal(hu_dd a, hu_dd b);

/* A mathematical constant that h + l approximates to within an ulp of l. */
HU_DD hu_dd hu_dd_literal2(double h, double l) { return (hu_dd){ h, l, fabs(l) * 0x1p-52 }; }
HU_DD hu_dd hu_dd_literal(double x) { return hu_dd_of(x); }

/* A call's constants in this numeric type. */
enum { HU_DD_CONSTANTS = 12 };
typedef struct hu_ctx_dd { hu_dd k[HU_DD_CONSTANTS]; } hu_ctx_dd;
#endif
