/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded arithmetic of the small formats against MPFR: value, ternary sign and flags in every
   mode. Every pair for + - * / in the formats of at most 8 bits that have a name of their own, a share
   in their relatives (t/number/x-number-arith.c takes all), fma on corners, every square root up to 16 bits. */
#include "lib/number/arith.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/oracle/oracle-arith.h"
#include "t/oracle/some-formats.h"
#include "t/tool/tap.h"

#include <math.h>

static void
test_pairs(hu_format f, int share)
{
	arith_tally t = { 0, 0, ARITH_ADD, HU_RNE, 0, 0, 0 };
	uint32_t n = (uint32_t)1 << f.bits;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			for (int op = ARITH_ADD; op <= ARITH_DIV; op++)
				if (share == 1 ||
					hu_random_at(13, (uint32_t)f.id, 0, (i << f.bits | j) * 4 + (uint32_t)op).w[0] %
							(uint32_t)share ==
						0)
					arith_check(&t, (arith_op)op, hu_decode(i, f), hu_decode(j, f), 0, f, 0,
						i * 0x9e3779b9u + j * 0x85ebca6bu);
	arith_told(&t, share == 1 ? "every pair, + - * /" : "a share of the pairs, + - * /", f);
}

static void
test_roots(hu_format f)
{
	arith_tally t = { 0, 0, ARITH_ADD, HU_RNE, 0, 0, 0 };

	for (uint32_t i = 0; i < (uint32_t)1 << f.bits; i++)
		arith_check(&t, ARITH_SQRT, hu_decode(i, f), 0, 0, f, 0, i * 0x9e3779b9u);
	arith_told(&t, "every square root", f);
}

/* Zeros, the smallest numbers, those about the smallest normal one and about 1, the largest, what is no number. */
static int
corners(hu_format f, double *out)
{
	uint64_t n = (uint64_t)1 << f.bits, one = hu_encode(hu_round(1, f, HU_RZ, HU_SATURATE, 0), f),
		 top = hu_encode(f.max, f), normal = (uint64_t)1 << (f.p - 1);
	uint64_t magnitudes[] = { 0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1, one + normal, top / 2,
		top - 1, top, top + 1 };
	uint64_t sign = hu_has_sign(f) ? n >> 1 : 0;
	int m = 0;

	for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++) {
		out[m++] = hu_decode(magnitudes[i] & (n - 1), f);
		if (sign)
			out[m++] = hu_decode((magnitudes[i] | sign) & (n - 1), f);
	}
	return m;
}

static void
test_fma(hu_format f)
{
	arith_tally t = { 0, 0, ARITH_ADD, HU_RNE, 0, 0, 0 };
	double x[32];
	int n = corners(f, x);

	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			for (int k = 0; k < n; k++)
				arith_check(&t, ARITH_FMA, x[i], x[j], x[k], f, k % 3 ? 0 : HU_SATURATE,
					(uint32_t)(i + 64 * j) * 0x9e3779b9u + (uint32_t)k);
	arith_told(&t, "fma of corners", f);
}

/* In e4m3 and below no fma is wrong through fp32: a product's 8 bits and c never span 24. In e5m2 some are. */
static void
test_through_fp32(hu_format_id id, int some)
{
	hu_format f = hu_format_of(id);
	long wrong = 0;

	for (uint32_t i = 0; i < 128; i++)
		for (uint32_t j = i; j < 128; j++)
			for (uint32_t k = 0; k < 256; k++) {
				double a = hu_decode(i, f), b = hu_decode(j, f), c = hu_decode(k, f);
				double once = hu_arith_fma(a, b, c, f, HU_RNE, 0, 0).value,
				       twice = hu_round((double)fmaf((float)a, (float)b, (float)c), f, HU_RNE, 0, 0);
				wrong += once != twice && !(isnan(once) && isnan(twice));
			}
	ok(some ? wrong > 0 : wrong == 0,
		"%s: of all fused multiply-adds up to signs fp32 followed by a rounding gets %ld wrong",
		hu_format_name(id), wrong);
}

static void
test_special(void)
{
	hu_format h = hu_format_of(HU_FP16);

	ok(isnan(hu_arith_sub(INFINITY, INFINITY, h, HU_RNE, 0, 0).value) &&
			hu_arith_sub(INFINITY, INFINITY, h, HU_RNE, 0, 0).flags == HU_INVALID,
		"inf - inf is invalid");
	is_int(hu_arith_mul(0, INFINITY, h, HU_RNE, 0, 0).flags, HU_INVALID, "so is 0 * inf");
	is_int(hu_arith_sqrt(-1, h, HU_RNE, 0, 0).flags, HU_INVALID, "and the root of -1");
	is_int(hu_arith_add(NAN, 1, h, HU_RNE, 0, 0).flags, 0, "NaN in, NaN out is not");
	is_bits64(hu_bits64(hu_arith_sub(1, 1, h, HU_RD, 0, 0).value), hu_bits64(-0.0), "1 - 1 is -0 under RD");
	is_near(hu_arith_add(0x1p-20, 0x1p-20, h, HU_RNE, HU_DAZ, 0).value, 0, 0, "DAZ: subnormal operands are zero");
	is_near(hu_arith_mul(0x1p-10, 0x1p-10, h, HU_RNE, HU_DAZ, 0).value, 0x1p-20, 0, "and a subnormal result stays");
	is_near(hu_arith_mul(0x1p-10, 0x1p-10, h, HU_RNE, HU_FTZ, 0).value, 0, 0, "which FTZ flushes");
	ok(!hu_arith_serves(hu_format_of(HU_FP64)) && hu_arith_serves(hu_format_of(HU_FP32)),
		"doubles serve fp32, not fp64");
}

int
main(void)
{
	hu_format f[SOME_FORMATS];
	int n = some_formats(f, 1, 16);

	for (int i = 0; i < n; i++) {
		int named = (int)f[i].id < HU_FORMATS || (f[i].special == HU_SPECIAL_P3109 && !f[i].flags);
		if (f[i].bits <= 8)
			test_pairs(f[i], named || f[i].bits < 7 ? 1 : 16);
		if (f[i].bits <= 8)
			test_fma(f[i]);
		if (f[i].bits <= 8 || ((int)f[i].id < HU_FORMATS && hu_arith_serves(f[i])))
			test_roots(f[i]);
	}
	test_through_fp32(HU_E4M3, 0);
	test_through_fp32(HU_E5M2, 1);
	test_special();
	mpfr_free_cache();
	return done_testing();
}
