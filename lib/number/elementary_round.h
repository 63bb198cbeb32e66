/* SPDX-License-Identifier: Apache-2.0
   Elementary functions rounded to a format in any mode. Rounding elementary.h's double to nearest is
   right for 16 bits; in the directed modes it is not where the double has
   swallowed what is left, as 1 for exp(2^-60). Here such a result first moves toward the exact value. */
#ifndef HU_NUMBER_ELEMENTARY_ROUND_H
#define HU_NUMBER_ELEMENTARY_ROUND_H

#include "lib/number/elementary.h"

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
	default: return hu_erfc(x);
	}
}

/* Sign of the exact value less V, the double's, for finite x where V is 0, 1/2, 1, 2, -1, infinite or x itself; 0 where
   V is exact or no such value. Each function is transcendental at nonzero x but the root, whose short results are
   exact. */
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
	default: return 0;
	}
}

/* f's value for the function of x, with the sign of the error and the flags. Correctly rounded, in every mode, for
   every fp16 and bf16 input to the same format (t/number/u-elementary.c); elsewhere as elementary.h's error lets it. No
   flag for a pole or a domain. */
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
