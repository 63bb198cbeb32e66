/* SPDX-License-Identifier: Apache-2.0
   Elementary functions of a double, made of +, -, *, /, sqrt and bit operations without fma and libm, so that host
   and device give the same bits (the compiler must not contract a*b+c on either). The relative error is at most
   HU_ELEMENTARY_ERROR where the result is normal; where it is subnormal, the error may be 2^-1074 more. A NaN gives
   the one quiet NaN. Correct rounding is not promised. */
#ifndef HU_NUMBER_ELEMENTARY_H
#define HU_NUMBER_ELEMENTARY_H

#include "lib/number/round.h"

#include <math.h>

/* 8 units roundoff of 2^-53. The longest computation below (erfc) stays under 6; t/number/u-elementary.c measures
   it. */
#define HU_ELEMENTARY_ERROR 0x1p-50

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

/* erf(x) for |x| <= 1 by its Taylor series up to x^35, which leaves 2^-57. */
HU_HD double
hu_erf_small(double x)
{
	double z = x * x, r;

	r = -0x1.a2007af3447f6p-54;
	r = r * z + 0x1.d70b3537f4765p-50;
	r = r * z - 0x1.f56f071a885cfp-46;
	r = r * z + 0x1.f683ae4a97007p-42;
	r = r * z - 0x1.d8453cb0c46eap-38;
	r = r * z + 0x1.9e6ad5e55a730p-34;
	r = r * z - 0x1.51d7181c5d36dp-30;
	r = r * z + 0x1.fcc5720624c1cp-27;
	r = r * z - 0x1.5f742ec43e71ap-23;
	r = r * z + 0x1.b9e6c9dc651a3p-20;
	r = r * z - 0x1.f4d25c3e0c2ebp-17;
	r = r * z + 0x1.f9a326f9b89b7p-14;
	r = r * z - 0x1.c02db40040b86p-11;
	r = r * z + 0x1.565bcd0e6a53fp-8;
	r = r * z - 0x1.b82ce31288b51p-6;
	r = r * z + 0x1.ce2f21a042be2p-4;
	r = r * z - 0x1.812746b0379e7p-2;
	r = r * z + 0x1.20dd750429b6dp+0;
	return x * r;
}

/* erfc(x) for 0.5 <= x <= 28. (1 + 2x) exp(x^2) erfc(x) is near 1 and smooth in t = (x - 3.75) / (x + 3.75)
   (Shepherd and Laframboise, Math. Comp. 36, 1981); its polynomial interpolates at 22 Chebyshev points of |t| <=
   0.77 and leaves 2^-57. x^2 is split: the square of x's first 26 bits is exact, and the rest goes into exp's second
   argument. */
HU_HD double
hu_erfc_large(double x)
{
	double t = (x - 3.75) / (x + 3.75), head = hu_from_bits64(hu_bits64(x) & 0xfffffffff8000000u), p, r;
	int k;

	p = hu_exp_parts(-(head * head), -((x - head) * (x + head)), &k);
	r = -0x1.8634d93b5651fp-29;
	r = r * t + 0x1.a4579d3ea4676p-26;
	r = r * t + 0x1.7db1b167cc422p-26;
	r = r * t - 0x1.01b9414ff4056p-22;
	r = r * t - 0x1.e6b66d82ac25cp-25;
	r = r * t + 0x1.d263b00f1f414p-20;
	r = r * t - 0x1.055b0434af92bp-20;
	r = r * t - 0x1.7fc63d5f259b5p-17;
	r = r * t + 0x1.778b3591780f1p-16;
	r = r * t + 0x1.b13f1f4e26131p-15;
	r = r * t - 0x1.303fa0f511957p-12;
	r = r * t + 0x1.33fb459ad9d88p-12;
	r = r * t + 0x1.cc3a0e3d88adcp-10;
	r = r * t - 0x1.3f603c551d3aap-7;
	r = r * t + 0x1.d0b0037dac44dp-6;
	r = r * t - 0x1.e0d0fa6d631c1p-5;
	r = r * t + 0x1.7a14188a9a00fp-4;
	r = r * t - 0x1.bda9309a2b86cp-4;
	r = r * t + 0x1.510169d0967f1p-4;
	r = r * t + 0x1.d5f294815b3d1p-9;
	r = r * t - 0x1.1f367683f89a7p-3;
	r = r * t + 0x1.3ccda0b5d5dc2p+0;
	return hu_scale2(r / (1 + 2 * x) * (1 + p), k);
}

