/* SPDX-License-Identifier: Apache-2.0
   Names, scales, quantisation and packing of block formats. */
#include "lib/number/block.h"

#include "lib/base/str.h"
#include "lib/number/arith.h"
#include "lib/number/code.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct row {
	const char *name, *alias;
	hu_format_id element;
	int bits;
	size_t size;
	hu_block_kind kind;
	hu_format_id scale;
	const char *summary;
} row;

static const row rows[] = {
#define BLOCK(name, alias, element, bits, size, kind, scale, summary)                                                  \
	{ name, alias, element, bits, size, HU_BLOCK_##kind, scale, summary },
#include "lib/number/blocks.def"
#undef BLOCK
};

enum { ROWS = sizeof rows / sizeof *rows, LARGEST_BLOCK = 1 << 20 };

const char *
hu_block_row(int i, const char **summary)
{
	if (i < 0 || i >= ROWS)
		return NULL;
	*summary = rows[i].summary;
	return rows[i].name;
}

/* Reads a number from min to max at *s and moves *s behind it. Returns 0 where there is none. */
static int
number(const char **s, long min, long max, long *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return 0;
	*out = strtol(*s, &end, 10);
	*s = end;
	return *out >= min && *out <= max;
}

static hu_status
bfp(const char *name, hu_block *b)
{
	long bits = 8, size = 32, scale = 8;
	const char *s = name + 3, *from = s;
	int good = number(&s, 2, 8, &bits);

	if (good && tolower((unsigned char)*s) == 'x')
		from = ++s, good = number(&s, 1, LARGEST_BLOCK, &size);
	if (good && tolower((unsigned char)*s) == 's')
		from = ++s, good = number(&s, 2, 8, &scale);
	if (!good || *s)
		return hu_fail(HU_EINVAL,
			"block format '%s', character %d: write bfpB[xSIZE][sK] with 2 <= B <= 8 bits an element, SIZE "
			"up to %d and 2 <= K <= 8 bits of exponent, as in bfp8x16s8",
			name, (int)((good ? s : from) - name) + 1, LARGEST_BLOCK);
	b->element = HU_NO_FORMAT;
	b->bits = (int)bits;
	b->size = (size_t)size;
	b->kind = HU_BLOCK_POWER2;
	b->scale = HU_NO_FORMAT;
	b->scale_bits = (int)scale;
	return HU_OK;
}

static int
is_named(const row *r, const char *name, size_t n)
{
	return (strlen(r->name) == n && !strncasecmp(r->name, name, n)) ||
	       (*r->alias && strlen(r->alias) == n && !strncasecmp(r->alias, name, n));
}

hu_status
hu_block_find(const char *name, hu_block *b)
{
	const char *names[ROWS + 1];
	size_t n = strlen(name), stem = n;
	long size = -1;
	int impossible = 0;

	memset(b, 0, sizeof *b);
	snprintf(b->name, sizeof b->name, "%s", name);
	if (!strncasecmp(name, "bfp", 3))
		return bfp(name, b);
	while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
		stem--;
	if (stem > 1 && stem < n && tolower((unsigned char)name[stem - 1]) == 'x') {
		const char *s = name + stem;
		impossible = !number(&s, 1, LARGEST_BLOCK, &size);
		n = stem - 1;
	}
	for (int i = 0; i < ROWS; i++) {
		names[i] = rows[i].name;
		if (is_named(&rows[i], name, n) && impossible)
			return hu_fail(HU_EINVAL, "block format '%s', character %d: a block has 1 to %d elements", name,
				(int)stem + 1, LARGEST_BLOCK);
		if (is_named(&rows[i], name, n)) {
			b->element = rows[i].element;
			b->bits = rows[i].bits;
			b->size = size > 0 ? (size_t)size : rows[i].size;
			b->kind = rows[i].kind;
			b->scale = rows[i].scale;
			b->scale_bits = hu_format_of(b->scale).bits;
			return HU_OK;
		}
	}
	names[ROWS] = "bfp8x32s8";
	const char *near = hu_nearest(name, names, ROWS + 1);
	return hu_fail(HU_EABSENT, "unknown block format '%s'; %s%s", name,
		near ? "did you mean " : "known: mxfp8e4m3 … int4zp, bfp8x32s8", near ? near : "");
}

/* The largest magnitude; NaN where a value is not finite. */
static double
amax(const float *src, size_t n)
{
	double m = 0;

	for (size_t i = 0; i < n; i++) {
		double a = fabs((double)src[i]);
		if (!hu_isfinite(a))
			return hu_nan();
		m = a > m ? a : m;
	}
	return m;
}

double
hu_block_tensor_scale(const hu_block *b, const float *src, size_t n)
{
	double m;

	if (b->kind != HU_BLOCK_TWO_LEVEL)
		return 1;
	m = amax(src, n);
	if (m == 0 || hu_isnan(m))
		return 1;
	m = (double)(float)(m / (hu_format_of(b->element).max * hu_format_of(b->scale).max));
	return m > 0 ? m : 0x1p-149;
}

/* The largest exponent of an integer element is taken as 0 and its last place as 2^(2 - bits): MXINT8's elements are
   integers over 64. */
static int
largest_exponent(const hu_block *b)
{
	return b->element == HU_NO_FORMAT ? 0 : hu_format_of(b->element).emax;
}

static hu_block_scale
power2(const hu_block *b, double m)
{
	int most = (1 << (b->scale_bits - 1)) - 1, e = m == 0 ? -most : hu_exponent(m) - largest_exponent(b);
	hu_block_scale s = { 0, 0, 0 };

	e = e > most ? most : e < -most ? -most : e; /* the bias is `most`, as e8m0's for 8 bits; all ones is NaN */
	s.scale = hu_isnan(m) ? hu_nan() : hu_pow2(e);
	s.code = hu_isnan(m) ? (1u << b->scale_bits) - 1 : (uint32_t)(e + most);
	return s;
}

static hu_block_scale
zero_point(const hu_block *b, const float *src, size_t n)
{
	double low = 0, high = 0, steps = (1 << b->bits) - 1;
	hu_block_scale s = { 1, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		low = (double)src[i] < low ? (double)src[i] : low;
		high = (double)src[i] > high ? (double)src[i] : high;
	}
	s.scale = hu_isnan(amax(src, n)) ? hu_nan() : (double)(float)((high - low) / steps);
	if (s.scale == 0)
		s.scale = high > low ? 0x1p-149 : 1;
	if (!hu_isnan(s.scale)) {
		double z = rint(-low / s.scale);
		s.zero = (int)(z < steps ? z : steps);
	}
	return s;
}

hu_block_scale
hu_block_scale_of(const hu_block *b, const float *src, size_t n, double tensor_scale)
{
	double m = amax(src, n);
	hu_block_scale s = { 0, 0, 0 };

	switch (b->kind) {
	case HU_BLOCK_POWER2: return power2(b, m);
	case HU_BLOCK_TWO_LEVEL: {
		hu_format f = hu_format_of(b->scale);
		double q = hu_isnan(m) ? m
				       : hu_round(m / (hu_format_of(b->element).max * tensor_scale), f, HU_RNE,
						 HU_SATURATE, 0);
		s.code = (uint32_t)hu_encode(q, f);
		s.scale = q * tensor_scale;
		return s;
	}
	case HU_BLOCK_AFFINE:
		s.scale = (double)(float)(m / ((1 << (b->bits - 1)) - 1));
		if (s.scale == 0)
			s.scale = m > 0 ? 0x1p-149 : 1;
		break;
	case HU_BLOCK_ZERO_POINT: s = zero_point(b, src, n); break;
	}
	s.code = hu_isnan(s.scale) ? 0x7fc00000u : hu_bits32((float)s.scale);
	return s;
}

double
hu_block_steps(const hu_block *b)
{
	return b->element == HU_NO_FORMAT && b->kind == HU_BLOCK_POWER2 ? hu_pow2(b->bits - 2) : 1;
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

int
hu_block_saturates(const hu_block *b, hu_block_scale s, float x)
{
	hu_format f = hu_format_of(b->element);
	double q;

	if (hu_isnan(s.scale) || s.scale == 0)
		return 0;
	if (b->element == HU_NO_FORMAT)
		return q = integer(b, s, (double)x), q > top_of(b) || q < low_of(b);
	if (fabs((double)x) <= f.max * s.scale)
		return 0;
	return (hu_arith_div((double)x, s.scale, f, HU_RNE, HU_SATURATE, 0).flags & HU_OVERFLOW) != 0;
}

void
hu_block_encode(const hu_block *b, hu_block_scale s, uint8_t *code, const float *src, size_t n)
{
	hu_format f = hu_format_of(b->element);
	unsigned mask = (1u << b->bits) - 1;

	for (size_t i = 0; i < n; i++) {
		double x = (double)src[i];
		if (hu_isnan(s.scale) || s.scale == 0)
			code[i] = (uint8_t)s.zero;
		else if (b->element == HU_NO_FORMAT)
			code[i] = (uint8_t)((unsigned)clamped(b, integer(b, s, x)) & mask);
		else
			code[i] = (uint8_t)hu_encode(hu_arith_div(x, s.scale, f, HU_RNE, HU_SATURATE, 0).value, f);
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
			v = v > FLT_MAX ? FLT_MAX : v < -FLT_MAX ? -FLT_MAX : v;
		}
		dst[i] = hu_isnan(s.scale) ? hu_from_bits32(0x7fc00000u) : (float)v;
	}
}

void
hu_block_cast(const hu_block *b, float *dst, const float *src, size_t n)
{
	double tensor = hu_block_tensor_scale(b, src, n);
	size_t size = b->size ? b->size : n;
	uint8_t code[256];

	for (size_t at = 0; at < n; at += size) {
		size_t m = n - at < size ? n - at : size;
		hu_block_scale s = hu_block_scale_of(b, src + at, m, tensor);
		for (size_t i = 0; i < m; i += sizeof code) {
			size_t k = m - i < sizeof code ? m - i : sizeof code;
			hu_block_encode(b, s, code, src + at + i, k);
			hu_block_decode(b, s, dst + at + i, code, k);
		}
	}
}

double
hu_block_bits(const hu_block *b, size_t n)
{
	size_t blocks = b->size ? (n + b->size - 1) / b->size : n > 0;
	double each = b->scale_bits + (b->kind == HU_BLOCK_ZERO_POINT ? b->bits : 0);

	return (double)n * b->bits + (double)blocks * each + (b->kind == HU_BLOCK_TWO_LEVEL && n ? 32 : 0);
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
