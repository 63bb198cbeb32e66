/* SPDX-License-Identifier: Apache-2.0
   FP64 by slices (ozaki:N, ozakidynamic) and fp32 by bf16 (bf16x9): slices and their sums against integers of any
   length, errors against the exact sums and the proven bounds, and how many slices a row's span needs. */
#include "lib/number/philox.h"
#include "lib/sum/bound.h"
#include "lib/sum/model/row.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 48 };

static uint64_t counter;

static double
uniform(void)
{
	return (double)hu_random_word(2511, 13778, 0, counter++) * 0x1p-32;
}

static hu_sum
parsed(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK)
		bail_out("%s", hu_reason());
	return s;
}

/* A double of 53 random bits whose exponent is one of `span` below `top`. */
static double
drawn(int top, int span)
{
	double x = 1 + uniform() + uniform() * 0x1p-32, s = uniform() < 0.5 ? -1 : 1;

	return s * ldexp(x, top - (int)(uniform() * (span + 1)));
}

/* The digits of x to base 256, from the highest on, as cuBLAS's replica has them: |x| 2^q without its fraction, whose
   digits of 128 and more become negative and carry. */
static void
digits(double x, int q, int n, long *d)
{
	mpfr_t y;
	mpz_t z;
	int carry = 0;

	mpfr_init2(y, 53);
	mpz_init(z);
	mpfr_set_d(y, fabs(x), MPFR_RNDN);
	mpfr_mul_2si(y, y, q, MPFR_RNDN);
	mpfr_get_z(z, y, MPFR_RNDZ);
	for (int i = n; i--;) {
		d[i] = (long)mpz_fdiv_q_ui(z, z, 256) + carry;
		carry = i && d[i] > 127;
		d[i] = (carry ? d[i] - 256 : d[i]) * (x < 0 ? -1 : 1);
	}
	HU_ASSERT(mpz_sgn(z) == 0 && labs(d[0]) <= 127);
	mpfr_clear(y);
	mpz_clear(z);
}

/* The exponent that a line shares. */
static int
line(const double *x, size_t n)
{
	double most = 0, m;
	int e;

	for (size_t k = 0; k < n; k++)
		most = fmax(most, fabs(x[k]));
	m = frexp(most, &e);
	return e + (floor(m * 128) == 127);
}

/* The sum by N slices: one integer per weight, rounded to fp64 where it is added, the largest weight first. */
static double
by_integers(const double *a, const double *b, size_t n, int slices)
{
	int ea = line(a, n), eb = line(b, n), bits = 8 * slices - 1;
	mpz_t sum[10];
	mpfr_t r, t;
	double v;

	for (int w = 0; w < slices; w++)
		mpz_init(sum[w]);
	for (size_t k = 0; k < n; k++) {
		long x[10], y[10];
		digits(a[k], bits - ea, slices, x);
		digits(b[k], bits - eb, slices, y);
		for (int i = 0; i < slices; i++)
			for (int j = 0; i + j < slices; j++) {
				mpz_t p;
				mpz_init_set_si(p, x[i]);
				mpz_mul_si(p, p, y[j]);
				mpz_add(sum[i + j], sum[i + j], p);
				mpz_clear(p);
			}
	}
	mpfr_init2(r, 53);
	mpfr_init2(t, 200);
	mpfr_set_zero(r, 1);
	for (int w = 0; w < slices; w++) {
		mpfr_set_z_2exp(t, sum[w], ea + eb - 14 - 8 * w, MPFR_RNDN);
		mpfr_add(r, r, t, MPFR_RNDN);
		mpz_clear(sum[w]);
	}
	v = mpfr_get_d(r, MPFR_RNDN);
	mpfr_clears(r, t, (mpfr_ptr)0);
	return v;
}

/* |v - Σ a b|, rounded up, and Σ|a b| in *mag. */
static double
error_of(double v, const double *a, const double *b, size_t n, double *mag)
{
	mpfr_t sum, all, p;
	double e;

	mpfr_inits2(4600, sum, all, p, (mpfr_ptr)0);
	mpfr_set_zero(sum, 1);
	mpfr_set_zero(all, 1);
	for (size_t k = 0; k < n; k++) {
		mpfr_set_d(p, a[k], MPFR_RNDN);
		mpfr_mul_d(p, p, b[k], MPFR_RNDN);
		mpfr_add(sum, sum, p, MPFR_RNDN);
		mpfr_abs(p, p, MPFR_RNDN);
		mpfr_add(all, all, p, MPFR_RNDN);
	}
	*mag = mpfr_get_d(all, MPFR_RNDU);
	mpfr_sub_d(sum, sum, v, MPFR_RNDN);
	mpfr_abs(sum, sum, MPFR_RNDN);
	e = mpfr_get_d(sum, MPFR_RNDU);
	mpfr_clears(sum, all, p, (mpfr_ptr)0);
	return e;
}

