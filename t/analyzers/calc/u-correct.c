/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded operations: every pair of an 8-bit format, fp64 against the
   processor, rounding against hu_round, and the fma that fp32 gets wrong. */
#include "analyzers/expression/expr.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>

static double
operate(hu_function f, double a, double b, double c, hu_format to, hu_mode mode)
{
	mpfr_t v[3], r;
	mpfr_ptr p[3] = { v[0], v[1], v[2] };
	double s;
	int notes = 0;

	mpfr_inits2(53, v[0], v[1], v[2], (mpfr_ptr)0);
	mpfr_init2(r, 128);
	mpfr_set_d(v[0], a, MPFR_RNDN);
	mpfr_set_d(v[1], b, MPFR_RNDN);
	mpfr_set_d(v[2], c, MPFR_RNDN);
	hu_function_odd(f, r, p);
	s = hu_correct_round(r, to, mode, 0, 0, &notes);
	mpfr_clears(v[0], v[1], v[2], r, (mpfr_ptr)0);
	return s;
}

static int
differs(double a, double b)
{
	return isnan(a) && isnan(b) ? 0 : hu_bits64(a) != hu_bits64(b);
}

/* Sums and products of 8-bit values are exact in fp64; an inexact quotient of
   two 4-bit integers is further than 2^-9 (relatively) from any 5-bit value. */
static void
test_pairs(hu_format_id id, hu_mode mode)
{
	hu_format f = hu_format_of(id);
	long wrong = 0;

	for (unsigned i = 0; i < 256; i++)
		for (unsigned j = 0; j < 256; j++) {
			double a = hu_decode(i, f), b = hu_decode(j, f);
			wrong += differs(operate(HU_F_ADD, a, b, 0, f, mode), hu_round(a + b, f, mode, 0, 0));
			wrong += differs(operate(HU_F_MUL, a, b, 0, f, mode), hu_round(a * b, f, mode, 0, 0));
			wrong += differs(operate(HU_F_DIV, a, b, 0, f, mode), hu_round(a / b, f, mode, 0, 0));
		}
	is_int(wrong, 0, "%s %s: every sum, product and quotient", hu_format_name(id), hu_mode_name(mode));
}

static double
any_double(uint32_t stream, unsigned i, int spread)
{
	hu_random r = hu_random_at(8, stream, 0, i);
	double m = 1 + ldexp((double)((uint64_t)r.w[1] << 20 | r.w[2] >> 12), -52);

	if (r.w[3] & 4)
		m = 1 + ldexp((double)(r.w[1] & 15), -(int)(r.w[2] % 52)); /* few bits: ties */
	return ldexp(r.w[3] & 1 ? -m : m, (int)(r.w[0] % (unsigned)(2 * spread + 1)) - spread);
}

static void
test_fp64(void)
{
	hu_format d = hu_format_of(HU_FP64);
	long wrong = 0;

	for (unsigned i = 0; i < 20000; i++) {
		int spread = i & 1 ? 30 : 1000;
		double a = any_double(1, i, spread), b = any_double(2, i, spread), c = any_double(3, i, spread);
		if (i % 16 == 1)
			b = ldexp(b, -1022 + 30); /* into the subnormals */
		wrong += differs(operate(HU_F_ADD, a, b, 0, d, HU_RNE), a + b);
		wrong += differs(operate(HU_F_SUB, a, b, 0, d, HU_RNE), a - b);
		wrong += differs(operate(HU_F_MUL, a, b, 0, d, HU_RNE), a * b);
		wrong += differs(operate(HU_F_DIV, a, b, 0, d, HU_RNE), a / b);
		wrong += differs(operate(HU_F_FMA, a, b, c, d, HU_RNE), fma(a, b, c));
		wrong += differs(operate(HU_F_SQRT, fabs(a), 0, 0, d, HU_RNE), sqrt(fabs(a)));
	}
	is_int(wrong, 0, "fp64 sum, difference, product, quotient, fma and square root as the processor's");
}

static void
test_rounding(void)
{
	mpfr_t x;
	long wrong = 0;

	mpfr_init2(x, 60);
	for (int f = 0; f < HU_FORMATS; f++)
		for (int m = 0; m < HU_MODES; m++)
			for (int flags = 0; flags < 8; flags++)
				for (unsigned i = 0; i < 600; i++) {
					hu_format to = hu_format_of((hu_format_id)f);
					double v = any_double((uint32_t)f, i, i & 1 ? 170 : 20);
					uint32_t rand = hu_random_at(1, 1, 1, i).w[0];
					int notes = 0;
					mpfr_set_d(x, v, MPFR_RNDN);
					int all = flags | (i & 2 ? HU_RANDOM_BITS(7) : 0);
					double got = hu_correct_round(x, to, (hu_mode)m, all, rand, &notes);
					hu_rounded want = hu_round_full(v, to, (hu_mode)m, all, rand);
					wrong += differs(got, want.value) ||
						 !(notes & HU_NOTE_INEXACT) != !(want.flags & HU_INEXACT) ||
						 !(notes & HU_NOTE_OVERFLOW) != !(want.flags & HU_OVERFLOW) ||
						 !(notes & HU_NOTE_UNDERFLOW) != !(want.flags & HU_UNDERFLOW) ||
						 !(notes & HU_NOTE_INVALID) != !(want.flags & HU_INVALID);
				}
	mpfr_clear(x);
	is_int(wrong, 0, "rounding as hu_round_full in every format, mode and flag, with its flags");
}

