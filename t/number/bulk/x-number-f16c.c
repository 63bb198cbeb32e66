/* SPDX-License-Identifier: Apache-2.0
   The processor's own conversions of all 2^32 floats: where the bulk loops use them (fp16 codes to nearest
   even) they give the plain loops' bits, and where they do not (bf16) the reason is counted. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"
#include "t/tool/progress.h"
#include "t/tool/tap.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static void
fill(float *src, uint32_t first)
{
	for (uint32_t k = 0; k < CHUNK; k++)
		src[k] = hu_from_bits32(first + k);
}

static void
test_codes(hu_format_id f, hu_simd level, uint32_t share)
{
	char what[64];
	progress p;
	double start = omp_get_wtime();
	long wrong = 0;

	snprintf(what, sizeof what, "%s %s", hu_format_name(f), hu_simd_name_of(level));
	p = progress_of(what, CHUNK / (long)share);
	for (uint32_t c = 0; c < CHUNK; c += share) {
		static float src[CHUNK];
		static uint16_t want[CHUNK], got[CHUNK];
		fill(src, c << 16);
		hu_simd_set("scalar");
		hu_bulk_encode(want, src, CHUNK, f, HU_RNE, 0, NULL, 0);
		hu_simd_set(hu_simd_name_of(level));
		hu_bulk_encode(got, src, CHUNK, f, HU_RNE, 0, NULL, 0);
		for (uint32_t k = 0; memcmp(got, want, sizeof got) != 0 && k < CHUNK; k++)
			wrong += got[k] != want[k];
		progress_step(&p);
	}
	is_int(wrong, 0, "%s codes, RNE, %s and plain loops: %s 2^32 floats", hu_format_name(f), hu_simd_name_of(level),
		share == 1 ? "all" : "a part of the");
	diag("%s %s: %.1f s", hu_format_name(f), hu_simd_name_of(level), omp_get_wtime() - start);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Sixteen floats to bf16 by VCVTNEPS2BF16, and to fp16 by VCVTPS2PHX. */
static __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void
to_bf16(uint16_t *dst, const float *src)
{
	_mm256_storeu_si256((__m256i *)dst, (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(src)));
}

#if defined(__AVX512FP16__) || __GNUC__ >= 12
#define HAVE_FP16 1
static __attribute__((target("avx512f,avx512bw,avx512vl,avx512fp16"))) void
to_fp16(uint16_t *dst, const float *src)
{
	_mm256_storeu_si256((__m256i *)dst, _mm256_castph_si256(_mm512_cvtxps_ph(_mm512_loadu_ps(src))));
}
#endif

/* Differences that the instruction's definition does not name: bf16's takes subnormal inputs for zero, and both keep
   NaN's payload. */
static void
test_instruction(const char *name, void (*convert)(uint16_t *dst, const float *src), hu_format_id f, int no_subnormals,
	uint32_t share)
{
	long other = 0, subnormals = 0, nans = 0;

	hu_simd_set("scalar");
	for (uint32_t c = 0; c < CHUNK; c += share) {
		static float src[CHUNK];
		static uint16_t want[CHUNK], got[CHUNK];
		fill(src, c << 16);
		hu_bulk_encode(want, src, CHUNK, f, HU_RNE, 0, NULL, 0);
		for (uint32_t k = 0; k < CHUNK; k += 16)
			convert(got + k, src + k);
		for (uint32_t k = 0; memcmp(got, want, sizeof got) != 0 && k < CHUNK; k++) {
			uint32_t a = hu_bits32(src[k]) & 0x7fffffffu;
			if (got[k] == want[k])
				continue;
			nans += a > 0x7f800000u;
			subnormals += a < 0x00800000u;
			other += a >= 0x00800000u && a <= 0x7f800000u;
		}
	}
	is_int(other, 0, "%s is %s's RNE of normal floats, zeros and infinities", name, hu_format_name(f));
	ok(no_subnormals ? subnormals > 0 : subnormals == 0, "%s: %ld subnormal floats become other numbers%s", name,
		subnormals, no_subnormals ? ", which is why the loops leave it alone" : "");
	diag("%s: %ld NaN keep a payload", name, nans);
}

static void
test_instructions(uint32_t share)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512bf16"))
		test_instruction("VCVTNEPS2BF16", to_bf16, HU_BF16, 1, share);
	else
		skip(2, "no AVX512-BF16");
#if defined(HAVE_FP16)
	unsigned a, b, c, d;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(0));
	if (__builtin_cpu_supports("avx512vl") && d >> 23 & 1)
		test_instruction("VCVTPS2PHX", to_fp16, HU_FP16, 0, share);
	else
		skip(2, "no AVX512-FP16");
#endif
}
#else
static void test_instructions(uint32_t share) { (void)share; }
#endif

/* An argument: every how many chunks, for whoever wants a time. */
int
main(int argc, char **argv)
{
	uint32_t share = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;

	for (int s = 0; s < HU_SIMDS; s++)
		if (s != HU_SIMD_SCALAR && hu_simd_has((hu_simd)s)) {
			test_codes(HU_FP16, (hu_simd)s, share);
			test_codes(HU_BF16, (hu_simd)s, share);
		}
	test_instructions(share);
	return done_testing();
}
