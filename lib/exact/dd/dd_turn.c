/* SPDX-License-Identifier: Apache-2.0
   Sine and cosine of double-doubles, from their additions and products alone: the operand less quarter turns, then the
   Taylor series. The error bound is that of those operations, plus what the series omits. */
#include "lib/exact/dd/dd.h"

/* The operand less k quarter turns, *k to be taken modulo 4; pi / 2 is the sum of four doubles, the products of whose
   first three with k are exact. The operand's own error is left out. */
static hu_dd
less_turns(hu_dd a, int *k)
{
	double turns = rint(a.h * 0x1.45f306dc9c883p-1);
	hu_dd r = { a.h, a.l, 0 };

	if (!(fabs(turns) < 0x1p20))
		return (hu_dd){ 0, 0, INFINITY };
	*k = (int)turns;
	r = hu_dd_sub(r, hu_dd_mul(hu_dd_of(turns), hu_dd_of(0x1.921fb54442d18p+0)));
	r = hu_dd_sub(r, hu_dd_mul(hu_dd_of(turns), hu_dd_of(0x1.1a62633145c07p-54)));
	a = hu_dd_literal2(-0x1.f1976b7ed8fbcp-110, 0x1.4cf98e804177dp-164);
	return hu_dd_sub(r, hu_dd_mul(hu_dd_of(turns), a));
}

/* T - t r^2 / (first (first + 1)) + ..., where each term's divisor goes on counting. Terms alternate and fall, since
   |r| < 0.79, so that what is omitted is below the last one. */
static hu_dd
series(hu_dd t, hu_dd r, int first)
{
	hu_dd sum = t, rr = hu_dd_neg(hu_dd_mul(r, r));

	for (int i = first; i < first + 40; i += 2) {
		t = hu_dd_div(hu_dd_mul(t, rr), hu_dd_of((double)i * (i + 1)));
		sum = hu_dd_add(sum, t);
		if (fabs(t.h) <= 0x1p-115 * fabs(sum.h))
			break;
	}
	sum.e += fabs(t.h) + t.e + (t.h != 0 ? 0x1p-1070 : 0);
	return sum;
}

/* The sine of a plus QUARTERS quarter turns. The slope is at most 1. */
static hu_dd
turned(hu_dd a, int quarters)
{
	int k = 0;
	hu_dd r = less_turns(a, &k), y;

	if (!(fabs(r.h) < 0.79) || !(r.e < 1))
		return (hu_dd){ 0, 0, INFINITY };
	k += quarters;
	y = k & 1 ? series(hu_dd_of(1), r, 1) : series(r, r, 2);
	y.e += a.e;
	return k & 2 ? hu_dd_neg(y) : y;
}

hu_dd
hu_dd_sin(hu_dd a)
{
	return a.h == 0 && a.l == 0 && a.e == 0 ? a : turned(a, 0);
}

hu_dd
hu_dd_cos(hu_dd a)
{
	return a.h == 0 && a.l == 0 && a.e == 0 ? hu_dd_of(1) : turned(a, 1);
}