static double
value(const char *text, hu_format_id f, hu_mode mode, int *notes)
{
	hu_arithmetic a = { hu_format_of(f), mode, 0, 0, 0, 0, NULL, NULL, NULL };
	hu_expr *e;
	double x;

	if (hu_expr_parse(text, 0, &e) != HU_OK)
		bail_out("%s", hu_reason());
	x = hu_expr_value(e, &a);
	hu_expr_free(e);
	*notes = a.notes;
	return x;
}

static void
test_values(void)
{
	static const struct { const char *text; hu_format_id f; hu_mode mode; double value; int notes;
	} rows[] = {
		{ "1 + 0.0001", HU_FP16, HU_RNE, 1, HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "0.0001 + 1", HU_FP16, HU_RNE, 1, HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "1 + 0.0001", HU_FP32, HU_RNE, 1.0001f, HU_NOTE_INEXACT },
		{ "2048 + 1", HU_FP16, HU_RNE, 2048, HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "2048 + 1", HU_FP16, HU_RU, 2050, HU_NOTE_INEXACT },
		{ "1 + 0", HU_FP16, HU_RNE, 1, 0 },
		/* through fp32 this fma would be a tie, and round up to 0x1.008p0 */
		{ "fma(0x1.004p-5, 0x1.ff8p-7, 0x1.004p0)", HU_FP16, HU_RNE, 0x1.004p0,
			HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "60000 * 2", HU_FP16, HU_RNE, INFINITY, HU_NOTE_INEXACT | HU_NOTE_OVERFLOW },
		{ "60000 * 2", HU_FP16, HU_RZ, 65504, HU_NOTE_INEXACT | HU_NOTE_OVERFLOW },
		{ "2^-13 * 2^-13", HU_FP16, HU_RNE, 0, HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW },
		{ "2^-12 * 2^-12", HU_FP16, HU_RNE, 0x1p-24, 0 },
		{ "1 - 1", HU_FP32, HU_RD, -0.0, 0 },
		{ "exp(-1000)", HU_FP64, HU_RU, 0x1p-1074, HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW },
		{ "sigmoid(1000)", HU_FP64, HU_RZ, 0x1.fffffffffffffp-1, HU_NOTE_INEXACT },
		{ "-2^2", HU_FP32, HU_RNE, -4, 0 },
		{ "2^3^2", HU_FP32, HU_RNE, 512, 0 },
		{ "6 / 2 / 3 - 1 - 1", HU_FP32, HU_RNE, -1, 0 },
		{ "sum(2048, 1, 1, 1)", HU_FP16, HU_RNE, 2048, HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "1 / 0", HU_FP16, HU_RNE, INFINITY, HU_NOTE_DIVIDE_BY_ZERO },
		{ "log(0)", HU_FP32, HU_RNE, -INFINITY, HU_NOTE_DIVIDE_BY_ZERO },
		{ "0 ^ -1", HU_BF16, HU_RNE, INFINITY, HU_NOTE_DIVIDE_BY_ZERO },
		{ "inf / 2", HU_FP16, HU_RNE, INFINITY, 0 },
		{ "1 + 0.0001", HU_E4M3, HU_RNE, 1, HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW | HU_NOTE_ZEROED },
		/* above the tie in fp16, at the tie once fp32 has rounded it: double rounding */
		{ "0x1.002000008p0", HU_FP16, HU_RNE, 0x1.004p0, HU_NOTE_INEXACT },
		{ "fp32(0x1.002000008p0)", HU_FP16, HU_RNE, 1, HU_NOTE_INEXACT },
		{ "fp16(2048 + 1)", HU_FP32, HU_RNE, 2048, HU_NOTE_INEXACT | HU_NOTE_SWAMPED },
		{ "fp32(2^-30) + 1", HU_FP16, HU_RNE, 1, HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW | HU_NOTE_ZEROED },
		{ "sqrt(2) ÷ 1 × 1 − 0", HU_FP64, HU_RNE, 0x1.6a09e667f3bcdp+0, HU_NOTE_INEXACT },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int notes;
		double x = value(rows[i].text, rows[i].f, rows[i].mode, &notes);
		ok(hu_bits64(x) == hu_bits64(rows[i].value) && notes == rows[i].notes,
			"%s %s: %s = %.17g, notes %d (got %.17g, %d)", hu_format_name(rows[i].f),
			hu_mode_name(rows[i].mode), rows[i].text, rows[i].value, rows[i].notes, x, notes);
	}
	int notes;
	ok(isnan(value("inf - inf", HU_FP16, HU_RNE, &notes)) && notes == HU_NOTE_INVALID, "inf - inf is invalid");
	ok(isnan(value("nan + 1", HU_FP16, HU_RNE, &notes)) && notes == 0, "NaN in, NaN out is not");
}

int
main(void)
{
	static const hu_mode modes[] = { HU_RNE, HU_RU, HU_RO };

	for (int i = 0; i < 3; i++) {
		test_pairs(HU_E4M3, modes[i]);
		test_pairs(HU_E5M2, modes[i]);
	}
	test_fp64();
	test_rounding();
	test_values();
	mpfr_free_cache();
	return done_testing();
}
