/* SPDX-License-Identifier: Apache-2.0
   Stochastic rounding of arrays where it is closest to going wrong: fractions at,
   just below and just above the very word that is drawn, whose first 16 bits then never
   decide, and around the words with the same first 16 bits; in the subnormal range
   (where all 32 bits count) and above, around the largest value, and where the word is 0, 1 or 2^32 - 1. Values and
   codes of every instruction set against hu_round, bit for bit. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"
#include "lib/number/draw.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eight elements a call, which draw the same eight words for many values; then the rest at once. */
enum { EIGHTS = 4000, N = 8001 };

static const hu_stream stream = { 0x123456789abcdefu, 77, 3 };
/* Multiples of 8. Under this stream index 3733842762 draws ffffffff, 4559974659 draws 0, 1728585977 draws 1. */
static const uint64_t starts[] = { 0, UINT64_C(0xfffffff0), 3733842760, 4559974656, 1728585976 };

enum { STARTS = sizeof starts / sizeof *starts };

static uint32_t
word(uint64_t index)
{
	return hu_random_cast(stream, index);
}

/* A multiple of the place at some magnitude and a fraction beside W 2^-32 of that place. */
static double
beside(hu_format f, uint32_t w, unsigned i)
{
	hu_random r = hu_random_at(31, 0, 0, i);
	uint32_t aim = r.w[1] >> 30 ? w
				    : (w & 0xffff0000u) +
					      (r.w[1] >> 28 & 3) *
						      0xffff; /* the first and last word with those bits, and beyond */
	double fraction = (double)aim + (double)(r.w[0] % 6) / 2 - 0.5, scale, x;
	int p = f.p, e = r.w[0] >> 3 & 1 ? f.emin : f.emin + (int)(r.w[1] % (unsigned)(f.emax - f.emin + 2));
	uint64_t m = r.w[0] >> 4 & 1 ? 0
				     : (r.w[0] >> 5 & 1 ? (uint64_t)1 << (p - 1) : 0) +
					       r.w[2] % ((uint64_t)1 << (p - 1)); /* subnormal or normal, or 0 */

	if (r.w[0] >> 6 & 1) /* the last place below what follows the largest value, or a binade */
		m = ((uint64_t)1 << p) - 1;
	scale = ldexp(1, e - p + 1);
	x = ((double)m + ldexp(fraction, -32)) * scale;
	return r.w[3] & 3 ? x
			  : (double)hu_from_bits32(hu_bits32((float)x) + (r.w[3] >> 2 & 2) -
						   1); /* sometimes the next float either way */
}

static void
test_draws(hu_format_id id)
{
	hu_format f = hu_format_of(id);
	float *src = malloc(N * sizeof *src), *dst = malloc(N * sizeof *dst);
	unsigned char *codes = malloc(N * sizeof(float));
	size_t bytes = hu_bulk_element(id);
	long wrong_one = 0;

	for (int s = 0; s < STARTS; s++) {
		for (unsigned i = 0; i < N; i++) {
			uint64_t index = starts[s] + (i < EIGHTS ? i % 8 : i - EIGHTS);
			double x = beside(f, word(index), i) * (i & 1 && hu_has_sign(f) ? -1 : 1);
			src[i] = (float)x;
			wrong_one += hu_bits64(hu_round_drawn(x, f, HU_SR, 0, stream, index)) !=
				     hu_bits64(hu_round(x, f, HU_SR, 0, word(index)));
		}
		for (int level = 0; level < HU_SIMDS; level++) {
			long wrong = 0, wrong_codes = 0;
			if (!hu_simd_has((hu_simd)level))
				continue;
			hu_simd_set(hu_simd_name_of((hu_simd)level));
			for (size_t at = 0, n; at < N; at += n) {
				n = at < EIGHTS ? 8 : N - at;
				hu_bulk_round(dst + at, src + at, n, id, HU_SR, 0, &stream, starts[s]);
				if (bytes <= 2)
					hu_bulk_encode(
						codes + at * bytes, src + at, n, id, HU_SR, 0, &stream, starts[s]);
				for (size_t i = at; i < at + n; i++) {
					double want = hu_round((double)src[i], f, HU_SR, 0, word(starts[s] + i - at));
					uint64_t code = 0;
					wrong += hu_bits32(dst[i]) !=
						 (hu_isnan(want) ? 0x7fc00000u : hu_bits32((float)want));
					if (bytes <= 2) {
						memcpy(&code, codes + i * bytes, bytes);
						wrong_codes += code != hu_encode(want, f);
					}
				}
			}
			is_int(wrong, 0, "%s %s from index %llu: values as hu_round's", hu_simd_name(),
				hu_format_name(id), (unsigned long long)starts[s]);
			is_int(wrong_codes, 0, "%s %s from index %llu: codes", hu_simd_name(), hu_format_name(id),
				(unsigned long long)starts[s]);
		}
	}
	is_int(wrong_one, 0, "%s: one by one, with no more bits than matter", hu_format_name(id));
	free(src);
	free(dst);
	free(codes);
}

int
main(void)
{
	static const char *const custom[] = { "binary8p1", "binary8p3", "binary8p4", "e3m0finite", "e4m0fn", "e5m7",
		"e6m17", "e6m21", "e5m16", "fp16nosub", "e4m3sat", "e5m2sat", "e4m3fnuz", "e8m5", "e8m2", "e5m8b127",
		"e4m3b127" };

	is_bits32(word(3733842762), 0xffffffffu, "the largest word is where it was found");
	is_bits32(word(4559974659), 0, "and 0");
	is_bits32(word(1728585977), 1, "and 1");
	for (int i = 0; i < HU_FORMATS + (int)(sizeof custom / sizeof *custom); i++) {
		hu_format_id f = (hu_format_id)i;
		if (i >= HU_FORMATS && hu_format_find(custom[i - HU_FORMATS], &f) != HU_OK)
			bail_out("%s", hu_reason());
		if (hu_format_of(f).emax <= 127 && hu_format_of(f).emin - hu_format_of(f).p >= -149)
			test_draws(f);
	}
	return done_testing();
}
