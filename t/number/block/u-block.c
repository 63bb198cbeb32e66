/* SPDX-License-Identifier: Apache-2.0
   Block formats: scales and elements against MPFR's exact quotient rounded in
   one step, known blocks by hand, every code there and back, refusals. */
#include "lib/number/block/block.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { N = 512 };

static hu_block
block(const char *name)
{
	hu_block b;

	if (hu_block_find(name, &b) != HU_OK)
		bail_out("%s", hu_reason());
	return b;
}

static void
fill(float *x, size_t n, uint32_t stream, int spread)
{
	for (unsigned i = 0; i < n; i++) {
		hu_random r = hu_random_at(21, stream, 0, i);
		double m = ldexp(r.w[0], -31) - 1;
		if (r.w[1] % 7 == 0)
			m = ldexp((double)(r.w[0] & 15) - 7, -3); /* ties */
		x[i] = (float)ldexp(m, (int)(r.w[2] % (unsigned)(spread + 1)) - spread / 2);
	}
}

/* |q| rounded to even to an integer times 2^-places by MPFR, from x / scale exact enough: 200 bits cannot hide a tie.
 */
static double
nearest(double x, double scale, int places)
{
	mpfr_t q, s;
	double r;

	mpfr_init2(q, 200);
	mpfr_init2(s, 53);
	mpfr_set_d(q, x, MPFR_RNDN);
	mpfr_set_d(s, scale, MPFR_RNDN);
	mpfr_div(q, q, s, MPFR_RNDN);
	mpfr_mul_2si(q, q, places, MPFR_RNDN);
	mpfr_rint(q, q, MPFR_RNDN);
	mpfr_mul_2si(q, q, -places, MPFR_RNDN);
	r = mpfr_get_d(q, MPFR_RNDN);
	mpfr_clears(q, s, (mpfr_ptr)0);
	return r;
}

static double
clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

/* The element's quotient, written out apart from block.c. */
static double
element(const hu_block *b, double x, hu_block_scale s)
{
	hu_format f = hu_format_of(b->element);

	if (b->element == HU_NO_FORMAT) {
		int top = (1 << (b->bits - 1)) - 1, places = b->kind == HU_BLOCK_POWER2 ? b->bits - 2 : 0;
		if (b->kind == HU_BLOCK_ZERO_POINT)
			return clamp(nearest(x, s.scale, 0) + s.zero, 0, (1 << b->bits) - 1) - s.zero;
		return clamp(nearest(x, s.scale, places), -ldexp(top, -places), ldexp(top, -places));
	}
	double q = fabs(x / s.scale);
	int e = q == 0 ? f.emin : ilogb(q) < f.emin ? f.emin : ilogb(q);
	return clamp(nearest(x, s.scale, f.p - 1 - e), -f.max, f.max);
}

static void
test_elements(const char *name)
{
	hu_block b = block(name);
	float x[N], y[N], once[N];
	long wrong = 0, unstable = 0;
	size_t size = b.size ? b.size : N;

	for (uint32_t trial = 0; trial < 8; trial++) {
		fill(x, N, trial, trial & 1 ? 40 : 4);
		hu_block_cast(&b, y, x, N - trial);
		memcpy(once, y, sizeof once);
		double whole = hu_block_whole(&b, x, N - trial);
		for (size_t at = 0; at < N - trial; at += size) {
			size_t m = N - trial - at < size ? N - trial - at : size;
			hu_block_scale s = hu_block_scale_of(&b, x + at, m, whole);
			for (size_t i = 0; i < m; i++) {
				double want = s.scale == 0 ? 0 : element(&b, (double)x[at + i], s) * s.scale;
				wrong += !((double)y[at + i] == (double)(float)want);
			}
		}
		if (b.kind ==
			HU_BLOCK_POWER2) { /* a second cast may find a smaller scale, which holds the same values */
			hu_block_cast(&b, once, once, N - trial);
			for (size_t i = 0; i < N - trial; i++)
				unstable += once[i] != y[i];
		}
	}
	is_int(wrong, 0, "%s: every element is the exact quotient rounded once, times its scale", name);
	is_int(unstable, 0, "%s: casting again changes nothing", name);
}

