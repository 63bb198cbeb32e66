/* SPDX-License-Identifier: Apache-2.0
   Elements of block formats: their codes under a scale, and back. */
#include "lib/number/arith.h"
#include "lib/number/block/block.h"
#include "lib/number/code.h"

#include <math.h>

double
hu_block_steps(const hu_block *b)
{
	return b->element == HU_NO_FORMAT && b->kind == HU_BLOCK_POWER2 ? hu_pow2(b->bits - 2) : 1;
}

double
hu_block_largest(const hu_block *b)
{
	if (b->element != HU_NO_FORMAT)
		return hu_format_of(b->element).max;
	return (double)((1 << (b->kind == HU_BLOCK_ZERO_POINT ? b->bits : b->bits - 1)) - 1) / hu_block_steps(b);
}

/* The largest and the smallest integer that an element can be. */
static int
top_of(const hu_block *b)
{
	return b->kind == HU_BLOCK_ZERO_POINT ? (1 << b->bits) - 1 : (1 << (b->bits - 1)) - 1;
}

static int
low_of(const hu_block *b)
{
	return b->kind == HU_BLOCK_ZERO_POINT ? 0 : -top_of(b);
}

/* x / scale rounded to the nearest integer, ties to even. The rounding of the division makes no tie: a half-integer
   t has 9 bits and the scale 24, so x - scale t is 0 or at least 2^-33 of x, far more than the quotient's error of
   2^-53. */
static double
integer(const hu_block *b, hu_block_scale s, double x)
{
	return rint(x / s.scale * hu_block_steps(b)) + s.zero;
}

static int
clamped(const hu_block *b, double q)
{
	return q > top_of(b) ? top_of(b) : q < low_of(b) ? low_of(b) : (int)q;
}

/* An element before it is rounded: the exact quotient, as a dividend and a divisor, or 1 below the fp32 product or, by
   the rule DIVIDE, the fp32 quotient. */
static double
dividend(const hu_block *b, hu_block_scale s, float x, double *divisor)
{
	x *= b->times; /* 1 but for a word, and then an fp32 operation */
	if (b->rule == HU_BLOCK_DIVIDE) {
		*divisor = 1;
		return (double)(x / (float)s.scale);
	}
	*divisor = s.by != 0 ? 1 : s.scale;
	return (double)(s.by != 0 ? x * s.by : x);
}

int
hu_block_saturates(const hu_block *b, hu_block_scale s, float x)
{
	hu_format f = hu_format_of(b->element);
	double q, by;

	if (hu_isnan(s.scale) || s.scale == 0)
		return 0;
	if (b->element == HU_NO_FORMAT)
		return q = integer(b, s, (double)(x * b->times)), q > top_of(b) || q < low_of(b);
	q = dividend(b, s, x, &by);
	if (fabs(q) <= f.max * by)
		return 0;
	return (hu_arith_div(q, by, f, b->mode, HU_SATURATE, 0).flags & HU_OVERFLOW) != 0;
}

/* The sign of an element that is zero, as the maker has it; x is what was given. */
static double
zero_of(const hu_block *b, double zero, float x)
{
	switch (b->zeros) {
	case HU_BLOCK_ZEROS_PLUS: return 0.0;
	case HU_BLOCK_ZEROS_MINUS: return x == 0 ? -0.0 : zero;
	case HU_BLOCK_ZEROS_KEPT: break;
	}
	return zero;
}

void
hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n, uint64_t first)
{
	hu_format f = hu_format_of(b->element);
	unsigned mask = (1u << b->bits) - 1;

	for (size_t i = 0; i < n; i++) {
		double by, x;
		if (hu_isnan(s.scale) || (s.scale == 0 && s.by == 0)) {
			code[i] = (uint8_t)s.zero;
		} else if (b->element == HU_NO_FORMAT) {
			code[i] = (uint8_t)((unsigned)clamped(b, integer(b, s, (double)(src[i] * b->times))) & mask);
		} else {
			x = dividend(b, s, src[i], &by);
			uint32_t bits = hu_mode_draws(b->mode) ? hu_random_cast(b->draws, first + i) : 0;
			double v = hu_arith_div(x, by, f, b->mode, HU_SATURATE, bits).value;
			code[i] = (uint8_t)hu_encode(v == 0 ? zero_of(b, v, src[i]) : v, f);
		}
	}
}

void
hu_block_decode(const hu_block *b, hu_block_scale s, float *dst, const uint8_t *code, size_t n)
{
	hu_format f = hu_format_of(b->element);

	for (size_t i = 0; i < n; i++) {
		double v;
		if (b->element != HU_NO_FORMAT)
			v = hu_decode(code[i], f);
		else if (b->kind == HU_BLOCK_ZERO_POINT)
			v = code[i] - s.zero;
		else
			v = ((int)code[i] ^ 1 << (b->bits - 1)) - (1 << (b->bits - 1)); /* extends the sign bit */
		/* Elements may be infinities or NaN. A product beyond fp32's range is an infinity, as for all who
		   compute it in fp32: amax rounded up to 2^128, or 127 times the fp32 quotient of FLT_MAX and 127. */
		if (hu_isfinite(v)) {
			v = s.scale * v / hu_block_steps(b);
			v = b->times != 1 ? v / (double)b->times : v;
		}
		dst[i] = hu_isnan(s.scale) ? hu_from_bits32(0x7fc00000u) : (float)v;
	}
}
