/* SPDX-License-Identifier: Apache-2.0
   Arrays against the scalar functions, bit for bit: every instruction set this
   processor has, every format, mode and flag, all lengths 0..67 at every
   alignment, in place and not, nothing written past the end. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTHS = 68, OFFSETS = 4, MANY = 20000, GUARD = 0x5a5a5a5a };

#define INDEX0 UINT64_C(0xfffffff0) /* the index's low word wraps inside */

static const hu_stream stream = { 0x123456789abcdefu, 77, 3 };

/* Every exponent with significands at and beside ties of every format, both signs; then any bits. */
static uint32_t
pattern(unsigned i)
{
	static const uint32_t drops[] = { 13, 16, 20, 21 };
	hu_random r = hu_random_at(5, 0, 0, i);
	uint32_t d = drops[r.w[0] & 3] + (r.w[0] >> 2 & 3), tie = 1u << ((d > 22 ? 22 : d) - 1), m;

	if (i & 1)
		return r.w[1];
	m = (r.w[2] & ~(2 * tie - 1)) + (r.w[0] >> 8 & 1 ? tie : 0) + (r.w[0] >> 9 & 3) - 1;
	return (i % 512 / 2) << 23 | (m & 0x7fffffu) | (r.w[3] & 0x80000000u);
}

static uint32_t
want_round(uint32_t u, hu_format_id f, hu_mode mode, int flags, uint64_t index)
{
	uint32_t rand = hu_mode_draws(mode) ? hu_random_cast(stream, index) : 0;
	double r = hu_round((double)hu_from_bits32(u), hu_format_of(f), mode, flags, rand);

	return hu_isnan(r) ? 0x7fc00000u : hu_bits32((float)r);
}

static void
test_round(const uint32_t *src, uint32_t *dst, const uint32_t *want, hu_format_id f, hu_mode mode, int flags)
{
	long wrong = 0;

	hu_bulk_round((float *)dst, (const float *)src, MANY, f, mode, flags, &stream, INDEX0);
	for (unsigned i = 0; i < MANY; i++)
		wrong += dst[i] != want[i];
	for (size_t n = 0; n < LENGTHS; n++)
		for (size_t o = 0; o < OFFSETS; o++) {
			uint32_t out[LENGTHS + OFFSETS + 1];
			for (size_t i = 0; i < LENGTHS + OFFSETS + 1; i++)
				out[i] = i >= o && i < o + n ? src[7 * n + i - o] : GUARD;
			hu_bulk_round(
				(float *)out + o, (const float *)out + o, n, f, mode, flags, &stream, INDEX0 + 7 * n);
			for (size_t i = 0; i < LENGTHS + OFFSETS + 1; i++)
				wrong += out[i] != (i >= o && i < o + n ? want[7 * n + i - o] : GUARD);
		}
	is_int(wrong, 0, "%s %s %s, flags %x: every element as hu_round", hu_simd_name(), hu_format_name(f),
		hu_mode_name(mode), (unsigned)flags);
}

/* Each instruction set against the same wanted bits. */
static void
test_levels(const uint32_t *src, uint32_t *dst, uint32_t *want, hu_format_id f, hu_mode mode, int flags)
{
	for (unsigned i = 0; i < MANY; i++)
		want[i] = want_round(src[i], f, mode, flags, INDEX0 + i);
	for (int level = 0; level < HU_SIMDS; level++)
		if (hu_simd_has((hu_simd)level)) {
			hu_simd_set(hu_simd_name_of((hu_simd)level));
			test_round(src, dst, want, f, mode, flags);
		}
}

static void
test_format(const uint32_t *src, uint32_t *dst, uint32_t *want, hu_format_id f)
{
	static const int flags[] = { 0, HU_SATURATE, HU_FTZ, HU_DAZ | HU_SATURATE };

	for (int m = 0; m < HU_MODES; m++)
		for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
			test_levels(src, dst, want, f, (hu_mode)m, flags[i]);
	test_levels(src, dst, want, f, HU_SR, HU_RANDOM_BITS(5));
	test_levels(src, dst, want, f, HU_SR, HU_RANDOM_BITS(32));
}

static uint64_t
load(const unsigned char *p, size_t bytes)
{
	uint8_t a;
	uint16_t b;

	if (bytes == 1) {
		memcpy(&a, p, 1);
		return a;
	}
	memcpy(&b, p, 2);
	return b;
}