/* OCP MX 1.0: the scale is 2^(floor(log2 amax) - emax). */
static void
test_known(void)
{
	float x[32] = { 1, -3, 0.25f, 5.9f, 100 }, y[32];
	hu_block b = block("mxfp4");
	hu_block_scale s = hu_block_scale_of(&b, x, 32, 1);

	is_near(s.scale, 16, 0, "mxfp4: amax 100 has exponent 6, less e2m1's 2: scale 2^4");
	is_int(s.code, 127 + 4, "its e8m0 code");
	hu_block_cast(&b, y, x, 32);
	ok(y[0] == 0 && y[3] == 8 && y[4] == 96 && y[1] == 0, "mxfp4: 1 and -3 vanish, 5.9 is 8, 100 saturates at 96");
	b = block("mxfp8");
	hu_block_cast(&b, y, x, 32);
	ok(y[0] == 1 && y[1] == -3 && y[2] == 0.25f && y[3] == 6 && y[4] == 96, "mxfp8: 5.9 to 6, 100 a tie to 96");
	b = block("mxint8");
	hu_block_cast(&b, y, x, 32);
	ok(y[0] == 1 && y[1] == -3 && y[3] == 6 && y[4] == 100, "mxint8: a unit of 1");
	b = block("nvfp4");
	s = hu_block_scale_of(&b, x, 16, hu_block_whole(&b, x, 32));
	is_int(s.code, 0x7e, "nvfp4: the largest block has scale 448");
	is_near(hu_block_tensor_scale(&b, hu_block_whole(&b, x, 32)), (double)(100.0f / 2688), 0, "over 6 * 448");
	b = block("int8");
	hu_block_cast(&b, y, x, 5);
	ok(y[4] == 100 && fabsf(y[0] - 1) < 0.4f, "int8: amax is 127 steps");
	b = block("int4zp");
	float z[3] = { -1, 0, 6.5f }, w[3];
	hu_block_cast(&b, w, z, 3);
	s = hu_block_scale_of(&b, z, 3, 1);
	ok(s.zero == 2 && w[0] == -1 && w[1] == 0 && w[2] == 6.5f, "int4zp: -1 .. 6.5 in 15 steps of 1/2, zero at 2");
	b = block("bfp4x8s4");
	float v[8] = { 0x1p20f, 1 };
	s = hu_block_scale_of(&b, v, 8, 1);
	is_near(s.scale, 128, 0, "bfp4x8s4: the exponent saturates at 7");
}

static void
test_edges(void)
{
	static const char *const names[] = { "mxfp8", "mxfp6", "mxfp4", "mxint8", "nvfp4", "int8x4", "int4zpx4",
		"bfp6" };
	float zero[40] = { 0 }, bad[40] = { 1, 2, NAN }, y[40];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		hu_block b = block(names[i]);
		long wrong = 0;
		hu_block_cast(&b, y, zero, 40);
		for (int k = 0; k < 40; k++)
			wrong += y[k] != 0;
		hu_block_cast(&b, y, bad, 40);
		wrong += !isnan(y[0]) || !isnan(y[2]) || y[39] != 0;
		bad[2] = -INFINITY;
		hu_block_cast(&b, y, bad, 40);
		wrong += !isnan(y[0]);
		bad[2] = NAN;
		hu_block_cast(&b, y, zero, 0);
		is_int(wrong, 0, "%s: zeros stay, NaN and Inf make their block NaN and no other", names[i]);
	}
}

