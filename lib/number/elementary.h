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

/* sin(r) and cos(r) for |r| <= 0.786: Taylor polynomials up to r^17 and r^18, which leave 2^-62 and 2^-58. cos is taken
   from 1 in two parts, so that the large one is rounded once. */
HU_HD double
hu_sin_small(double r)
{
	double z = r * r, s;

	s = 1.0 / 355687428096000;
	s = 1.0 / 1307674368000 - s * z;
	s = 1.0 / 6227020800 - s * z;
	s = 1.0 / 39916800 - s * z;
	s = 1.0 / 362880 - s * z;
	s = 1.0 / 5040 - s * z;
	s = 1.0 / 120 - s * z;
	s = 1.0 / 6 - s * z;
	return r - r * z * s;
}

HU_HD double
hu_cos_small(double r)
{
	double z = r * r, h = 0.5 * z, w = 1 - h, s;

	s = 1.0 / 6402373705728000;
	s = 1.0 / 20922789888000 - s * z;
	s = 1.0 / 87178291200 - s * z;
	s = 1.0 / 479001600 - s * z;
	s = 1.0 / 3628800 - s * z;
	s = 1.0 / 40320 - s * z;
	s = 1.0 / 720 - s * z;
	s = 1.0 / 24 - s * z;
	return w + (((1 - w) - h) + z * z * s);
}

/* Word I of the fraction of 2 / pi, 32 bits each, from the left; 0 beyond what a double's exponent reaches. */
HU_HD uint32_t
hu_two_over_pi(int i)
{
	const uint32_t word[] = {
		0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
		0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
		0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
		0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
		0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
		0x1f8d5d08u, 0x56033046u,
	};

	return i >= 0 && i < (int)(sizeof word / sizeof *word) ? word[i] : 0;
}

/* x = n pi / 2 + r, |r| <= pi / 4, for finite x of at least 2^-1: sets *r and returns n mod 4. The method is Payne and
   Hanek's (1983): x is m 2^e with a whole m < 2^53, bits of 2 / pi worth 4 / m or more only add whole turns, and of the
   rest 192 bits are multiplied, so that 2^-137 of a quarter turn is left out. No double is nearer to a multiple of
   pi / 2 than 2^-62 (Muller, Elementary Functions, chapter 11), so that r is right to 2^-75 before its own rounding. */
HU_HD int
hu_quarter_turns(double x, double *r)
{
	uint64_t u = hu_bits64(x), m = (u & 0xfffffffffffffu) | 0x10000000000000u, sum;
	int e = (int)(u >> 52 & 0x7ff) - 1075, from = e - 2, word, shift, n;
	uint32_t w[7], p[6];
	double f = 0;

	/* Bit i, from 0, of 2 / pi is worth 2^(-i - 1): the first one kept has m 2^e 2^(-i - 1) = 2 m. */
	word = (from + 64) / 32 - 2;
	shift = from - 32 * word;
	for (int i = 0; i < 7; i++)
		w[i] = hu_two_over_pi(word + i);
	for (int i = 0; i < 6; i++) /* the least significant first */
		p[5 - i] = shift ? w[i] << shift | w[i + 1] >> (32 - shift) : w[i];
	/* p becomes the product with m, modulo 2^192 */
	sum = 0;
	for (int i = 0; i < 6; i++) {
		uint64_t low = (uint64_t)p[i] * (m & 0xffffffffu);
		sum += low;
		w[i] = p[i];
		p[i] = (uint32_t)sum;
		sum >>= 32;
	}
	sum = 0;
	for (int i = 1; i < 6; i++) {
		sum += (uint64_t)w[i - 1] * (m >> 32) + p[i];
		p[i] = (uint32_t)sum;
		sum >>= 32;
	}
	n = (int)(p[5] >> 30);
	p[5] &= 0x3fffffffu;
	int more = p[5] >> 29 & 1; /* the nearer multiple is the next one */
	for (int i = 0; i < 6; i++) /* what lacks to it, but for 2^-190 */
		p[i] = more ? ~p[i] : p[i];
	p[5] &= 0x3fffffffu;
	for (int i = 0; i < 6; i++)
		f = f * 0x1p-32 + (double)p[i];
	f *= 0x1.921fb54442d18p+0 * 0x1p-30;
	n += more;
	f = more ? -f : f;
	if (u >> 63) {
		n = -n;
		f = -f;
	}
	*r = f;
	return n & 3;
}

/* The sine; -0 gives -0, and an infinity NaN. */
HU_HD double
hu_sin(double x)
{
	double a = x < 0 ? -x : x, r;
	int n;

	if (!hu_isfinite(x))
		return hu_nan();
	if (a < 0x1p-27) /* x^2 / 6 < 2^-56 */
		return x;
	if (a < 0.785)
		return hu_sin_small(x);
	n = hu_quarter_turns(x, &r);
	r = n & 1 ? hu_cos_small(r) : hu_sin_small(r);
	return n & 2 ? -r : r;
}

HU_HD double
hu_cos(double x)
{
	double a = x < 0 ? -x : x, r;
	int n;

	if (!hu_isfinite(x))
		return hu_nan();
	if (a < 0.785)
		return hu_cos_small(x);
	n = hu_quarter_turns(a, &r);
	r = n & 1 ? -hu_sin_small(r) : hu_cos_small(r);
	return n & 2 ? -r : r;
}

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
HU_HD float hu_sin_f32(float x) { return (float)hu_sin((double)x); }
HU_HD float hu_cos_f32(float x) { return (float)hu_cos((double)x); }
HU_HD float hu_erfc_f32(float x) { return (float)hu_erfc((double)x); }
#endif
