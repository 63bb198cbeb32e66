/* SPDX-License-Identifier: Apache-2.0
   The scales of blocks, by the rules of block_rules.def. What a rule computes in fp32 is in floats here, an operation
   each. */
#include "lib/number/arith.h"
#include "lib/number/block/block.h"
#include "lib/number/code.h"

#include <float.h>
#include <math.h>

/* The largest magnitude. NaN where a value is NaN, unless that counts as infinite, or infinite, unless that counts. */
static double
amax(const float *src, size_t n, hu_block_inf inf)
{
	double m = 0;

	for (size_t i = 0; i < n; i++) {
		double a = fabs((double)src[i]);
		if (hu_isnan(a) && inf == HU_BLOCK_INF_CLAMPED)
			return INFINITY;
		if (hu_isnan(a) || (!hu_isfinite(a) && (inf == HU_BLOCK_INF_NAN || inf == HU_BLOCK_INF_ONE)))
			return hu_nan();
		m = a > m ? a : m;
	}
	return m;
}

double
hu_block_whole(const hu_block *b, const float *src, size_t n)
{
	return b->kind == HU_BLOCK_TWO_LEVEL ? amax(src, n, HU_BLOCK_INF_NAN) : 1;
}

/* Six times the largest code of a scale: 448, or 256 where a scale may be made half as large again. */
static float
two_level_top(const hu_block *b)
{
	float code = b->four ? 256 : (float)hu_format_of(b->scale).max;

	return (float)hu_format_of(b->element).max * code;
}

double
hu_block_tensor_scale(const hu_block *b, double whole)
{
	double m;

	if (b->kind != HU_BLOCK_TWO_LEVEL || whole == 0 || hu_isnan(whole))
		return 1;
	m = (double)(float)(whole / (double)two_level_top(b));
	return m > 0 ? m : 0x1p-149;
}

/* The largest exponent of an integer element is taken as 0 and its last place as 2^(2 - bits): MXINT8's elements are
   integers over 64. */
static int
largest_exponent(const hu_block *b)
{
	return b->element == HU_NO_FORMAT ? 0 : hu_format_of(b->element).emax;
}

/* The exponent of the smallest power of two that is not below x; of subnormals, whose power may be one that e8m0 does
   not have, 2^-127 up to that and 2^-126. */
static int
exponent_above(float x)
{
	uint32_t u = hu_bits32(x), fraction = u & 0x7fffff;
	int e = (int)(u >> 23);

	return e - 127 + (e ? fraction != 0 : fraction > 0x400000);
}

/* m's bits by the rule EVEN: its fraction rounded to as many bits as an element's has, half up. What is rounded up to
   2^128 has the bits of an infinity. */
static uint32_t
rounded_bits(const hu_block *b, float m)
{
	int places = b->element == HU_NO_FORMAT ? b->bits - 2 : hu_format_of(b->element).p - 1;

	return hu_bits32(m) + (1u << (22 - places));
}

/* The exponent of the scale, before it is clamped to those that its code has; m is not 0. */
static int
power2_exponent(const hu_block *b, float m)
{
	uint32_t u = hu_bits32(m);
	int top = largest_exponent(b);

	switch (b->rule) {
	case HU_BLOCK_CEIL: return (int)(u >> 23) - 127 + ((u & 0x7fffff) != 0) - top;
	case HU_BLOCK_RCEIL: return exponent_above(m * (float)(1 / hu_block_largest(b)));
	case HU_BLOCK_EVEN: return (int)(rounded_bits(b, m) >> 23) - 127 - top;
	case HU_BLOCK_RATIO: {
		int e = hu_exponent((double)m) - hu_exponent(hu_block_largest(b));
		return e - ((double)m < hu_block_largest(b) * hu_pow2(e));
	}
	case HU_BLOCK_OWN:
	case HU_BLOCK_FLOOR: return hu_exponent((double)m) - top;
	default: HU_ASSERT(!"a rule of this kind of block has its scale here"); return 0;
	}
}

