/* SPDX-License-Identifier: Apache-2.0
   Double-doubles: infinite operands, functions that rise in steps, comparisons, and functions made of those of dd.c. */
#include "lib/exact/dd/dd.h"

#include "lib/number/elementary/elementary.h"

static int
known(hu_dd a)
{
	return hu_dd_endless(a) || hu_dd_finite(a);
}

/* Whether a is known to be none of 0. */
static int
is_some(hu_dd a)
{
	return hu_dd_endless(a) || (hu_dd_finite(a) && fabs(a.h) > (fabs(a.l) + a.e) * (1 + 0x1p-48));
}

static hu_dd
endless_if(int sure, double x)
{
	return sure ? hu_dd_of(x) : (hu_dd){ NAN, NAN, INFINITY };
}

hu_dd
hu_dd_endless_add(hu_dd a, hu_dd b)
{
	return endless_if((hu_dd_endless(a) || hu_dd_endless(b)) && known(a) && known(b), a.h + b.h);
}

hu_dd
hu_dd_endless_mul(hu_dd a, hu_dd b)
{
	return endless_if((hu_dd_endless(a) || hu_dd_endless(b)) && is_some(a) && is_some(b), a.h * b.h);
}

hu_dd
hu_dd_endless_div(hu_dd a, hu_dd b)
{
	if (hu_dd_endless(b))
		return endless_if(hu_dd_finite(a), 0);
	return endless_if(hu_dd_endless(a) && is_some(b), a.h / b.h);
}

hu_dd
hu_dd_endless_min(hu_dd a, hu_dd b)
{
	hu_dd r = b.h < a.h ? b : a;

	if (!known(a) || !known(b))
		r.e = INFINITY;
	return r;
}

/* The value at h, if the steps at both ends of the enclosure are the same one. */
static hu_dd
step(double (*f)(double), hu_dd a)
{
	double s = a.l == 0 && a.e == 0 ? 0 : (fabs(a.l) + a.e) * (1 + 0x1p-48) + fabs(a.h) * 0x1p-52;
	double v = f(a.h), up = f(a.h + s), down = f(a.h - s);

	if (s == 0)
		return (hu_dd){ v, 0, fabs(v) < INFINITY ? 0 : INFINITY };
	return (hu_dd){ v, 0, up == down ? 0 : fmax(up - v, v - down) };
}

hu_dd hu_dd_rint(hu_dd a) { return step(hu_rint, a); }
hu_dd hu_dd_floor(hu_dd a) { return step(hu_floor, a); }
hu_dd hu_dd_ceil(hu_dd a) { return step(hu_ceil, a); }
hu_dd hu_dd_sign(hu_dd a) { return step(hu_sign, a); }

/* yes if the comparison holds of the values, and unknown if the errors or an infinity leave it open. */
static hu_dd
verdict(hu_dd a, hu_dd b, int yes)
{
	if (hu_dd_endless(a) || hu_dd_endless(b))
		return (hu_dd){ yes, 0, known(a) && known(b) ? 0 : INFINITY };
	hu_dd d = hu_dd_sub(a, b);
	int sure = fabs(d.h) > (fabs(d.l) + d.e) * (1 + 0x1p-48) || (d.h == 0 && d.l == 0 && d.e == 0);

	return (hu_dd){ yes, 0, sure && fabs(d.h) < INFINITY ? 0 : INFINITY };
}

hu_dd hu_dd_less(hu_dd a, hu_dd b) { return verdict(a, b, a.h < b.h || (a.h == b.h && a.l < b.l)); }
hu_dd hu_dd_equal(hu_dd a, hu_dd b) { return verdict(a, b, a.h == b.h && a.l == b.l); }

hu_dd hu_dd_expm1(hu_dd a) { return hu_dd_sub(hu_dd_exp(a), hu_dd_of(1)); }

hu_dd
hu_dd_log1p(hu_dd a)
{
	return a.h == 0 && a.l == 0 && a.e == 0 ? a : hu_dd_log(hu_dd_add(hu_dd_of(1), a));
}

hu_dd hu_dd_rsqrt(hu_dd a) { return hu_dd_div(hu_dd_of(1), hu_dd_sqrt(a)); }

hu_dd
hu_dd_pow(hu_dd a, hu_dd b)
{
	int whole = b.l == 0 && b.e == 0 && hu_rint(b.h) == b.h && fabs(b.h) <= 64;
	hu_dd y = hu_dd_of(1);

	if (!whole)
		return a.h > 0 ? hu_dd_exp(hu_dd_mul(b, hu_dd_log(a))) : (hu_dd){ 0, 0, INFINITY };
	for (int n = (int)fabs(b.h); n; n /= 2, a = hu_dd_mul(a, a))
		if (n & 1)
			y = hu_dd_mul(y, a);
	return b.h < 0 ? hu_dd_div(hu_dd_of(1), y) : y;
}
