/* SPDX-License-Identifier: Apache-2.0
   exp, expm1, log, log1p, tanh, sigmoid and 1 / sqrt of a double; lib/number/elementary/elementary.h tells their error
   and their rules. */
#ifndef HU_NUMBER_ELEMENTARY_EXPONENTIAL_H
#define HU_NUMBER_ELEMENTARY_EXPONENTIAL_H

#include "lib/number/round.h"

#include <math.h>

/* Returns v * 2^k, rounded once, for |v| in [2^-60, 2^60] and any k. */
HU_HD double
hu_scale2(double v, int k)
{
	if (k > 1200)
		k = 1200;
	if (k < -1200)
		k = -1200;
	if (k > 900) /* 2^k alone may overflow */
		return v * hu_pow2(k - 600) * 0x1p600;
	if (k < -900) /* the first product is normal and exact, the second rounds */
		return v * hu_pow2(k + 600) * 0x1p-600;
	return v * hu_pow2(k);
}

/* exp(a + b) = 2^k (1 + p) for |a| < 800 and |b| < 2^-10: sets *k and returns p. ln 2 is split in two, the first
   part having 32 bits, so that its product with k is exact. The rest is a Taylor polynomial of degree 14, which
   leaves 0.35^15 / 15! < 2^-62 for arguments up to 0.35. */
HU_HD double
hu_exp_parts(double a, double b, int *k)
{
	double n = (a * 0x1.71547652b82fep+0 + 0x1.8p52) - 0x1.8p52, x, r;

	*k = (int)n;
	x = (a - n * 0x1.62e42feep-1) - (n * 0x1.a39ef35793c76p-33 - b);
	r = 1.0 / 87178291200;
	r = r * x + 1.0 / 6227020800;
	r = r * x + 1.0 / 479001600;
	r = r * x + 1.0 / 39916800;
	r = r * x + 1.0 / 3628800;
	r = r * x + 1.0 / 362880;
	r = r * x + 1.0 / 40320;
	r = r * x + 1.0 / 5040;
	r = r * x + 1.0 / 720;
	r = r * x + 1.0 / 120;
	r = r * x + 1.0 / 24;
	r = r * x + 1.0 / 6;
	r = r * x + 0.5;
	return x + x * x * r;
}

/* exp(x): underflow gives 0, overflow infinity. */
HU_HD double
hu_exp(double x)
{
	double p;
	int k;

	if (hu_isnan(x))
		return hu_nan();
	if (x > 710)
		return hu_inf(0);
	if (x < -746)
		return 0;
	p = hu_exp_parts(x, 0, &k);
	return hu_scale2(1 + p, k);
}

/* exp(x) - 1; -0 gives -0. */
HU_HD double
hu_expm1(double x)
{
	double p, s;
	int k;

	if (hu_isnan(x))
		return hu_nan();
	if (x == 0)
		return x;
	if (x < -40) /* exp(-40) < 2^-57 */
		return -1;
	if (x > 40)
		return hu_exp(x);
	p = hu_exp_parts(x, 0, &k);
	if (k == 0)
		return p;
	s = hu_pow2(k);
	return s * p + (s - 1);
}

/* log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)], computed as 2 atanh(s) with s = f / (2 + f), |s| < 0.172. The series
   ends with s^21 and leaves less than 2^-59 of the result. */
HU_HD double
hu_log_near_one(double f)
{
	double s = f / (2 + f), z = s * s, r;

	r = 2.0 / 21;
	r = r * z + 2.0 / 19;
	r = r * z + 2.0 / 17;
	r = r * z + 2.0 / 15;
	r = r * z + 2.0 / 13;
	r = r * z + 2.0 / 11;
	r = r * z + 2.0 / 9;
	r = r * z + 2.0 / 7;
	r = r * z + 2.0 / 5;
	r = r * z + 2.0 / 3;
	return 2 * s + s * z * r;
}

/* The natural logarithm: -Inf for zeros, NaN for negative x. */
HU_HD double
hu_log(double x)
{
	uint64_t u;
	int k = 0;
	double m, l;

	if (hu_isnan(x) || x < 0)
		return hu_nan();
	if (x == 0)
		return hu_inf(1);
	if (!hu_isfinite(x))
		return x;
	if (x < 0x1p-1022) {
		x *= 0x1p54;
		k = -54;
	}
	u = hu_bits64(x);
	k += (int)(u >> 52) - 1023;
	m = hu_from_bits64((u & 0xfffffffffffffu) | 0x3ff0000000000000u);
	if (m > 0x1.6a09e667f3bcdp+0) { /* sqrt 2 */
		m *= 0.5;
		k++;
	}
	l = hu_log_near_one(m - 1);
	return k == 0 ? l : (double)k * 0x1.62e42feep-1 + ((double)k * 0x1.a39ef35793c76p-33 + l);
}

/* log(1 + x): -0 gives -0, -1 gives -Inf, and smaller x give NaN. */
HU_HD double
hu_log1p(double x)
{
	double u, c;

	if (hu_isnan(x) || x < -1)
		return hu_nan();
	if (x == 0 || x == hu_inf(0))
		return x;
	if (x == -1)
		return hu_inf(1);
	if (x > -0.29 && x < 0.41)
		return hu_log_near_one(x);
	u = 1 + x;
	c = x > 1 ? 1 - (u - x) : x - (u - 1); /* the exact rounding error of 1 + x */
	return hu_log(u) + c / u;
}

/* tanh(x); -0 gives -0. */
HU_HD double
hu_tanh(double x)
{
	double a = x < 0 ? -x : x, t, r;

	if (hu_isnan(x))
		return hu_nan();
	if (a < 0x1p-27) /* x^2 / 3 < 2^-55 */
		return x;
	if (a > 22) { /* 2 exp(-44) < 2^-62 */
		r = 1;
	} else {
		t = hu_expm1(2 * a);
		r = a < 1 ? t / (t + 2) : 1 - 2 / (t + 2);
	}
	return x < 0 ? -r : r;
}

/* 1 / (1 + exp(-x)) */
HU_HD double
hu_sigmoid(double x)
{
	double e;

	if (x >= 0)
		return 1 / (1 + hu_exp(-x));
	e = hu_exp(x);
	return e / (1 + e);
}

/* 1 / sqrt(x): an infinity with x's sign for zeros, NaN for negative x. */
HU_HD double
hu_rsqrt(double x)
{
	if (hu_isnan(x) || x < 0)
		return hu_nan();
	return 1 / sqrt(x);
}
#endif
