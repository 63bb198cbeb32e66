/* SPDX-License-Identifier: Apache-2.0
   sin, cos and atan2 of doubles, and the reduction of an argument; lib/number/elementary/elementary.h tells their error
   and their rules. */
#ifndef HU_NUMBER_ELEMENTARY_TRIGONOMETRIC_H
#define HU_NUMBER_ELEMENTARY_TRIGONOMETRIC_H

#include "lib/number/elementary/whole.h"
#include "lib/number/round.h"

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

/* The arc tangent of k / 8. */
HU_HD double
hu_atan_eighth(int k)
{
	const double angle[] = { 0, 0x1.fd5ba9aac2f6ep-4, 0x1.f5b75f92c80ddp-3, 0x1.6f61941e4def1p-2,
		0x1.dac670561bb4fp-2, 0x1.1e00babdefeb4p-1, 0x1.4978fa3269ee1p-1, 0x1.700a7c5784634p-1,
		0x1.921fb54442d18p-1 };

	return angle[k];
}

/* The arc tangent of low / high for 0 <= low <= high, high finite and not 0: that of the nearest eighth c, and that of
   what is left, u = (t - c) / (1 + t c), |u| <= 1/16, by Taylor's polynomial up to u^15, which leaves u 2^-68. */
HU_HD double
hu_atan_small(double low, double high)
{
	double t = low / high, c = hu_floor(8 * t + 0.5), u, z, s;
	int k = (int)c;

	c *= 0.125;
	u = k ? (t - c) / (1 + t * c) : t;
	z = u * u;
	s = 1.0 / 15;
	s = 1.0 / 13 - s * z;
	s = 1.0 / 11 - s * z;
	s = 1.0 / 9 - s * z;
	s = 1.0 / 7 - s * z;
	s = 1.0 / 5 - s * z;
	s = 1.0 / 3 - s * z;
	return hu_atan_eighth(k) + (u - u * z * s);
}

/* The angle of the point (x, y), from -pi to pi, with the special values of IEEE 754 (atan2): -0 is a negative x, and
   of two infinities the angle is that of a diagonal. */
HU_HD double
hu_atan2(double y, double x)
{
	double a = x < 0 ? -x : x, b = y < 0 ? -y : y, low = a < b ? a : b, high = a < b ? b : a, r;

	if (hu_isnan(x) || hu_isnan(y))
		return hu_nan();
	if (low == hu_inf(0))
		low = high = 1;
	else if (high == hu_inf(0))
		low = 0;
	r = high == 0 || low == 0 ? 0 : hu_atan_small(low, high);
	if (b > a) /* the other half of a quarter turn, which is the sum of two doubles */
		r = 0x1.921fb54442d18p+0 - (r - 0x1.1a62633145c07p-54);
	if (hu_bits64(x) >> 63)
		r = 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53);
	return hu_bits64(y) >> 63 ? -r : r;
}
#endif