/* The error function; -0 gives -0. */
HU_HD double
hu_erf(double x)
{
	double a = x < 0 ? -x : x, r;

	if (hu_isnan(x))
		return hu_nan();
	if (a <= 1)
		return hu_erf_small(x);
	r = a > 6 ? 1 : 1 - hu_erfc_large(a); /* erfc(6) < 2^-55 */
	return x < 0 ? -r : r;
}

/* 1 - erf(x), without cancellation for large x. */
HU_HD double
hu_erfc(double x)
{
	if (hu_isnan(x))
		return hu_nan();
	if (x < 0.5)
		return x < -6 ? 2 : x < -1 ? 2 - hu_erfc_large(-x) : 1 - hu_erf_small(x);
	return x > 28 ? 0 : hu_erfc_large(x); /* erfc(28) < 2^-1138 */
}

/* The same for floats: the double result, rounded. */
/* The whole number nearest to x, ties to the even one; the largest one not above x; the smallest one not below x. All
   keep x's sign, also in a result of 0. */
HU_HD double
hu_rint(double x)
{
	double a = x < 0 ? -x : x, r;

	if (!(a < 0x1p52) || x == 0)
		return x;
	r = (a + 0x1p52) - 0x1p52;
	return x < 0 ? -r : r;
}

HU_HD double
hu_floor(double x)
{
	double r = hu_rint(x);

	return r > x ? r - 1 : r;
}

HU_HD double
hu_ceil(double x)
{
	double r = hu_rint(x);

	return !(r < x) ? r : r == -1 ? -0.0 : r + 1;
}

/* 1, -1, or x itself where it is 0 or NaN. */
HU_HD double hu_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/* 2^-39: exp(y log x) multiplies the logarithm's relative error of 2^-50 by up to 746, and by less than 2^10 with the
   roundings of the product. */
#define HU_POW_ERROR 0x1p-39

/* x^n for whole n by repeated squaring; at most 14 roundings up to n = 64. */
HU_HD double
hu_pow_whole(double x, int n)
{
	double y = 1;

	for (; n; n /= 2, x *= x)
		if (n & 1)
			y *= x;
	return y;
}

/* x^y with the special values of IEEE 754 (pow): 1 for y = 0 and for x = 1 even if the other is NaN; NaN for negative x
   unless y is a whole number. The relative error is at most HU_POW_ERROR, and 2^-1070 more where the result is
   subnormal. */
HU_HD double
hu_pow(double x, double y)
{
	double a = x < 0 ? -x : x, b = y < 0 ? -y : y, r;
	int whole = hu_rint(y) == y, odd = whole && b < 0x1p53 && (long long)b % 2 == 1;

	if (y == 0 || x == 1)
		return 1;
	if (hu_isnan(x) || hu_isnan(y) || (x < 0 && !whole && a != hu_inf(0)))
		return hu_nan();
	if (a == 1 || a == 0 || a == hu_inf(0) || b == hu_inf(0))
		r = a == 1 ? 1 : (a > 1) == (y > 0) ? hu_inf(0) : 0;
	else if (whole && b <= 64 && (r = hu_pow_whole(a, (int)b)) > 0x1p-1000 && r < 0x1p1000)
		r = y < 0 ? 1 / r : r;
	else
		r = hu_exp(y * hu_log(a));
	return odd && hu_bits64(x) >> 63 ? -r : r;
}

HU_HD float hu_rint_f32(float x) { return (float)hu_rint((double)x); }
HU_HD float hu_floor_f32(float x) { return (float)hu_floor((double)x); }
HU_HD float hu_ceil_f32(float x) { return (float)hu_ceil((double)x); }
HU_HD float hu_sign_f32(float x) { return (float)hu_sign((double)x); }
HU_HD float hu_pow_f32(float x, float y) { return (float)hu_pow((double)x, (double)y); }
HU_HD float hu_exp_f32(float x) { return (float)hu_exp((double)x); }
HU_HD float hu_expm1_f32(float x) { return (float)hu_expm1((double)x); }
HU_HD float hu_log_f32(float x) { return (float)hu_log((double)x); }
HU_HD float hu_log1p_f32(float x) { return (float)hu_log1p((double)x); }
HU_HD float hu_tanh_f32(float x) { return (float)hu_tanh((double)x); }
HU_HD float hu_sigmoid_f32(float x) { return (float)hu_sigmoid((double)x); }
HU_HD float hu_rsqrt_f32(float x) { return (float)hu_rsqrt((double)x); }
HU_HD float hu_erf_f32(float x) { return (float)hu_erf((double)x); }
HU_HD float hu_erfc_f32(float x) { return (float)hu_erfc((double)x); }
#endif
