/* SPDX-License-Identifier: Apache-2.0
   Double-double numbers with a running error bound: the carrier of certified values. Every
   operation adds what it may itself have lost to what its operands were off by, so that no
   analysis beyond the single operation is needed, and an exact result keeps the bound 0. */
#ifndef HU_OP_DD_H
#define HU_OP_DD_H

#include "lib/base/inline.h"
#include "lib/number/round.h"

#include <math.h>

/* The value meant lies within E of H + L; H = RN(H + L). E = +Inf, or any part that is not finite,
   says nothing: whoever reads one asks MPFR. Operations do so by themselves where double's range ends. */
typedef struct hu_dd { double h, l, e; } hu_dd;

#define HU_DD HU_INLINE

HU_DD hu_dd hu_dd_of(double x) { return (hu_dd){ x, 0, 0 }; }

/* s + *t = a + b (Knuth), any order of magnitudes. */
HU_DD double
hu_dd_sum(double a, double b, double *t)
{
	double s = a + b, z = s - a;

	*t = (a - (s - z)) + (b - z);
	return s;
}

/* p + *t = a b, unless p or t underflows or |a|, |b| > 2^995 (*t is then NaN): Dekker's product with
   Veltkamp's splitting where the processor has no fma; both give the same *t. */
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

/* h + v as a normal pair. Roundings of E's own sums: at most ten, each 2^-53. */
HU_DD hu_dd
hu_dd_made(double h, double v, double e)
{
	hu_dd r;

	r.h = hu_dd_sum(h, v, &r.l);
	r.e = e * (1 + 0x1p-48);
	return r;
}

/* What the additions u = a.l + b.l and v = t + u may lose is 2^-53 of their results: 2^-52 covers
   the roundings of this estimate too. Subnormal sums are exact, and then the estimate may be 0. */
HU_DD hu_dd
hu_dd_add(hu_dd a, hu_dd b)
{
	double t, s = hu_dd_sum(a.h, b.h, &t), u = a.l + b.l, v = t + u;

	return hu_dd_made(s, v, a.e + b.e + (u != 0 ? 0x1p-52 * (fabs(u) + fabs(v)) : 0));
}

HU_DD hu_dd
hu_dd_neg(hu_dd a)
{
	return (hu_dd){ -a.h, -a.l, a.e };
}

HU_DD hu_dd hu_dd_sub(hu_dd a, hu_dd b) { return hu_dd_add(a, hu_dd_neg(b)); }

/* The four partial products but a.l b.l, which is part of the bound. An underflow anywhere loses
   less than 2^-1070, counted wherever a product is small or has low parts, and neither factor is 0: an exact 0 gives
   one. */
HU_DD hu_dd
hu_dd_mul(hu_dd a, hu_dd b)
{
	double r, p = hu_dd_product(a.h, b.h, &r), x = a.h * b.l, y = a.l * b.h, t = x + y, v = r + t, e;
	int some = a.h != 0 && b.h != 0, off = (a.e != 0 && (b.h != 0 || b.e != 0)) || (b.e != 0 && a.h != 0);

	e = 0x1p-52 * (fabs(x) + fabs(y) + fabs(t)) + fabs(a.l * b.l);
	e += some && (a.l != 0 || b.l != 0) ? 0x1p-52 * fabs(v) + 0x1p-1070 : 0;
	e += some && fabs(p) < 0x1p-960 ? 0x1p-1070 : 0;
	e += fabs(a.h) * b.e + fabs(b.h) * a.e + a.e * b.e + (off ? 0x1p-1070 : 0);
	return hu_dd_made(p, v, e);
}

/* Two steps of long division; the bound is the remainder's: a/b - q = (a - q b) / b. */
HU_DD hu_dd
hu_dd_div(hu_dd a, hu_dd b)
{
	double q1 = a.h / b.h, q2, gap = fabs(b.h) * (1 - 0x1p-50) - b.e;
	hu_dd r = hu_dd_sub((hu_dd){ a.h, a.l, 0 }, hu_dd_mul(hu_dd_of(q1), (hu_dd){ b.h, b.l, 0 })), q;

	q2 = r.h / b.h;
	q.h = hu_dd_sum(q1, q2, &q.l);
	q.e = 0;
	r = hu_dd_sub(a, hu_dd_mul(q, b));
	q.e = fabs(r.h) + fabs(r.l) + r.e;
	q.e = q.e == 0 && gap > 0 ? 0 : gap > 0 ? q.e / gap * (1 + 0x1p-48) + 0x1p-1070 : INFINITY;
	return q;
}

/* The value meant is not negative. One step of Newton; |sqrt(a) - s| = |a - s^2| / (sqrt(a) + s).
   Selections and no branches, so that loops become vectors. */
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
	/* of the root taken, and of the value meant: |sqrt(x) - sqrt(a)| <= |x - a| / sqrt(a), and <= sqrt(|x - a|) */
	s.e = fabs(r.h) + fabs(r.l) + r.e;
	near = a.e / s.h * (1 + 0x1p-48);
	far = sqrt(a.e) * (1 + 0x1p-48);
	s.e = (s.e == 0 ? 0 : s.e / s.h * (1 + 0x1p-48) + 0x1p-1070) +
	      (a.e == 0 ? 0 : (near < far ? near : far) + 0x1p-1070);
	zero = most >= 0 ? sqrt(fabs(a.h) + a.e) * (1 + 0x1p-48) : INFINITY; /* of a value that may be 0 */
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

/* |min(a, b) - min(a', b')| is at most the larger of |a - a'| and |b - b'|. */
HU_DD hu_dd
hu_dd_min(hu_dd a, hu_dd b)
{
	hu_dd r = b.h < a.h || (b.h == a.h && b.l < a.l) ? b : a;

	r.e = a.e < b.e ? b.e : a.e;
	if (!(a.h - b.h < INFINITY && b.h - a.h < INFINITY)) /* a NaN, or an infinity among them */
		r.e = INFINITY;
	return r;
}

/* y <= 0 ? b : a where the sign of y is certain, else an enclosure of both: a NaN may be what an operation on an
   infinity left. */
HU_DD hu_dd
hu_dd_pick(hu_dd y, hu_dd a, hu_dd b)
{
	hu_dd r = !(y.h <= 0) ? a : b;

	if (y.h != y.h || (y.e != 0 && !(fabs(y.h) > y.e)))
		r.e = (a.e + b.e + (fabs(a.h - b.h) + fabs(a.l) + fabs(b.l))) * (1 + 0x1p-48);
	return r;
}

/* Elementary functions (dd.c): about 2^-95 relatively for exp, log and the sigmoid, absolutely for erf and tanh. */
hu_dd hu_dd_exp(hu_dd a);
hu_dd hu_dd_log(hu_dd a);
hu_dd hu_dd_erf(hu_dd a);
hu_dd hu_dd_tanh(hu_dd a);
hu_dd hu_dd_sigmoid(hu_dd a);

/* The mathematical constant that H + L approximates: within an ulp of L. */
HU_DD hu_dd hu_dd_literal2(double h, double l) { return (hu_dd){ h, l, fabs(l) * 0x1p-52 }; }
HU_DD hu_dd hu_dd_literal(double x) { return hu_dd_of(x); }

/* A call's constants in this carrier. */
enum { HU_DD_CONSTANTS = 12 };
typedef struct hu_ctx_dd { hu_dd k[HU_DD_CONSTANTS]; } hu_ctx_dd;
#endif
