/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/bulk.h"

#include "lib/number/bulk_table.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

#include <string.h>

static const hu_bulk_kernels *
kernels(void)
{
#if defined(__x86_64__)
	switch (hu_simd_level()) {
	case HU_SIMD_AVX512: return &hu_bulk_avx512;
	case HU_SIMD_AVX2: return &hu_bulk_avx2;
	default: break;
	}
#endif
	return &hu_bulk_scalar;
}

static uint32_t
float_bits(double x)
{
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

/* Every special result comes from round.h and code.h themselves. */
static hu_bulk_plan
plan_of(hu_format f, hu_mode mode, int flags)
{
	hu_bulk_plan p;
	uint32_t sign = (uint32_t)1 << (f.bits - 1);

	memset(&p, 0, sizeof p);
	p.drop = (uint32_t)(24 - f.p);
	p.emin_field = (uint32_t)(f.emin + 127);
	p.max = float_bits(f.max);
	p.smallest = (float)hu_smallest(f);
	p.inverse = p.emin_field > 1 ? (float)(1 / hu_smallest(f)) : 0;
	p.sign_shift = (uint32_t)f.bits - 1;
	for (int negative = 0; negative < 2; negative++) {
		p.over[negative] = float_bits(hu_overflow(negative, f, mode, flags));
		p.inf[negative] = float_bits(hu_round(hu_inf(negative), f, mode, flags, 0));
	}
	p.nan_code = (uint32_t)hu_nan_code(f);
	if (hu_has_inf(f)) {
		p.inf_code = (uint32_t)hu_encode(hu_inf(0), f);
		p.top = p.inf_code;
		p.nan_from = p.inf_code + 1;
	} else {
		p.inf_code = p.nan_code;
		p.top = sign;
		p.nan_from = p.nan_code;
	}
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

void
hu_bulk_round(float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random, uint64_t index0)
{
	static const hu_stream none;
	hu_format t = hu_format_of(f);

	if (t.p >= 24 && !(flags & HU_SATURATE)) {
		copy(dst, src, n);
		return;
	}
	if (t.p >= 24) { /* saturation turns infinities finite: fp32's to its own largest, fp64's to a value no float holds */
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_from_bits32(float_bits(hu_round(src[i], t, mode, flags, 0)));
		return;
	}
	hu_bulk_plan p = plan_of(t, mode, flags);
	kernels()->round[mode](dst, src, n, &p, random ? random : &none, index0);
}

void
hu_bulk_round_f64(double *dst, const double *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random, uint64_t index0)
{
	hu_format t = hu_format_of(f);

	for (size_t i = 0; i < n; i++) {
		uint32_t bits = 0;
		if (mode == HU_SR && random)
			bits = hu_random_at(random->seed, random->stream, random->step, index0 + i).w[0];
		dst[i] = hu_round(src[i], t, mode, flags, bits);
	}
}

size_t
hu_bulk_element(hu_format_id f)
{
	int bits = hu_format_of(f).bits;

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

void
hu_bulk_pack(void *dst, const float *src, size_t n, hu_format_id f)
{
	hu_bulk_plan p;
	double *d = dst;

	switch (hu_bulk_element(f)) {
	case 1:
		p = plan_of(hu_format_of(f), HU_RNE, 0);
		kernels()->pack8(dst, src, n, &p);
		break;
	case 2:
		p = plan_of(hu_format_of(f), HU_RNE, 0);
		kernels()->pack16(dst, src, n, &p);
		break;
	case 4: copy(dst, src, n); break;
	default:
		for (size_t i = 0; i < n; i++)
			d[i] = hu_isnan((double)src[i]) ? hu_nan() : (double)src[i];
		break;
	}
}

void
hu_bulk_unpack(float *dst, const void *src, size_t n, hu_format_id f)
{
	hu_bulk_plan p;
	const double *d = src;

	switch (hu_bulk_element(f)) {
	case 1:
		p = plan_of(hu_format_of(f), HU_RNE, 0);
		kernels()->unpack8(dst, src, n, &p);
		break;
	case 2:
		p = plan_of(hu_format_of(f), HU_RNE, 0);
		kernels()->unpack16(dst, src, n, &p);
		break;
	case 4: copy(dst, src, n); break;
	default:
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_from_bits32(float_bits(d[i]));
		break;
	}
}
