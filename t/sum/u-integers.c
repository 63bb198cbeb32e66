/* SPDX-License-Identifier: Apache-2.0
   Models of x86's integer dot products against the instructions: vpmaddubsw, vpmaddwd and vpaddd (AVX2), and vpdpbusd
   and vpdpbusds where the processor has them, on drawn sums from start values, many of which leave 16 or 32 bits. */
#include "lib/number/philox.h"
#include "lib/sum/model/row.h"
#include "t/tool/tap.h"

#include <string.h>

#if defined __x86_64__ && defined __linux__
#include <immintrin.h>

enum { SUMS = 1000000, MOST = 24 };

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_word(20261130, 1, 0, counter++);
}

__attribute__((target("avx2"))) static int32_t
by_maddubs(int32_t c, const uint8_t *a, const int8_t *b)
{
	int32_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	__m128i pairs = _mm_maddubs_epi16(_mm_cvtsi32_si128(x), _mm_cvtsi32_si128(y));
	return _mm_cvtsi128_si32(_mm_add_epi32(_mm_cvtsi32_si128(c), _mm_madd_epi16(pairs, _mm_set1_epi16(1))));
}

__attribute__((target("avx512vnni,avx512vl"))) static int32_t
by_dpbusd(int32_t c, const uint8_t *a, const int8_t *b)
{
	int32_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return _mm_cvtsi128_si32(_mm_dpbusd_epi32(_mm_cvtsi32_si128(c), _mm_cvtsi32_si128(x), _mm_cvtsi32_si128(y)));
}

__attribute__((target("avx512vnni,avx512vl"))) static int32_t
by_dpbusds(int32_t c, const uint8_t *a, const int8_t *b)
{
	int32_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return _mm_cvtsi128_si32(_mm_dpbusds_epi32(_mm_cvtsi32_si128(c), _mm_cvtsi32_si128(x), _mm_cvtsi32_si128(y)));
}

/* Operands of any size, or of the ends of the range. */
static void
draw(uint8_t *a, int8_t *b, size_t n)
{
	int ends = bits() % 2;

	for (size_t k = 0; k < n; k++) {
		a[k] = (uint8_t)(ends ? 255 - bits() % 2 : bits() % 256);
		b[k] = (int8_t)(ends ? (bits() % 2 ? 127 : -128) : (int)(bits() % 256) - 128);
	}
}

static void
against(const char *text, int has, int32_t (*instruction)(int32_t, const uint8_t *, const int8_t *))
{
	hu_sum s;
	int differ = 0, beyond = 0;

	if (!has) {
		skip(1, "this processor has no instruction of %s", text);
		return;
	}
	if (hu_sum_parse(text, &s) != HU_OK || hu_sum_resolve(&s, HU_FP32, HU_FP32, HU_FP32) != HU_OK)
		bail_out("%s", hu_reason());
	for (int i = 0; i < SUMS; i++) {
		uint8_t a[MOST] = { 0 };
		int8_t b[MOST] = { 0 };
		double x[MOST], y[MOST];
		size_t n = 1 + bits() % MOST;
		int32_t start = (int32_t)bits(), c = start;
		int64_t exact = start;
		if (i % 2)
			exact = start = c = bits() % 2 ? INT32_MAX - (int32_t)(bits() % 99999)
						       : INT32_MIN + (int32_t)(bits() % 99999);
		draw(a, b, n);
		for (size_t k = 0; k < n; k++) {
			x[k] = a[k];
			y[k] = b[k];
			exact += a[k] * b[k];
		}
		for (size_t k = 0; k < n; k += 4)
			c = instruction(c, a + k, b + k);
		differ += hu_sum_model_of(s.id)->from(x, y, n, start, s, NULL) != c;
		beyond += exact != c;
	}
	ok(!differ && beyond > SUMS / 10, "%s: of %d sums (%d leave 16 or 32 bits) %d differ from this processor's",
		text, SUMS, beyond, differ);
}
#endif

int
main(void)
{
#if defined __x86_64__ && defined __linux__
	__builtin_cpu_init();
	int vnni = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
	against("avx2int8", __builtin_cpu_supports("avx2") != 0, by_maddubs);
	against("vnniint8", vnni, by_dpbusd);
	against("vnniint8,saturate=1", vnni, by_dpbusds);
#else
	skip(3, "no x86 processor, whose instructions are asked");
#endif
	return done_testing();
}