/* Draws n products of which the spans, the sizes, cancellation, zeros and numbers of few bits are drawn too. */
static size_t
products(double *a, double *b, int single)
{
	size_t n = 1 + (size_t)(uniform() * (MOST - 1));
	int kind = (int)(uniform() * 6),
	    span = kind == 0   ? 0
		   : kind == 1 ? 20
		   : kind == 2 ? 3
		   : kind == 3 ? 70
			       : 8,
	    top = single ? (int)(uniform() * 60) - 30 : (int)(uniform() * 600) - 300;

	span = single && span > 40 ? 40 : span;
	for (size_t k = 0; k < n; k++) {
		a[k] = drawn(top, span);
		b[k] = drawn(-top / 2, span);
		if (kind == 4 && k % 2) { /* cancels all but a little */
			a[k] = -a[k - 1];
			b[k] = b[k - 1] * (1 + ldexp(uniform(), -30));
		}
		if (kind == 5)
			a[k] = ldexp(floor(uniform() * 256) - 128, top); /* ties and digits of 128 */
		if (uniform() < 0.05)
			a[k] = 0;
		a[k] = single ? (double)(float)a[k] : a[k];
		b[k] = single ? (double)(float)b[k] : b[k];
	}
	if (uniform() < 0.1)
		a[0] = ldexp(1 - 0x1p-8, top + 1); /* its first seven bits are ones */
	return n;
}

/* Every number of slices: the bits of integers, and an error within the bound of the operands. */
static void
slices(int n)
{
	enum { SUMS = 3000 };
	char text[24];
	int differ = 0, beyond = 0, moved = 0;
	double nearest = 0;

	snprintf(text, sizeof text, "ozaki:%d", n);
	hu_sum s = parsed(text);
	for (int i = 0; i < SUMS; i++) {
		double a[MOST], b[MOST], mag;
		size_t k = products(a, b, 0);
		double got = hu_model_run(a, b, k, s, NULL, NULL), want = by_integers(a, b, k, n),
		       e = error_of(got, a, b, k, &mag),
		       bound = hu_sum_model_of(s.id)->bound_of(s, a, b, k, 0, 0).absolute;
		differ += got != want;
		moved += got != 0;
		beyond += !(e <= bound);
		nearest = bound > 0 && e / bound > nearest ? e / bound : nearest;
	}
	ok(!differ && !beyond && moved > SUMS / (n == 1 ? 4 : 2) && nearest > 0.2,
		"%s: of %d sums %d are not those of integers and %d are beyond their bounds, of which errors reach "
		"%.2f",
		text, SUMS, differ, beyond, nearest);
}

/* What decides: the largest elements meet zeros, and those 2^16 below them make the sum. */
static double
worst(const char *text, int span)
{
	hu_sum s = parsed(text);
	double most = 0;

	for (int i = 0; i < 400; i++) {
		double a[MOST], b[MOST], mag;
		for (size_t k = 0; k < MOST; k++) {
			a[k] = fabs(drawn(k ? 0 : span, 0)); /* of one sign, so that what is cut adds up */
			b[k] = k ? fabs(drawn(0, 0)) : 0;
		}
		double e = error_of(hu_model_run(a, b, MOST, s, NULL, NULL), a, b, MOST, &mag);
		most = fmax(most, e / mag);
	}
	return most;
}

static void
spans(void)
{
	double eight = worst("ozaki:8", 16), nine = worst("ozaki:9", 16), flat = worst("ozaki:8", 0),
	       fma_error = worst("fma,acc=fp64", 16), dynamic = worst("ozakidynamic", 16),
	       far = worst("ozakidynamic", 60);

	ok(eight > 4 * fma_error && nine <= fma_error && flat <= fma_error,
		"at a span of 2^16 eight slices err by %.1e of Σ|ab|, nine by %.1e and fma by %.1e; without a span "
		"eight "
		"err by %.1e",
		eight, nine, fma_error, flat);
	ok(dynamic <= fma_error && far <= MOST * 0x1p-53,
		"a dynamic number of slices errs by %.1e there, and by %.1e at a span of 2^60", dynamic, far);
}

