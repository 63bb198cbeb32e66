/* SPDX-License-Identifier: Apache-2.0
   Elementary functions of floats for loops over wide registers: the operations of lib/number/elementary/elementary.h in
   the same order, so the same bits for every float, but computed on both sides of each case and then chosen. Arguments
   are cut to where the float result still changes. Functions that no model spends its time in are those of
   elementary.h. */
#ifndef HU_OP_LANES_H
#define HU_OP_LANES_H

#include "lib/number/elementary/elementary.h"

/* 2^k for |k| <= 1022. */
HU_HD double hu_lanes_pow2(int k) { return hu_from_bits64((uint64_t)(k + 1023) << 52); }

/* exp(x) in double for |x| <= 200; beyond, what is infinite or 0 as a float: exp(200) > 2^288. */
HU_HD double
hu_lanes_exp(double x)
{
	double p;
	int k;

	x = x > 200 ? 200 : x;
	x = x > -200 ? x : -200; /* also NaN, so that k is a number */
	p = hu_exp_parts(x, 0, &k);
	return (1 + p) * hu_lanes_pow2(k);
}

HU_HD float
hu_exp_lanes(float x)
{
	double r = hu_lanes_exp(x);

	return x == x ? (float)r : (float)hu_nan();
}

HU_HD float
hu_erf_lanes(float x)
{
	double a = x < 0 ? -(double)x : (double)x, small = hu_erf_small(x), large = a > 1 ? a : 1;
	int k;

	large = large < 6 ? large : 6;
	large = hu_error_function_tail(large, &k);
	large = 1 - large * hu_lanes_pow2(k);
	large = a > 6 ? 1 : large;
	large = x < 0 ? -large : large;
	small = a <= 1 ? small : large;
	return x == x ? (float)small : (float)hu_nan();
}

HU_HD float
hu_sigmoid_lanes(float x)
{
	double e = hu_lanes_exp(x < 0 ? (double)x : -(double)x), r = (x >= 0 ? 1 : e) / (1 + e);

	return x == x ? (float)r : (float)hu_nan();
}

HU_HD float
hu_tanh_lanes(float x)
{
	double a = x < 0 ? -(double)x : (double)x, b = a < 22 ? a : 22, p, s, t, r;
	int k;

	p = hu_exp_parts(2 * b, 0, &k);
	s = hu_lanes_pow2(k);
	t = 2 * b > 40 ? (1 + p) * s : s * p + (s - 1); /* hu_expm1 */
	r = a < 1 ? t / (t + 2) : 1 - 2 / (t + 2);
	r = a > 22 ? 1 : r;
	r = x < 0 ? -r : r;
	r = a < 0x1p-27 ? (double)x : r;
	return x == x ? (float)r : (float)hu_nan();
}

HU_HD float hu_sqrt_lanes(float x) { return sqrtf(x); }

/* From 2^23 on all floats are whole numbers. */
HU_HD float
hu_rint_lanes(float x)
{
	float a = x < 0 ? -x : x, r = (a + 0x1p23f) - 0x1p23f;

	r = x < 0 ? -r : r;
	r = x == 0 ? x : r;
	return a < 0x1p23f ? r : x;
}

HU_HD float hu_floor_lanes(float x) { return hu_floor_f32(x); }
HU_HD float hu_ceil_lanes(float x) { return hu_ceil_f32(x); }
HU_HD float hu_sign_lanes(float x) { return hu_sign_f32(x); }
HU_HD float hu_pow_lanes(float x, float y) { return hu_pow_f32(x, y); }
HU_HD float hu_expm1_lanes(float x) { return hu_expm1_f32(x); }
HU_HD float hu_log_lanes(float x) { return hu_log_f32(x); }
HU_HD float hu_log1p_lanes(float x) { return hu_log1p_f32(x); }
HU_HD float hu_rsqrt_lanes(float x) { return hu_rsqrt_f32(x); }
HU_HD float hu_sin_lanes(float x) { return hu_sin_f32(x); }
HU_HD float hu_cos_lanes(float x) { return hu_cos_f32(x); }
HU_HD float hu_atan2_lanes(float y, float x) { return hu_atan2_f32(y, x); }

/* The same where the arguments of erf lie within -1 and 1, so that one side of its cases is computed. */
HU_HD float hu_erf_near(float x) { return (float)hu_erf_small(x); }

HU_HD float hu_exp_near(float x) { return hu_exp_lanes(x); }
HU_HD float hu_sigmoid_near(float x) { return hu_sigmoid_lanes(x); }
HU_HD float hu_tanh_near(float x) { return hu_tanh_lanes(x); }
HU_HD float hu_sqrt_near(float x) { return hu_sqrt_lanes(x); }
HU_HD float hu_rint_near(float x) { return hu_rint_lanes(x); }
HU_HD float hu_floor_near(float x) { return hu_floor_lanes(x); }
HU_HD float hu_ceil_near(float x) { return hu_ceil_lanes(x); }
HU_HD float hu_sign_near(float x) { return hu_sign_lanes(x); }
HU_HD float hu_expm1_near(float x) { return hu_expm1_lanes(x); }
HU_HD float hu_log_near(float x) { return hu_log_lanes(x); }
HU_HD float hu_log1p_near(float x) { return hu_log1p_lanes(x); }
HU_HD float hu_rsqrt_near(float x) { return hu_rsqrt_lanes(x); }
HU_HD float hu_sin_near(float x) { return hu_sin_lanes(x); }
HU_HD float hu_cos_near(float x) { return hu_cos_lanes(x); }
HU_HD float hu_pow_near(float x, float y) { return hu_pow_lanes(x, y); }
HU_HD float hu_atan2_near(float y, float x) { return hu_atan2_lanes(y, x); }
#endif
