/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/bulk.h"

#include "lib/number/bulk_table.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

#include <string.h>

static const hu_bulk_kernels *
kernels(hu_simd level)
{
#if defined(__x86_64__)
	switch (level) {
	case HU_SIMD_AVX512: return &hu_bulk_avx512;
	case HU_SIMD_AVX2: return &hu_bulk_avx2;
	default: break;
	}
#else
	(void)level;
#endif
	return &hu_bulk_scalar;
}

static uint32_t
float_bits(double x)
{
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

/* Whether the loops over words serve f: its values are floats, and so is what
   they compute with. The others go through round.h and code.h an element at a time. */
static int
has_plan(hu_format f)
{
	return f.p < 24 && f.emin >= -126 && f.emax <= 127 && (f.emin == -126 || f.emin - f.p + 1 >= -126) && hu_has_sign(f);
}

/* Every special result comes from round.h and code.h themselves. */
static hu_bulk_plan
plan_of(hu_format f, hu_mode mode, int flags)
{
	hu_bulk_plan p;
	int k = flags >> 8 & 63;

	memset(&p, 0, sizeof p);
	p.drop = (uint32_t)(24 - f.p);
	p.emin_field = (uint32_t)(f.emin + 127);
	p.max = float_bits(f.max);
	p.smallest = (float)hu_smallest(f);
	p.inverse = p.smallest >= 0x1p-126f ? 1 / p.smallest : 0;
	p.sign_shift = (uint32_t)f.bits - 1;
	for (int negative = 0; negative < 2; negative++) {
		p.over[negative] = float_bits(hu_overflow(negative, f, mode, flags));
		p.inf[negative] = float_bits(hu_inf_of(negative, f, flags));
	}
	p.over_sign = (p.over[0] ^ p.over[1]) & 0x80000000u;
	p.nan = float_bits(hu_nan_of(f));
	p.minus_zero = float_bits(hu_zero_of(1, f));
	p.ftz = flags & HU_FTZ ? p.emin_field << 23 : 0;
	p.daz = flags & HU_DAZ ? p.emin_field << 23 : 0;
	p.random_mask = k > 0 && k < 32 ? ~(0xffffffffu >> k) : 0xffffffffu;
	p.one_bit = f.p == 1;
	p.nan_code = (uint32_t)hu_nan_code(f);
	p.inf_code = hu_has_inf(f) ? (uint32_t)hu_inf_code(f) : p.nan_code;
	p.top = hu_has_inf(f) ? p.inf_code : (uint32_t)1 << p.sign_shift; /* no code without sign reaches that */
	p.nan_from = f.special == HU_SPECIAL_IEEE ? p.inf_code + 1 : f.special == HU_SPECIAL_FN ? p.nan_code : (uint32_t)1 << p.sign_shift;
	p.nan_only = f.special == HU_SPECIAL_FNUZ || f.special == HU_SPECIAL_P3109 ? 0x80000000u : 0xffffffffu; /* -0's code, its sign moved to bit 31 */
	p.wide = f.emin == -126;
	p.full = f.special > HU_SPECIAL_FN || f.p == 1 || (flags & (HU_FTZ | HU_DAZ)) || p.random_mask != 0xffffffffu;
	return p;
}

/* fp32 and fp64 hold every float; only NaN changes. */
static void
copy(float *dst, const float *src, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		uint32_t u = hu_bits32(src[i]);
		dst[i] = hu_from_bits32((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u);
	}
}

static const hu_stream none;

static uint32_t
draw(hu_mode mode, const hu_stream *random, uint64_t index)
{
	const hu_stream *s = random ? random : &none;

	return hu_mode_draws(mode) ? hu_random_word(s->seed, s->stream, s->step, index) : 0;
}

void
hu_bulk_round(float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random, uint64_t index0)
{
	hu_bulk_round_at(hu_simd_level(), dst, src, n, f, mode, flags, random, index0);
}

void
hu_bulk_round_at(hu_simd level, float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random,
                 uint64_t index0)
{
	hu_format t = hu_format_of(f);

	if ((f == HU_FP32 || f == HU_FP64) && !(flags & (HU_SATURATE | HU_FTZ | HU_DAZ))) {
		copy(dst, src, n);
	} else if (has_plan(t)) {
		hu_bulk_plan p = plan_of(t, mode, flags);
		kernels(level)->round[mode](dst, src, n, &p, random ? random : &none, index0);
	} else {
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_from_bits32(float_bits(hu_round((double)src[i], t, mode, flags, draw(mode, random, index0 + i))));
	}
}

void
hu_bulk_round_f64(double *dst, const double *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random, uint64_t index0)
{
	hu_format t = hu_format_of(f);

	for (size_t i = 0; i < n; i++)
		dst[i] = hu_round(src[i], t, mode, flags, draw(mode, random, index0 + i));
}

size_t
hu_bulk_element(hu_format_id f)
{
	int bits = hu_format_of(f).bits;

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* The code array's element I of BYTES each. */
static void
put(void *dst, size_t i, size_t bytes, uint64_t code)
{
	uint8_t *b = dst;
	uint16_t *h = dst;

	if (bytes == 1)
		b[i] = (uint8_t)code;
	else
		h[i] = (uint16_t)code;
}

static uint64_t
get(const void *src, size_t i, size_t bytes)
{
	const uint8_t *b = src;
	const uint16_t *h = src;

	return bytes == 1 ? b[i] : h[i];
}

void
hu_bulk_pack(void *dst, const float *src, size_t n, hu_format_id f)
{
	hu_format t = hu_format_of(f);
	size_t bytes = hu_bulk_element(f);
	double *d = dst;

	if (bytes == 8) {
		for (size_t i = 0; i < n; i++)
			d[i] = hu_isnan((double)src[i]) ? hu_nan() : (double)src[i];
	} else if (bytes == 4) {
		copy(dst, src, n);
	} else if (!has_plan(t)) {
		for (size_t i = 0; i < n; i++)
			put(dst, i, bytes, hu_encode((double)src[i], t));
	} else {
		hu_bulk_plan p = plan_of(t, HU_RNE, 0);
		if (bytes == 1)
			kernels(hu_simd_level())->pack8(dst, src, n, &p);
		else
			kernels(hu_simd_level())->pack16(dst, src, n, &p);
	}
}

void
hu_bulk_unpack(float *dst, const void *src, size_t n, hu_format_id f)
{
	hu_format t = hu_format_of(f);
	size_t bytes = hu_bulk_element(f);
	const double *d = src;

	if (bytes == 8) {
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_from_bits32(float_bits(d[i]));
	} else if (bytes == 4) {
		copy(dst, src, n);
	} else if (!has_plan(t)) {
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_from_bits32(float_bits(hu_decode(get(src, i, bytes), t)));
	} else {
		hu_bulk_plan p = plan_of(t, HU_RNE, 0);
		if (bytes == 1)
			kernels(hu_simd_level())->unpack8(dst, src, n, &p);
		else
			kernels(hu_simd_level())->unpack16(dst, src, n, &p);
	}
}
