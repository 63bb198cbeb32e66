/* SPDX-License-Identifier: Apache-2.0
   Exact inner products: both ways against sums in 2400 bits, special values, and from
   several threads at once. */
#include "lib/base/thread.h"
#include "lib/exact/dot.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(20250102, 1, 0, counter++).w[0];
}

/* KIND 0: ordinary; 1: any exponent, subnormals among them; 2: small integers; 3: some not finite. */
static double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;

	if (kind == 1)
		return hu_round(s * (1 + u) * hu_pow2(f.emin - f.p + (int)(bits() % (uint32_t)(f.emax - f.emin + f.p))),
			f, HU_RNE, HU_SATURATE, 0);
	if (kind == 2)
		return s * (double)(bits() % 8);
	if (kind == 3 && bits() % 64 == 0)
		return bits() % 3 ? hu_inf((int)bits() & 1) : hu_nan();
	return hu_round(s * u, f, HU_RNE, 0, 0);
}

static void
test_exact(void)
{
	enum { N = 300, ROUNDS = 600 };
	double a[N], b[N];
	mpfr_t x, y, z;
	int differ = 0, engine = 0, nans = 0;

	mpfr_inits2(64, x, y, z, (mpfr_ptr)0);
	for (int i = 0; i < ROUNDS; i++) {
		hu_format_id f = i % 2 ? HU_FP16 : i % 3 ? HU_BF16 : i % 4 ? HU_FP64 : HU_FP32;
		size_t n = 1 + bits() % N;
		for (size_t k = 0; k < n; k++) {
			a[k] = value(hu_format_of(f), i % 4);
			b[k] = i % 7 == 0 && k >= n / 2 ? -b[k - n / 2] : value(hu_format_of(f), i % 4);
			if (i % 7 == 0 && k >= n / 2)
				a[k] = a[k - n / 2]; /* the second half cancels the first */
		}
		hu_exact_dot_mpfr(x, a, b, n);
		hu_exact_value v;
		if (hu_exact_dot_value(&v, a, b, n)) {
			engine++;
			hu_exact_value_mpfr(y, &v);
			differ += mpfr_cmp(x, y) != 0 || mpfr_signbit(x) != mpfr_signbit(y);
		}
		/* a third way: 4400 bits hold any of these sums */
		mpfr_set_prec(z, 4400);
		mpfr_set_zero(z, 1);
		int finite = 1;
		for (size_t k = 0; k < n; k++) {
			mpfr_t p;
			mpfr_init2(p, 106);
			mpfr_set_d(p, a[k], MPFR_RNDN);
			mpfr_mul_d(p, p, b[k], MPFR_RNDN);
			mpfr_add(z, z, p, MPFR_RNDN);
			finite &= hu_isfinite(a[k]) && hu_isfinite(b[k]);
			mpfr_clear(p);
		}
		differ += finite ? mpfr_cmp(x, z) != 0
				 : mpfr_nan_p(x) != mpfr_nan_p(z) || (mpfr_inf_p(z) && mpfr_cmp(x, z));
		for (size_t k = 0; k < n; k++)
			nans += a[k] != a[k];
	}
	is_int(differ, 0, "the exact engines agree with 4400-bit sums (%d without MPFR, %d NaN among the operands)",
		engine, nans);
	ok(engine > 100 && engine < ROUNDS, "both engines were used");
	mpfr_clears(x, y, z, (mpfr_ptr)0);
}


static void
test_special(void)
{
	static const struct { double a[3], b[3], want; const char *text;
	} rows[] = {
		{ { 0, -0.0, 0 }, { 1, 1, -1 }, 0.0, "zeros give +0" },
		{ { 1, 1, 0 }, { 1, -1, 5 }, 0.0, "an exact cancellation gives +0" },
		{ { INFINITY, 1, 2 }, { 1, 2, 3 }, INFINITY, "an infinity stays" },
		{ { INFINITY, INFINITY, 2 }, { 1, -2, 3 }, NAN, "Inf - Inf is NaN" },
		{ { INFINITY, 1, 2 }, { 0, 2, 3 }, NAN, "Inf * 0 is NaN" },
		{ { 1, NAN, 2 }, { 0, 2, 3 }, NAN, "NaN stays" },
		{ { 0x1p1000, 0x1p1000, 1 }, { 0x1p1000, -0x1p1000, 3 }, 3,
			"products beyond a double's range are finite" },
		{ { 0x1p-600, 0x1p-600, 1 }, { 0x1p-600, -0x1p-600, 3 }, 3, "and so are those below it" },
		{ { 0x1p300, 1, -0x1p300 }, { 0x1p300, 0x1p-300, 0x1p300 }, 0x1p-300,
			"2^600 + 2^-300 - 2^600 keeps its last bit" },
	};
	mpfr_t x, y;

	mpfr_inits2(53, x, y, (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_exact_dot(x, rows[i].a, rows[i].b, 3);
		hu_exact_dot_mpfr(y, rows[i].a, rows[i].b, 3);
		double got = mpfr_get_d(x, MPFR_RNDN), also = mpfr_get_d(y, MPFR_RNDN);
		int nan = rows[i].want != rows[i].want;
		ok(nan ? got != got && also != also
		       : bits_of_double(got) == bits_of_double(rows[i].want) &&
					bits_of_double(also) == bits_of_double(rows[i].want),
			"%s", rows[i].text);
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
}

static void
test_threads(void)
{
	enum { N = 64, MANY = 400 };
	double a[N], b[N];
	int differ = 0;
	mpfr_t want;

	for (size_t k = 0; k < N; k++) {
		a[k] = value(hu_format_of(HU_FP32), 1);
		b[k] = value(hu_format_of(HU_FP32), 1);
	}
	mpfr_init(want);
	hu_exact_dot(want, a, b, N);
	hu_threads_set(4);
#pragma omp parallel for reduction(+ : differ)
	for (int i = 0; i < MANY; i++) {
		mpfr_t x;
		mpfr_init(x);
		hu_exact_dot(x, a, b, N);
		differ += mpfr_cmp(x, want) != 0;
		mpfr_clear(x);
	}
	is_int(differ, 0, "threads do not disturb each other");
	mpfr_clear(want);
	hu_exact_way_set(HU_EXACT_MPFR);
	is_int(hu_exact_way_get(), HU_EXACT_MPFR, "MPFR can be asked for");
}

int
main(void)
{
	test_exact();
	test_special();
	test_threads();
	return done_testing();
}
