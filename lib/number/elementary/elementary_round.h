/* SPDX-License-Identifier: Apache-2.0
   Elementary functions rounded to a format in any mode. elementary.h gives a double; rounding that to nearest is
   right for 16-bit formats. In the directed modes it is wrong where the double is a number of the format and the
   exact value is not: exp(2^-60) is 1 in double, and rounding up would leave it 1. Such a double is first moved one
   step toward the exact value. */
#ifndef HU_NUMBER_ELEMENTARY_ROUND_H
#define HU_NUMBER_ELEMENTARY_ROUND_H

#include "lib/number/elementary/elementary.h"

typedef enum hu_elementary {
	HU_ELEMENTARY_EXP,
	HU_ELEMENTARY_EXPM1,
	HU_ELEMENTARY_LOG,
	HU_ELEMENTARY_LOG1P,
	HU_ELEMENTARY_TANH,
	HU_ELEMENTARY_SIGMOID,
	HU_ELEMENTARY_RSQRT,
	HU_ELEMENTARY_ERF,
	HU_ELEMENTARY_ERFC,
	HU_ELEMENTARY_SIN,
	HU_ELEMENTARY_COS,
	HU_ELEMENTARIES
} hu_elementary;

HU_HD double
hu_elementary_value(hu_elementary function, double x)
{
	switch (function) {
	case HU_ELEMENTARY_EXP: return hu_exp(x);
	case HU_ELEMENTARY_EXPM1: return hu_expm1(x);
	case HU_ELEMENTARY_LOG: return hu_log(x);
	case HU_ELEMENTARY_LOG1P: return hu_log1p(x);
	case HU_ELEMENTARY_TANH: return hu_tanh(x);
	case HU_ELEMENTARY_SIGMOID: return hu_sigmoid(x);
	case HU_ELEMENTARY_RSQRT: return hu_rsqrt(x);
	case HU_ELEMENTARY_ERF: return hu_erf(x);
	case HU_ELEMENTARY_ERFC: return hu_erfc(x);
	case HU_ELEMENTARY_SIN: return hu_sin(x);
	case HU_ELEMENTARY_COS: return hu_cos(x);
	case HU_ELEMENTARIES: break; /* counts them */
	}
	return hu_nan();
}

/* Returns the sign of the exact value minus v, its double, where v is 0, 1/2, 1, 2, -1, infinite or x itself.
   Returns 0 where v is exact or has another value. For nonzero x each function but rsqrt has an irrational value, so
   v is inexact; results of rsqrt short enough to matter are exact. */
HU_HD int
hu_elementary_side(hu_elementary function, double x, double v)
{
	int sign = (x > 0) - (x < 0), inward = (v < 0) - (v > 0);

	if (!hu_isfinite(x) || hu_isnan(v))
		return 0;
	if (x == 0)
		return 0;
	switch (function) {
	case HU_ELEMENTARY_EXP: return v == 0 ? 1 : v == 1 ? sign : v == hu_inf(0) ? -1 : 0;
	case HU_ELEMENTARY_EXPM1: return v == x || v == -1 ? 1 : v == hu_inf(0) ? -1 : 0;
	case HU_ELEMENTARY_LOG1P: return v == x ? -1 : 0;
	case HU_ELEMENTARY_TANH: return v == x || v == 1 || v == -1 ? inward : 0;
	case HU_ELEMENTARY_SIGMOID: return v == 0 ? 1 : v == 1 ? -1 : v == 0.5 ? sign : 0;
	case HU_ELEMENTARY_ERF: return v == 1 || v == -1 ? inward : 0;
	case HU_ELEMENTARY_ERFC: return v == 0 ? 1 : v == 2 ? -1 : v == 1 ? -sign : 0;
	case HU_ELEMENTARY_SIN: return v == x || v == 1 || v == -1 ? inward : 0;
	case HU_ELEMENTARY_COS: return v == 1 || v == -1 ? inward : 0;
	case HU_ELEMENTARY_LOG:   /* 0 at 1, which is exact */
	case HU_ELEMENTARY_RSQRT: /* rational */
	case HU_ELEMENTARIES: break;
	}
	return 0;
}

/* Returns the function of x rounded to f, with the sign of the error and the exception flags. It is correctly rounded
   in every mode for all fp16 and bf16 inputs to the same format (t/number/elementary/u-elementary.c tries them); for
   other formats it is as right as elementary.h's error bound allows. Poles and domain errors raise no flag. */
HU_HD hu_rounded
hu_elementary_round(hu_elementary function, double x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	double v = hu_elementary_value(function, x);
	int side = hu_elementary_side(function, x, v);
	uint64_t u = hu_bits64(v);

	if (side && v == 0)
		v = hu_from_bits64(1);
	else if (side)
		v = hu_from_bits64((side > 0) == (v > 0) ? u + 1 : u - 1);
	return hu_round_full(v, f, mode, flags, rand);
}
#endif
