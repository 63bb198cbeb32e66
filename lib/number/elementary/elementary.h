/* SPDX-License-Identifier: Apache-2.0
   Elementary functions of a double, made of +, -, *, /, sqrt and bit operations without fma and libm, so that host
   and device give the same bits (the compiler must not contract a*b+c on either). The relative error is at most
   HU_ELEMENTARY_ERROR where the result is normal; where it is subnormal, the error may be 2^-1074 more. A NaN gives
   the one quiet NaN. Correct rounding is not promised. */
#ifndef HU_NUMBER_ELEMENTARY_H
#define HU_NUMBER_ELEMENTARY_H

#include "lib/number/elementary/error_function.h"
#include "lib/number/elementary/exponential.h"
#include "lib/number/elementary/trigonometric.h"
#include "lib/number/elementary/whole.h"

/* 8 units roundoff of 2^-53. The longest computation below (erfc) stays under 6; t/number/elementary/u-elementary.c
   measures it. */
#define HU_ELEMENTARY_ERROR 0x1p-50

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

/* The same for floats: the double result, rounded. */
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
HU_HD float hu_atan2_f32(float y, float x) { return (float)hu_atan2((double)y, (double)x); }
HU_HD float hu_erfc_f32(float x) { return (float)hu_erfc((double)x); }
#endif