/* Every code of a format of at most 16 bits there and back, through arrays. */
static void
test_codes(hu_format_id id)
{
	hu_format f = hu_format_of(id);
	size_t count = (size_t)1 << f.bits, bytes = hu_bulk_element(id);
	unsigned char *codes = malloc(count * bytes + 1), *back = malloc(count * bytes + 1);
	float *values = malloc(count * sizeof *values);
	long wrong = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t a = (uint8_t)i;
		uint16_t b = (uint16_t)i;
		memcpy(codes + i * bytes, bytes == 1 ? (void *)&a : (void *)&b, bytes);
	}
	hu_bulk_unpack(values, codes, count, id);
	hu_bulk_pack(back, values, count, id);
	for (size_t i = 0; i < count; i++) {
		double x = hu_decode(i, f);
		uint32_t want = hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
		wrong += hu_bits32(values[i]) != want;
		if (hu_isnan(x) || (double)(float)x == x) /* a float can carry it */
			wrong += load(back + i * bytes, bytes) != hu_encode(x, f);
	}
	for (size_t n = 0; n < LENGTHS && 2 * n + 1 <= count; n++)
		for (size_t o = 0; o < OFFSETS && o + n < count; o++) {
			memset(back, 0x5a, count * bytes + 1);
			hu_bulk_pack(back + bytes * o, values + n + 1, n, id);
			for (size_t i = 0; i < n; i++)
				wrong += load(back + (o + i) * bytes, bytes) != hu_encode((double)values[n + 1 + i], f);
			wrong += back[(o + n) * bytes] != 0x5a;
		}
	is_int(wrong, 0, "%s %s: all %zu codes unpack and pack as hu_decode and hu_encode", hu_simd_name(),
		hu_format_name(id), count);
	free(codes);
	free(back);
	free(values);
}

static void
test_doubles(void)
{
	long wrong = 0;
	double x[64], y[64];

	for (int f = 0; f < HU_FORMATS; f++)
		for (int m = 0; m < HU_MODES; m++) {
			for (unsigned i = 0; i < 64; i++) {
				hu_random r = hu_random_at(9, 0, 0, i);
				x[i] = hu_from_bits64((uint64_t)r.w[0] << 32 | r.w[1]);
			}
			hu_bulk_round_f64(y, x, 64, (hu_format_id)f, (hu_mode)m, 0, &stream, 11);
			for (unsigned i = 0; i < 64; i++) {
				uint32_t rand = hu_random_cast(stream, 11 + i);
				wrong += hu_bits64(y[i]) !=
					 hu_bits64(hu_round(x[i], hu_format_of((hu_format_id)f), (hu_mode)m, 0, rand));
			}
		}
	is_int(wrong, 0, "arrays of doubles as hu_round");
}

static void
test_wide_elements(void)
{
	uint32_t in[4] = { 0x7f800001u, 0x80000000u, 0x3f800000u, 0xff800000u }, out[4];
	double d[4];

	hu_bulk_pack(out, (const float *)in, 4, HU_FP32);
	is_bits32(out[0], 0x7fc00000u, "fp32 packs every NaN as one");
	is_bits32(out[1], in[1], "fp32 packs -0 as itself");
	hu_bulk_pack(d, (const float *)in, 4, HU_FP64);
	is_bits64(hu_bits64(d[3]), 0xfff0000000000000u, "fp64 packs -Inf");
	hu_bulk_unpack((float *)out, d, 4, HU_FP64);
	is_bits32(out[2], in[2], "fp64 unpacks to the float");
	is_int((long long)hu_bulk_element(HU_TF32), 4, "a tf32 element is an fp32 word");
	is_int((long long)hu_bulk_element(HU_E4M3), 1, "an e4m3 element is a byte");
}

static void
test_names(void)
{
	is_int(hu_simd_set("sse9"), HU_EINVAL, "an unknown instruction set is refused");
	is_int(hu_simd_set("scalar"), HU_OK, "scalar is everywhere");
	is_text(hu_simd_name(), "scalar", "and is then in use");
	setenv("HALFULP_SIMD", "auto", 1);
	is_int(hu_simd_from_env(), HU_OK, "HALFULP_SIMD=auto");
	setenv("HALFULP_SIMD", "none", 1);
	is_int(hu_simd_from_env(), HU_EINVAL, "a wrong HALFULP_SIMD is refused");
}

int
main(void)
{
	static const char *const custom[] = { "binary8p1", "binary8p3", "binary8p7", "e4m3b11fnuz", "e3m0finite",
		"e4m0fn", "e5m7", "e8m4fn", "e9m6", "e6m21", "e8m7b130fn", "e8m23fn", "e11m40", "fp16nosub", "e5m2ftz",
		"bf16nosub", "e4m3sat", "binary8p3u", "binary8p4uf", "binary6p1", "e6m17", "fp32nosub", "e7m8b127",
		"e5m8b127", "e4m3b127", "e5m2sat" };
	enum { CUSTOM = sizeof custom / sizeof *custom };
	uint32_t *src = malloc(MANY * sizeof *src), *dst = malloc(MANY * sizeof *dst),
		 *want = malloc(MANY * sizeof *want);

	for (unsigned i = 0; i < MANY; i++)
		src[i] = pattern(i);
	for (int i = 0; i < HU_FORMATS + CUSTOM; i++) {
		hu_format_id f = (hu_format_id)i;
		if (i >= HU_FORMATS && hu_format_find(custom[i - HU_FORMATS], &f) != HU_OK)
			bail_out("%s", hu_reason());
		test_format(src, dst, want, f);
		for (int level = 0; level < HU_SIMDS && hu_bulk_element(f) <= 2; level++)
			if (hu_simd_has((hu_simd)level)) {
				hu_simd_set(hu_simd_name_of((hu_simd)level));
				test_codes(f);
			}
	}
	for (int level = 0; level < HU_SIMDS; level++)
		if (!hu_simd_has((hu_simd)level))
			skip(1, "%s: not on this processor", hu_simd_name_of((hu_simd)level));
	test_doubles();
	test_wide_elements();
	test_names();
	free(src);
	free(dst);
	free(want);
	return done_testing();
}
