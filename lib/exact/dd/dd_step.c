/* SPDX-License-Identifier: Apache-2.0
   Double-doubles: functions that rise in steps, comparisons, and functions made of those of dd.c. */
#include "lib/exact/dd/dd.h"

#include "lib/number/elementary/elementary.h"

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
		return (hu_dd){ yes, 0, hu_dd_known(a) && hu_dd_known(b) ? 0 : INFINITY };
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