static void
test_bits(void)
{
	hu_block m = block("mxfp4"), v = block("nvfp4"), g = block("int4zpx128");
	is_near(hu_block_bits(&m, 64), 64 * 4 + 2 * 8, 0, "mxfp4: 4.25 bits an element");
	is_near(hu_block_bits(&v, 64), 64 * 4 + 4 * 8 + 32, 0, "nvfp4: 4.5 and one fp32");
	is_near(hu_block_bits(&g, 256), 256 * 4 + 2 * (32 + 4), 0, "int4 in groups of 128");
}

/* Every element code is worth what it is in its own format times the scale, infinities and NaN of e5m2 too. */
static void
test_decode(void)
{
	static const char *const names[] = { "mxfp8e4m3", "mxfp8e5m2", "mxfp6e3m2", "mxfp6e2m3", "mxfp4", "nvfp4" };
	hu_block_scale s = { .scale = 0x1p-3, .code = 124 };

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		hu_block b = block(names[k]);
		long wrong = 0;
		for (unsigned i = 0; i < 1u << b.bits; i++) {
			uint8_t code = (uint8_t)i;
			double want = hu_decode(i, hu_format_of(b.element)) * 0x1p-3;
			float got;
			hu_block_decode(&b, s, &got, &code, 1);
			wrong += hu_isnan(want) ? !hu_isnan((double)got) : (double)got != want;
		}
		is_int(wrong, 0, "%s: all %u codes of an element", names[k], 1u << b.bits);
	}
}

static void
test_names(void)
{
	static const char *const bad[] = { "mxfp5", "bfp9", "bfp8x0", "bfp8s1", "bfp8y3", "int4x0", "int4x99999999", "",
		"x8", "mxfp8:", "mxfp8::te", "mxfp8:rceil:floor", "mxfp8:te:torchao", "nvfp4:RNZ:te", "nvfp4:RZ:RZ",
		"mxfp4:headroom=2:headroom=3", "mxfp4:times=2:times=2", "nvfp4:46=mse:46=mae" };
	static const char *const good[] = { "mxfp8:torchao:rceil", "nvfp4:fouroversix:46=mae", "fp8tensor:te:inverse",
		"mxfp4:floor:SR:times=3/4:headroom=2", "nvfp4:te:SR:headroom=17/16" };
	hu_block b;
	const char *summary;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(hu_block_find(bad[i], &b) != HU_OK && strstr(hu_reason(), bad[i]), "'%s' is refused: %s", bad[i],
			hu_reason());
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(hu_block_find(good[i], &b) == HU_OK, "'%s' says each thing once", good[i]);
	hu_format_id id;
	ok(hu_format_find("nvfp4", &id) == HU_EINVAL && strstr(hu_reason(), "block format"),
		"nvfp4 is no format of single numbers: %s", hu_reason());
	ok(hu_format_find("bfp9", &id) == HU_EINVAL && strstr(hu_reason(), "character 4"), "nor is bfp9: %s",
		hu_reason());
	ok(hu_block_find("MXFP8", &b) == HU_OK && b.element == HU_E4M3 && b.size == 32, "MXFP8 is found in any case");
	ok(hu_block_find("int4x32", &b) == HU_OK && b.size == 32 && b.bits == 4, "int4x32 has groups of 32");
	ok(hu_block_find("bfp6x16s5", &b) == HU_OK && b.size == 16 && b.bits == 6 && b.scale_bits == 5, "bfp6x16s5");
	for (int i = 0; hu_block_row(i, &summary); i++)
		ok(hu_block_find(hu_block_row(i, &summary), &b) == HU_OK && *summary, "%s: %s",
			hu_block_row(i, &summary), summary);
}

int
main(void)
{
	static const char *const names[] = { "mxfp8e4m3", "mxfp8e5m2", "mxfp6e3m2", "mxfp6e2m3", "mxfp4", "mxint8",
		"nvfp4", "int8", "int4", "int8zp", "int4zp", "int8x32", "int4zpx16", "bfp8", "bfp4x16s8", "bfp2x7s3" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		test_elements(names[i]);
	test_known();
	test_edges();
	test_bits();
	test_decode();
	test_names();
	mpfr_free_cache();
	return done_testing();
}
