/* SPDX-License-Identifier: Apache-2.0
   Sums under stochastic rounding: unbiased, repeatable by index, and, with few random bits, each step as
   MPFR and the draw's leading bits say. */
#include "lib/number/philox.h"
#include "lib/sum/table/parts.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_word(4712, 3, 0, counter++);
}

/* 4096 terms of a quarter ulp each: RNE loses them all, SR keeps their mean. */
static void
test_stochastic(void)
{
	enum { N = 4096, OUTPUTS = 64 };
	static const char *const sums[] = { "fma", "sequential", "chunk:64", "pairwise", "fma,mode=SR,bits=20" };
	static double a[N], b[N];

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		hu_sum s;
		double mean = 0, parts[64];
		int repeats = 1, same = 0;
		if (hu_sum_parse(sums[i], &s) != HU_OK)
			bail_out("%s", hu_reason());
		s.acc = HU_BF16;
		s.mode = HU_SR;
		for (size_t k = 0; k < N; k++) {
			a[k] = 1 + 0x1p-5 * (double)(bits() % 8);
			b[k] = 1 + 0x1p-7 * (double)(bits() % 16);
		}
		double exact = 0, first = 0;
		for (size_t k = 0; k < N; k++)
			exact += a[k] * b[k];
		for (size_t o = 0; o < OUTPUTS; o++) {
			hu_draw d = { 1, 2, 3, o * N, 0 };
			double v = hu_parts_run(a, b, N, 512, s, &d, parts, NULL);
			repeats &= v == hu_parts_run(a, b, N, 512, s, &d, parts, NULL);
			mean += v / OUTPUTS;
			same += v == first;
			first = v;
		}
		/* An output's error is at most about 512 u of the sum, its deviation below sqrt(512) u 2 S; the mean's
		   an 8th; 4 of them. */
		is_near(mean, exact, 4 * sqrt(512) * 2 * 0x1p-8 * exact / 8 / sqrt(8),
			"%s with SR is unbiased: mean %g of %d sums, exact %g", sums[i], mean, OUTPUTS, exact);
		ok(repeats && same < OUTPUTS - 4, "the same index gives the same bits, another index others");
	}
}

/* x*y + acc to fp16 by its definition: the magnitude grows where the first BITS bits of DRAW, as a number, are below
   the first BITS bits of the discarded fraction. */
static double
step(double acc, double x, double y, int k, uint32_t draw)
{
	mpfr_t s, m;
	int sign, q;
	double r;

	mpfr_inits2(200, s, m, (mpfr_ptr)0);
	mpfr_set_d(s, x, MPFR_RNDN);
	mpfr_mul_d(s, s, y, MPFR_RNDN);
	mpfr_add_d(s, s, acc, MPFR_RNDN); /* exact: fp16 operands and sums span less than 200 bits */
	if (mpfr_zero_p(s)) {
		mpfr_clears(s, m, (mpfr_ptr)0);
		return x * y + acc;
	}
	sign = mpfr_signbit(s) != 0;
	q = (int)mpfr_get_exp(s) - 1 < -14 ? -24 : (int)mpfr_get_exp(s) - 11;
	mpfr_abs(s, s, MPFR_RNDN);
	mpfr_mul_2si(s, s, -q, MPFR_RNDN);
	mpfr_floor(m, s);
	r = mpfr_get_d(m, MPFR_RNDN);
	mpfr_sub(s, s, m, MPFR_RNDN);
	mpfr_mul_2si(s, s, k, MPFR_RNDN);
	r = ldexp(r + ((draw >> (32 - k)) < mpfr_get_ui(s, MPFR_RNDD)), q);
	mpfr_clears(s, m, (mpfr_ptr)0);
	return sign ? -r : r;
}

/* Sums of ordinary fp16 numbers; none overflows. */
static void
test_bits(void)
{
	static const int widths[] = { 1, 2, 3, 8, 13, 31, 32 };

	for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
		int differ = 0, from32 = 0;
		for (int i = 0; i < 400; i++) {
			double a[40], b[40], want = 0, half[1];
			hu_sum s = hu_sum_default(), all;
			hu_draw d = { 7, 8, 9, 1000 * (uint64_t)i, 0 };
			s.acc = HU_FP16;
			s.mode = HU_SR;
			all = s;
			s.bits = widths[w] == 32 ? 0 : widths[w];
			for (size_t k = 0; k < 40; k++) {
				int deep = i % 4 == 0; /* products below the smallest normal number */
				a[k] = hu_round(((double)bits() * 0x1p-32 - 0.5) * (deep ? 0x1p-7 : 4),
					hu_format_of(HU_FP16), HU_RNE, 0, 0);
				b[k] = bits() % 4 ? hu_round((double)bits() * 0x1p-32 * (deep ? 0x1p-7 : 1),
							    hu_format_of(HU_FP16), HU_RNE, 0, 0)
						  : 0x1p-9;
				want = step(want, a[k], b[k], widths[w], hu_draw_bits(&d, k, HU_DRAW_SUM));
			}
			double got = hu_parts_run(a, b, 40, 0, s, &d, half, NULL);
			differ += bits_of_double(got) != bits_of_double(want);
			from32 += got != hu_parts_run(a, b, 40, 0, all, &d, half, NULL);
		}
		ok(!differ && from32 > (widths[w] < 4          ? 100
					       : widths[w] < 9 ? 5
							       : -1),
			"%d random bits: %d of 400 sums differ from the definition's, %d from those of 32 bits",
			widths[w], differ, from32);
	}
}

/* With k bits a fraction below 2^-k never grows: 2^-9 ulp is lost by 8 bits, and kept in the mean by 10. */
static void
test_bias(void)
{
	enum { N = 8192 };
	static double a[N], b[N];
	double moved[2] = { 0, 0 };

	for (size_t k = 0; k < N; k++) {
		a[k] = k ? 0x1p-10 : 1;
		b[k] = k ? 0x1p-9 : 1;
	}
	for (int i = 0; i < 2; i++) {
		hu_sum s = hu_sum_default();
		hu_draw d = { 1, 2, 3, 0, 0 };
		s.acc = HU_FP16;
		s.mode = HU_SR;
		s.bits = i ? 10 : 8;
		moved[i] = hu_model_run(a, b, N, s, &d, NULL) - 1;
	}
	/* 8191 additions of 2^-9 ulp: 16 ulps in the mean, deviation 4; five of them. */
	ok(moved[0] == 0 && fabs(moved[1] - 16 * 0x1p-10) < 20 * 0x1p-10 && moved[1] != 0,
		"terms of 2^-9 ulp: %g ulps by 8 bits, %g by 10", moved[0] * 1024, moved[1] * 1024);
}

int
main(void)
{
	test_stochastic();
	test_bits();
	test_bias();
	return done_testing();
}