static hu_block_scale
power2(const hu_block *b, double m)
{
	int most = (1 << (b->scale_bits - 1)) - 1, e; /* the bias, as e8m0's for 8 bits; all ones is NaN */
	hu_block_scale s = { .scale = hu_nan(), .code = (1u << b->scale_bits) - 1 };

	if (b->rule == HU_BLOCK_EVEN && hu_isfinite(m) && rounded_bits(b, (float)m) >= 0x7f800000u)
		m = b->inf == HU_BLOCK_INF_NAN ? hu_nan() : INFINITY;
	if (hu_isnan(m))
		return s;
	e = m == 0 ? -most : !hu_isfinite(m) ? most : power2_exponent(b, (float)m);
	e = e > most ? most : e < -most ? -most : e;
	if (b->inf == HU_BLOCK_INF_CLAMPED && e == -most)
		e++; /* the code 0 is not used */
	s.scale = hu_pow2(e);
	s.code = (uint32_t)(e + most);
	return s;
}

static hu_block_scale
zero_point(const hu_block *b, const float *src, size_t n)
{
	double low = 0, high = 0, steps = (1 << b->bits) - 1;
	hu_block_scale s = { .scale = 1 };

	for (size_t i = 0; i < n; i++) {
		low = (double)src[i] < low ? (double)src[i] : low;
		high = (double)src[i] > high ? (double)src[i] : high;
	}
	s.scale = hu_isnan(amax(src, n, HU_BLOCK_INF_NAN)) ? hu_nan() : (double)(float)((high - low) / steps);
	if (s.scale == 0)
		s.scale = high > low ? 0x1p-149 : 1;
	if (!hu_isnan(s.scale)) {
		double z = rint(-low / s.scale);
		s.zero = (int)(z < steps ? z : steps);
	}
	return s;
}

/* fp32 division, of which an infinite quotient is the largest float. */
static float
quotient(float a, float b)
{
	float q = a / b;

	return q > FLT_MAX ? FLT_MAX : q;
}

/* A block's scale by its code before the rounding to e4m3; by is what elements are multiplied by. */
static hu_block_scale
two_level_of(const hu_block *b, double code, float g, double tensor)
{
	hu_format f = hu_format_of(b->scale);
	double q = hu_round(code, f, HU_RNE, HU_SATURATE, 0);
	hu_block_scale s = { .code = (uint32_t)hu_encode(q, f), .scale = q * tensor };

	if (b->rule == HU_BLOCK_LEAST)
		s.by = quotient(1 / (float)tensor, (float)q);
	else if (b->rule != HU_BLOCK_ONCE && b->rule != HU_BLOCK_DIVIDE)
		s.by = quotient(1, (float)q * (1 / g));
	return s;
}

/* The error of a block's elements under s, in fp32 and in order: an element times the scale's code, times the array's
   largest magnitude, over 6 * 256, less x, and the sum of these. By the rule ONCE it is that of the decoded values. */
static float
error_of(const hu_block *b, hu_block_scale s, const float *src, size_t n, double whole)
{
	float sum = 0, scale = (float)hu_decode(s.code, hu_format_of(b->scale));

	for (size_t i = 0; i < n; i++) {
		uint8_t code;
		float x, d;
		hu_block_encode(b, s, &code, src + i, 1, i);
		if (b->rule == HU_BLOCK_ONCE)
			hu_block_decode(b, s, &x, &code, 1);
		else
			x = (float)hu_decode(code, hu_format_of(b->element)) * scale * (float)whole / two_level_top(b);
		d = fabsf(x - src[i]);
		sum = b->four == HU_BLOCK_FOUR_MAX ? (d > sum ? d : sum)
						   : sum + (b->four == HU_BLOCK_FOUR_MSE ? d * d : d);
	}
	return sum;
}

