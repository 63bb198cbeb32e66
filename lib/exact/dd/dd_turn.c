/* SPDX-License-Identifier: Apache-2.0
   Sine, cosine and arc tangent of double-doubles, from their additions and products alone: the operand less quarter
   turns, then the Taylor series. The error bound is that of those operations, plus what the series omits. */
#include "lib/exact/dd/dd.h"

#include "lib/number/elementary/elementary.h"

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

/* A dd times a power of two: exact, unless it leaves double's range. */
static hu_dd
scaled(hu_dd a, double by)
{
	return (hu_dd){ a.h * by, a.l * by, a.e * by };
}

/* The double's angle is turned back: what is left is the arc tangent of r, the remaining point's height over its
   width, which is r - r^3 / 3 to within |r|^5. */
hu_dd
hu_dd_atan2(hu_dd y, hu_dd x)
{
	double width = fabs(x.h), height = fabs(y.h), most = width < height ? height : width;
	double least = most > 0x1p900 ? 0x1p-700 : 0x1p-900; /* smaller coordinates lose bits on the way */
	int open = y.e != 0 && height <= 2 * y.e && x.h <= 2 * x.e,
	    tiny = (height != 0 && height < least) || (width != 0 && width < least);

	if (!(width + height < INFINITY))
		return (hu_dd){ 0, 0, INFINITY };
	if (most == 0 && x.e == 0 && y.e == 0)
		return hu_bits64(x.h) >> 63 || hu_bits64(y.h) >> 63 ? (hu_dd){ 0, 0, INFINITY } : hu_dd_of(0);
	if (open || tiny)
		return (hu_dd){ 0, 0, INFINITY };
	if (y.h == 0 && y.e == 0 && x.h > 2 * x.e)
		return y;
	if (most > 0x1p+900) {
		y = scaled(y, 0x1p-200);
		x = scaled(x, 0x1p-200);
	}
	hu_dd angle = hu_dd_of(hu_atan2(y.h, x.h)), s = hu_dd_sin(angle), c = hu_dd_cos(angle),
	      r = hu_dd_div(hu_dd_sub(hu_dd_mul(y, c), hu_dd_mul(x, s)), hu_dd_add(hu_dd_mul(x, c), hu_dd_mul(y, s))),
	      third = hu_dd_div(hu_dd_mul(r, hu_dd_mul(r, r)), hu_dd_of(3));
	double far = fabs(r.h) + r.e;

	if (!(far < 0.5))
		return (hu_dd){ 0, 0, INFINITY };
	angle = hu_dd_add(angle, hu_dd_sub(r, third));
	angle.e += far * far * far * far * far * (1 + 0x1p-40);
	return angle;
}