/* The bound from the length alone, and that of the operands. */
static void
dynamic(void)
{
	enum { SUMS = 6000 };
	hu_sum s = parsed("ozakidynamic");
	int beyond = 0, above = 0, sliced = 0;

	for (int i = 0; i < SUMS; i++) {
		double a[MOST], b[MOST], mag;
		size_t n = products(a, b, 0);
		double got = hu_model_run(a, b, n, s, NULL, NULL), e = error_of(got, a, b, n, &mag);
		hu_sum_bound x = hu_sum_apriori(s, n, 0);
		beyond += !(e <= hu_sum_model_of(s.id)->bound_of(s, a, b, n, 0, 0).absolute);
		above += !(e <= x.relative * mag + x.absolute);
		sliced += got != hu_model_run(a, b, n, parsed("fma,acc=fp64"), NULL, NULL);
	}
	ok(!beyond && !above && sliced > SUMS / 4,
		"ozakidynamic: of %d sums, %d of them other than fma's, %d are beyond the operands' bound and %d "
		"beyond "
		"that of their length",
		SUMS, sliced, beyond, above);
}

/* The unit's own chain over the products of slices as they are interleaved, in one call a weight. */
static double
by_weights(const double *a, const double *b, size_t n)
{
	static double x[3 * (MOST + 16)], y[3 * (MOST + 16)];
	hu_sum unit = parsed("tc:blackwell,in=bf16,out=fp32");
	float acc = 0;

	if (hu_sum_resolve(&unit, HU_BF16, HU_BF16, HU_FP32) != HU_OK)
		bail_out("%s", hu_reason());
	for (int w = 4; w >= 0; w--) {
		size_t m = 0;
		for (size_t k = 0; k < n; k += 16)
			for (int i = 0; i < 3; i++)
				for (size_t t = k; t < k + 16 && w - i >= 0 && w - i < 3; t++, m++) {
					/* the j-th eight bits of the significand, toward zero */
					float p = t < n ? (float)a[t] : 0, q = t < n ? (float)b[t] : 0;
					for (int j = 0; j <= i; j++) {
						x[m] = hu_from_bits32(hu_bits32(p) & 0xffff0000u);
						p = (p - (float)x[m]) * 256;
					}
					for (int j = 0; j <= w - i; j++) {
						y[m] = hu_from_bits32(hu_bits32(q) & 0xffff0000u);
						q = (q - (float)y[m]) * 256;
					}
				}
		acc = acc * 0x1p-8f + (float)hu_model_tc(x, y, m, 0, unit, NULL);
	}
	return acc;
}

static void
bf16x9(void)
{
	enum { SUMS = 6000 };
	hu_sum s = parsed("bf16x9");
	int differ = 0, beyond = 0, better = 0, inexact = 0;

	for (int i = 0; i < SUMS; i++) {
		double a[MOST], b[MOST], mag;
		size_t n = products(a, b, 1);
		double got = hu_model_run(a, b, n, s, NULL, NULL), e = error_of(got, a, b, n, &mag),
		       plain = error_of(hu_model_run(a, b, n, parsed("fma,acc=fp32"), NULL, NULL), a, b, n, &mag);
		differ += got != by_weights(a, b, n);
		beyond += !(e <= hu_sum_model_of(s.id)->bound_of(s, a, b, n, 0, 0).absolute);
		better += e <= plain;
		inexact += e > 0;
	}
	ok(!differ && !beyond && inexact > SUMS / 2,
		"bf16x9: of %d sums, %d of them inexact, %d are not those of its weights and %d are beyond their "
		"bounds",
		SUMS, inexact, differ, beyond);
	ok(better > SUMS / 3, "its error is at most that of fma in fp32 in %d of them", better);

	double big[2] = { (double)0x1.fffffep127f, 0x1p-149 }, one[2] = { 1, 1 }, nan[1] = { hu_nan() };
	ok(hu_model_run(big, one, 1, s, NULL, NULL) == big[0] &&
			hu_model_run(big + 1, one, 1, s, NULL, NULL) == big[1] &&
			isnan(hu_model_run(nan, one, 1, s, NULL, NULL)),
		"the largest and the smallest fp32 are their slices' sums, and NaN stays");
}

static void
refusals(void)
{
	hu_sum s;
	int wrong = hu_sum_parse("ozaki:11", &s) == HU_OK, keyed = hu_sum_parse("ozaki:8,acc=fp32", &s) == HU_OK;

	s = parsed("ozaki:8");
	ok(!wrong && !keyed && hu_sum_resolve(&s, HU_FP32, HU_FP64, HU_FP64) != HU_OK &&
			strstr(hu_reason(), "multiplies fp64 operands, not fp32"),
		"more than ten slices, an accumulator of another format and operands of fp32 are refused");
	double a[2] = { 1, hu_inf(0) }, b[2] = { 1, 1 };
	ok(isnan(hu_model_run(a, b, 2, s, NULL, NULL)), "an infinity is no fixed-point number: the sum is NaN");
}

int
main(void)
{
	for (int n = 1; n <= 10; n++)
		slices(n);
	spans();
	dynamic();
	bf16x9();
	refusals();
	return done_testing();
}
