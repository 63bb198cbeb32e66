/* SPDX-License-Identifier: Apache-2.0
   The operations that the benchmark of casts times, how each is checked against hu_round, and the values that they
   cast. */
#include "trainer/bench/cast.h"

#include "lib/number/bulk/bulk_table.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

#include <string.h>

enum { SAMPLE = 997, PATTERN = 1 << 18 };

static const hu_stream stream = { 1, 2, 3 };

static uint32_t
bits_of(double x)
{
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

static double
want(double x, size_t i, hu_format_id f, hu_mode m)
{
	return hu_round(x, hu_format_of(f), m, 0, hu_mode_draws(m) ? hu_random_cast(stream, i) : 0);
}

static uint64_t
code_at(const void *codes, size_t i, hu_format_id f)
{
	return hu_bulk_element(f) == 1 ? ((const uint8_t *)codes)[i] : ((const uint16_t *)codes)[i];
}

static void
run_round(hu_cast *c, hu_format_id f, hu_mode m)
{
	hu_bulk_round(c->dst, c->src, c->n, f, m, 0, &stream, 0);
}
static void
run_round64(hu_cast *c, hu_format_id f, hu_mode m)
{
	hu_bulk_round_f64(c->wide_dst, c->wide, c->n / 2, f, m, 0, &stream, 0);
}
static void
run_encode(hu_cast *c, hu_format_id f, hu_mode m)
{
	hu_bulk_encode(c->back, c->src, c->n, f, m, 0, &stream, 0);
}
static void run_unpack(hu_cast *c, hu_format_id f, hu_mode m) { (void)m, hu_bulk_unpack(c->dst, c->codes, c->n, f); }
static void run_pack(hu_cast *c, hu_format_id f, hu_mode m) { (void)m, hu_bulk_pack(c->back, c->dst, c->n, f); }

/* Only draws the random bits of stochastic rounding: no rounding that uses them can be faster. */
static void
run_pieces(hu_cast *c, hu_format_id f, hu_mode m)
{
	(void)f, (void)m;
	c->pieces = hu_bulk_kernels_of(hu_simd_level())->pieces(&stream, c->n / HU_BULK_SOME * HU_BULK_SOME, 0);
}

static long
check_pieces(const hu_cast *c, hu_format_id f, hu_mode m)
{
	uint32_t x = c->pieces;

	(void)f, (void)m;
	for (size_t i = 0; i < c->n / HU_BULK_SOME * HU_BULK_SOME; i += HU_BULK_SOME)
		x ^= hu_random_piece(stream, i, 0);
	return x != 0;
}

static long
check_round(const hu_cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += hu_bits32(c->dst[i]) != bits_of(want((double)c->src[i], i, f, m));
	return wrong;
}

static long
check_round64(const hu_cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n / 2; i += SAMPLE)
		wrong += hu_bits64(c->wide_dst[i]) != hu_bits64(want(c->wide[i], i, f, m));
	return wrong;
}

static long
check_codes(const hu_cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += code_at(c->back, i, f) != hu_encode(want((double)c->src[i], i, f, m), hu_format_of(f));
	return wrong;
}

static long
check_unpack(const hu_cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	(void)m;
	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += hu_bits32(c->dst[i]) != bits_of(hu_decode(code_at(c->codes, i, f), hu_format_of(f)));
	return wrong;
}

const hu_cast_op hu_cast_ops[HU_CAST_OPS] = {
	{ "round", 0, 1, run_round, check_round },
	{ "encode", 1, 1, run_encode, check_codes },
	{ "unpack", 1, 0, run_unpack, check_unpack },
	{ "pack", 1, 0, run_pack, check_codes },
	{ "round64", 0, 1, run_round64, check_round64 },
	{ "pieces", 0, 0, run_pieces, check_pieces },
};

void
hu_cast_fill(hu_cast *c, hu_format_id id)
{
	hu_format f = hu_format_of(id);
	int low = f.emin - f.p - 2 < -149 ? -149 : f.emin - f.p - 2, high = f.emax + 2 > 127 ? 127 : f.emax + 2;
	static const float special[] = { 0.0f, -0.0f, 0x1p-149f, __builtin_inff(), -__builtin_inff(),
		__builtin_nanf("") };

	for (size_t i = 0; i < PATTERN && i < c->n; i++) {
		hu_random r = hu_random_at(7, 0, 0, i);
		int e = low + (int)(r.w[1] % (uint32_t)(high - low + 1)),
		    lost = 24 - f.p + (e < f.emin ? f.emin - e : 0);
		uint32_t m = r.w[0] & 0x7fffffu;
		if ((r.w[2] & 15) == 0 && lost > 0 && lost < 24)
			m = (m >> lost << lost) | 1u << (lost - 1);
		c->src[i] = (float)((double)(m | 0x800000u) * hu_pow2(e - 23)) * (r.w[2] >> 31 ? -1.0f : 1.0f);
		if ((r.w[3] & 511) == 0)
			c->src[i] = special[(r.w[3] >> 9) % (sizeof special / sizeof *special)];
	}
	for (size_t i = PATTERN; i < c->n; i += PATTERN)
		memcpy(c->src + i, c->src, (c->n - i < PATTERN ? c->n - i : PATTERN) * sizeof *c->src);
	for (size_t i = 0; i < c->n / 2; i++)
		c->wide[i] = (double)c->src[i] * (1 + (double)(i % 3) * 0x1p-40);
}

