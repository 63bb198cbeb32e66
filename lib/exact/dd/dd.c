/* SPDX-License-Identifier: Apache-2.0
   Elementary functions of double-doubles, from their additions and products alone. The error bound is that of those
   operations, plus what a series omits and what the argument's own error causes. */
#include "lib/exact/dd/dd.h"

#include "lib/exact/dd/dd_exp.h"
#include "lib/number/elementary/elementary.h"

static hu_dd
unknown(void)
{
	return (hu_dd){ 0, 0, INFINITY };
}

/* exp(a) = 2^k 2^(i/256) exp(r) with a = (256 k + i) ln 2 / 256 + r, |r| < 2^-9, where ln 2 / 256 is a double-double
   with a third double behind it. exp(r) - 1 = r + r^2 (1/2 + r (1/6 + r (1/24 + r q))), whose q is plain doubles. */
hu_dd
hu_dd_exp(hu_dd a)
{
	double n = rint(a.h * HU_DD_EXP_PER_STEP), k = rint(n * (1.0 / HU_DD_EXP_STEPS)), tail = hu_dd_exp_tail[0];
	hu_dd r, p;

	if (a.h == 0 && a.l == 0 && a.e == 0)
		return hu_dd_of(1);
	if (hu_dd_endless(a))
		return a.h > 0 ? a : hu_dd_of(0);
	if (a.h + a.e < -740 && a.h > -INFINITY) /* below 2^-1060, whatever the error of a */
		return (hu_dd){ 0, 0, 0x1p-1060 };
	if (!(a.e <= 0x1p-11) || !(a.h < 700))
		return unknown();
	r = hu_dd_sub(a, hu_dd_mul(hu_dd_of(n), hu_dd_of(0x1.62e42fefa39efp-9)));
	r = hu_dd_sub(r, hu_dd_mul(hu_dd_of(n), hu_dd_of(0x1.abc9e3b39803fp-64)));
	r = hu_dd_sub(r, hu_dd_mul(hu_dd_of(n), hu_dd_literal2(0x1.7b57a079a1934p-119, 0x1p-172)));
	if (!(fabs(r.h) < 0x1.8p-10))
		return unknown();
	for (int i = 1; i < HU_DD_EXP_TAIL; i++)
		tail = tail * r.h + hu_dd_exp_tail[i];
	p = (hu_dd){ tail, 0, HU_DD_EXP_OFF + r.e * HU_DD_EXP_SLOPE };
	for (int i = 0; i < HU_DD_EXP_PAIRS; i++)
		p = hu_dd_add(hu_dd_mul(p, r), hu_dd_literal2(hu_dd_exp_series[i][0], hu_dd_exp_series[i][1]));
	p = hu_dd_mul(p, r);
	p.e += HU_DD_EXP_OMITTED;
	const hu_dd *t = &hu_dd_exp_table()[HU_DD_EXP_STEPS / 2 + (int)(n - k * HU_DD_EXP_STEPS)];
	p = hu_dd_add(*t, hu_dd_mul(*t, p));
	/* Exact unless it becomes subnormal; there are two factors because k may exceed double's exponents. */
	double half = hu_pow2((int)(k / 2)), rest = hu_pow2((int)k - (int)(k / 2));
	return (hu_dd){ p.h * half * rest, p.l * half * rest,
		p.e * half * rest * (1 + 0x1p-48) + (k < -900 ? 0x1p-1070 : 0) };
}

/* log(a) = y + log(1 + z), where y is a double near it and z = a exp(-y) - 1, |z| < 2^-40. The series z - z^2/2 + z^3/3
   omits less than z^4. */
hu_dd
hu_dd_log(hu_dd a)
{
	hu_dd z, s, c;

	if (a.h == 0 && a.l == 0 && a.e == 0)
		return hu_dd_of(-INFINITY);
	if (a.h == INFINITY && hu_dd_endless(a))
		return a;
	if (!(a.h - (fabs(a.l) + a.e) > 0) || !(a.h < 0x1p1000) || !(a.h > 0x1p-900))
		return unknown();
	double y = hu_log(a.h);
	z = hu_dd_sub(hu_dd_mul(a, hu_dd_exp(hu_dd_of(-y))), hu_dd_of(1));
	double most = fabs(z.h) + fabs(z.l) + z.e;
	if (!(most < 0x1p-20))
		return unknown();
	s = hu_dd_mul(z, z);
	c = hu_dd_mul(s, hu_dd_mul(z, hu_dd_literal2(0x1.5555555555555p-2, 0x1.5555555555555p-56)));
	s = hu_dd_add(hu_dd_sub(z, (hu_dd){ s.h / 2, s.l / 2, s.e / 2 + 0x1p-1070 }), c);
	s.e += most * most * most * most * (1 + 0x1p-40) + (most != 0 ? 0x1p-1070 : 0);
	return hu_dd_add(hu_dd_of(y), s);
}

/* (1 - u) / (1 + u) with u = exp(-2|x|). The slope is at most 1. */
hu_dd
hu_dd_tanh(hu_dd a)
{
	double sign = a.h < 0 ? -1 : 1;
	hu_dd u, t;

	if (hu_dd_endless(a))
		return hu_dd_of(sign);
	if (!(fabs(a.h) < INFINITY))
		return unknown();
	if (fabs(a.h) > 50) /* 2 exp(-100) < 2^-143 */
		return (hu_dd){ sign, 0, 0x1p-140 + a.e };
	if (a.h == 0 && a.l == 0 && a.e == 0)
		return a;
	u = hu_dd_exp((hu_dd){ -2 * sign * a.h, -2 * sign * a.l, 0 });
	t = hu_dd_div(hu_dd_sub(hu_dd_of(1), u), hu_dd_add(hu_dd_of(1), u));
	return (hu_dd){ sign * t.h, sign * t.l, t.e * (1 + 0x1p-48) + a.e };
}

/* u / (1 + u) below 0 and 1 / (1 + u) above, with u = exp(-|x|). */
hu_dd
hu_dd_sigmoid(hu_dd a)
{
	hu_dd u;

	if (hu_dd_endless(a))
		return hu_dd_of(a.h > 0);
	if (!(fabs(a.h) < INFINITY))
		return unknown();
	u = hu_dd_exp(a.h < 0 ? a : hu_dd_neg(a));
	return hu_dd_div(a.h < 0 ? u : hu_dd_of(1), hu_dd_add(hu_dd_of(1), u));
}