static hu_block_scale
two_level(const hu_block *b, double m, const float *src, size_t n, double whole)
{
	double tensor = hu_block_tensor_scale(b, whole), code;
	float g = quotient(two_level_top(b), (float)whole), x = (float)m, of = 6 * (float)tensor;
	hu_block_scale s = { .scale = hu_nan(), .code = (uint32_t)hu_encode(hu_nan(), hu_format_of(b->scale)) }, half;

	/* Who computes in fp32 steps has nothing finite left where the array's scale is not finite. */
	if (hu_isnan(m) || (hu_isnan(whole) && b->rule != HU_BLOCK_ONCE))
		return s;
	if (whole == 0 || hu_isnan(whole) || g == 0)
		g = 1;
	switch (b->rule) {
	case HU_BLOCK_RECIPROCAL:
		code = (double)fminf(b->four ? x / 6 * g : x * (g * (1 / 6.0f)), FLT_MAX);
		break;
	case HU_BLOCK_QUOTIENT: code = (double)fminf(x / 6 * g, FLT_MAX); break;
	case HU_BLOCK_LEAST: code = (double)fminf(fmaxf(x / 6 / (float)tensor, 0x1p-6f), 448); break;
	case HU_BLOCK_DIVIDE: code = m == 0 ? 1 : (double)fminf(fmaxf(x / of, 0x1p-9f), 448); break;
	case HU_BLOCK_OWN:
	case HU_BLOCK_ONCE: code = m / (hu_format_of(b->element).max * tensor); break;
	default: HU_ASSERT(!"a rule of this kind of block has its scale here"); return s;
	}
	s = two_level_of(b, code, g, tensor);
	if (!b->four)
		return s;
	half = two_level_of(b, 1.5 * code, g, tensor);
	return error_of(b, half, src, n, whole) < error_of(b, s, src, n, whole) ? half : s;
}

static hu_block_scale
single(const hu_block *b, double m)
{
	float most = (float)hu_block_largest(b), x = (float)m, by;
	hu_block_scale s = { .scale = 1, .by = 1 };

	if (b->given > 0) {
		s.scale = (double)(1 / b->given);
		s.by = b->given;
		return s;
	}
	if (hu_isnan(m) && b->inf != HU_BLOCK_INF_ONE) {
		s.scale = m;
		return s;
	}
	if (x == 0 || hu_isnan(m))
		return s;
	switch (b->rule) {
	case HU_BLOCK_SHARE_POW2: {
		int e = exponent_above(x / most);
		s.scale = hu_pow2(e < -126 ? -126 : e);
		by = (float)(1 / s.scale);
		break;
	}
	case HU_BLOCK_INVERSE:
	case HU_BLOCK_INVERSE_POW2:
		by = quotient(most, x);
		if (b->rule == HU_BLOCK_INVERSE_POW2)
			by = hu_from_bits32(hu_bits32(by) & 0xff800000u);
		s.scale = (double)(1 / by);
		break;
	case HU_BLOCK_OWN:
	case HU_BLOCK_SHARE:
		s.scale = (double)(x / most > 0 ? x / most : 0x1p-149f);
		by = quotient(1, (float)s.scale);
		break;
	default: HU_ASSERT(!"a rule of this kind of block has its scale here"); return s;
	}
	s.by = by;
	return s;
}

hu_block_scale
hu_block_scale_of(const hu_block *b, const float *src, size_t n, double whole)
{
	double m = amax(src, n, b->inf);
	hu_block_scale s = { .scale = 0 };

	m = m < (double)b->least ? (double)b->least : m;
	if (b->headroom != 1) {
		m = (double)((float)m * b->headroom);
		m = m > (double)FLT_MAX && b->inf == HU_BLOCK_INF_NAN ? (double)FLT_MAX : m;
	}
	switch (b->kind) {
	case HU_BLOCK_POWER2: return power2(b, m);
	case HU_BLOCK_TWO_LEVEL: return two_level(b, m, src, n, whole);
	case HU_BLOCK_AFFINE:
		s.scale = (double)(float)(m / ((1 << (b->bits - 1)) - 1));
		if (s.scale == 0)
			s.scale = m > 0 ? 0x1p-149 : 1;
		break;
	case HU_BLOCK_ZERO_POINT: s = zero_point(b, src, n); break;
	case HU_BLOCK_SINGLE: s = single(b, m); break;
	}
	s.code = hu_isnan(s.scale) ? 0x7fc00000u : hu_bits32((float)s.scale);
	return s;
}
