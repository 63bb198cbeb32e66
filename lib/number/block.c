/* SPDX-License-Identifier: Apache-2.0
   Quantisation by block formats, and packing. */
#include "lib/number/block.h"

#include "lib/base/mem.h"
#include "lib/number/arith.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* An element before it is rounded: the exact quotient, as a dividend and a divisor, or the fp32 product and 1. */
static double
dividend(const hu_block *b, hu_block_scale s, float x, double *divisor)
{
	x *= b->times; /* 1 but for a word, and then an fp32 operation */
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

void
hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n, uint64_t first)
{
	hu_stream stream = { .seed = b->seed };
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
			uint32_t bits = hu_mode_draws(b->mode) ? hu_random_cast(stream, first + i) : 0;
			code[i] = (uint8_t)hu_encode(hu_arith_div(x, by, f, b->mode, HU_SATURATE, bits).value, f);
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
		/* Elements may be infinities or NaN. FLT_MAX / 127, rounded up, times 127 lies beyond FLT_MAX. */
		if (hu_isfinite(v)) {
			v = s.scale * v / hu_block_steps(b);
			v = b->times != 1 ? v / (double)b->times : v;
			v = v > FLT_MAX ? FLT_MAX : v < -FLT_MAX ? -FLT_MAX : v;
		}
		dst[i] = hu_isnan(s.scale) ? hu_from_bits32(0x7fc00000u) : (float)v;
	}
}

/* Quantises a block of rows x columns elements, which lie `across` apart from row to row, and are copied to `of`. */
static void
cast_block(
	const hu_block *b, float *dst, float *of, size_t rows, size_t columns, size_t across, size_t at, double whole)
{
	size_t n = rows * columns;
	uint8_t code[256];

	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++)
			of[r * columns + c] = dst[at + r * across + c];
	hu_block_scale s = hu_block_scale_of(b, of, n, whole);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c += sizeof code) {
			size_t k = columns - c < sizeof code ? columns - c : sizeof code, place = at + r * across + c;
			hu_block_encode(b, s, code, of + r * columns + c, k, place);
			hu_block_decode(b, s, dst + place, code, k);
		}
}

void
hu_block_cast_rows(const hu_block *b, float *dst, const float *src, size_t rows, size_t columns)
{
	size_t wide = b->size && b->size < columns ? b->size : columns, high = b->size ? b->rows : rows;
	double whole = hu_block_whole(b, src, rows * columns);

	high = high > rows ? rows : high;
	if (!wide || !high)
		return;
	float *of = hu_xmalloc(high * wide * sizeof *of);
	if (dst != src)
		memcpy(dst, src, rows * columns * sizeof *dst);
	for (size_t r = 0; r < rows; r += high)
		for (size_t c = 0; c < columns; c += wide)
			cast_block(b, dst, of, rows - r < high ? rows - r : high,
				columns - c < wide ? columns - c : wide, columns, r * columns + c, whole);
	free(of);
}

void
hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n)
{
	hu_block_cast_rows(b, dst, src, 1, n);
}

double
hu_block_bits(const hu_block *b, size_t n)
{
	size_t each = b->size * b->rows, blocks = each ? (n + each - 1) / each : n > 0;
	double shared = b->scale_bits + (b->kind == HU_BLOCK_ZERO_POINT ? b->bits : 0);

	return (double)n * b->bits + (double)blocks * shared + (b->kind == HU_BLOCK_TWO_LEVEL && n ? 32 : 0);
}

void
hu_bits_pack(uint8_t *dst, const uint8_t *code, size_t n, int bits)
{
	unsigned word = 0, mask = (1u << bits) - 1;
	int have = 0;

	for (size_t i = 0; i < n; i++) {
		word |= (code[i] & mask) << have;
		for (have += bits; have >= 8; have -= 8, word >>= 8)
			*dst++ = (uint8_t)word;
	}
	if (have)
		*dst = (uint8_t)word;
}

void
hu_bits_unpack(uint8_t *code, const uint8_t *src, size_t n, int bits)
{
	unsigned word = 0, mask = (1u << bits) - 1;
	int have = 0;

	for (size_t i = 0; i < n; i++) {
		if (have < bits) {
			word |= (unsigned)*src++ << have;
			have += 8;
		}
		code[i] = (uint8_t)(word & mask);
		word >>= bits;
		have -= bits;
	}
}
