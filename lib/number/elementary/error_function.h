/* SPDX-License-Identifier: Apache-2.0
   erf and erfc of a double; lib/number/elementary/elementary.h tells their error and their rules. */
#ifndef HU_NUMBER_ELEMENTARY_ERROR_FUNCTION_H
#define HU_NUMBER_ELEMENTARY_ERROR_FUNCTION_H

#include "lib/number/elementary/exponential.h"

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
   argument. Returns erfc(x) / 2^k, a number of [2^-60, 2], and sets *k. */
HU_HD double
hu_error_function_tail(double x, int *k)
{
	double t = (x - 3.75) / (x + 3.75), head = hu_from_bits64(hu_bits64(x) & 0xfffffffff8000000u), p, r;

	p = hu_exp_parts(-(head * head), -((x - head) * (x + head)), k);
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
	return r / (1 + 2 * x) * (1 + p);
}

/* erfc(x) for 0.5 <= x <= 28. */
HU_HD double
hu_erfc_large(double x)
{
	int k;
	double r = hu_error_function_tail(x, &k);

	return hu_scale2(r, k);
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
#endif
