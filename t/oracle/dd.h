/* SPDX-License-Identifier: Apache-2.0
   Double-double arithmetic for the tests: a value is hi + lo with |lo| <= ulp(hi) / 2.
   Bounds are relative, u = 2^-53, and hold where nothing under- or overflows
   (Joldes, Muller and Popescu, Tight and rigorous error bounds for basic building
   blocks of double-word arithmetic, ACM TOMS 44, 2017). Inlined into loops that
   the compiler turns into vectors: no branches, fma by the processor where it has one. */
#ifndef HU_T_DD_H
#define HU_T_DD_H

#include "lib/base/inline.h"

#define DD HU_INLINE

typedef struct dd { double hi, lo; } dd;

/* a + b exactly; the fast one needs |a| >= |b| or a = 0. */
DD dd
dd_two_sum(double a, double b)
{
	dd r;
	double t;

	r.hi = a + b;
	t = r.hi - a;
	r.lo = (a - (r.hi - t)) + (b - t);
	return r;
}

DD dd
dd_fast_sum(double a, double b)
{
	dd r;

	r.hi = a + b;
	r.lo = b - (r.hi - a);
	return r;
}

/* a * b exactly. */
DD dd
dd_two_product(double a, double b)
{
	dd r;

	r.hi = a * b;
	r.lo = __builtin_fma(a, b, -r.hi);
	return r;
}

/* Their algorithm 6, AccurateDWPlusDW: 3u^2 / (1 - 4u), whatever the signs. */
DD dd
dd_add(dd a, dd b)
{
	dd s = dd_two_sum(a.hi, b.hi), t = dd_two_sum(a.lo, b.lo);

	s = dd_fast_sum(s.hi, s.lo + t.hi);
	return dd_fast_sum(s.hi, s.lo + t.lo);
}

/* a + b for |b| <= |a| / 2: 9u^2. The low parts' sum, at most 1.5u|a|, and that with
   the high sum's rest, at most 3u|a|, are rounded; and |a| <= 2 |a + b|. */
DD dd
dd_add_small(dd a, dd b)
{
	dd s = dd_fast_sum(a.hi, b.hi);

	return dd_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* Algorithm 11, DWTimesDW2: 5u^2. */
DD dd
dd_mul(dd a, dd b)
{
	dd p = dd_two_product(a.hi, b.hi);

	return dd_fast_sum(p.hi, p.lo + __builtin_fma(a.hi, b.lo, a.lo * b.hi));
}

/* Algorithm 9, DWTimesFP3: 2u^2. */
DD dd
dd_mul_d(dd a, double b)
{
	dd p = dd_two_product(a.hi, b);

	return dd_fast_sum(p.hi, __builtin_fma(a.lo, b, p.lo));
}

/* Algorithm 17, DWDivDW2: 15u^2 + 56u^3. */
DD dd
dd_div(dd a, dd b)
{
	double q = a.hi / b.hi;
	dd p = dd_mul_d(b, q);

	return dd_fast_sum(q, ((a.hi - p.hi) + (a.lo - p.lo)) / b.hi);
}

/* Exact for powers of two. */
DD dd
dd_scale(dd a, double power)
{
	a.hi *= power;
	a.lo *= power;
	return a;
}

DD dd
dd_neg(dd a)
{
	a.hi = -a.hi;
	a.lo = -a.lo;
	return a;
}

DD dd
dd_of(double a)
{
	dd r = { a, 0 };

	return r;
}
#endif
