/* SPDX-License-Identifier: Apache-2.0
   hu_atan2 against MPFR at 200 bits on points of every direction and size, near the axes and the diagonals above all,
   and its special values against IEEE 754's; hu_dd_atan2, whose bound has to hold the exact angle of every point within
   its operands' bounds, and to be small. The seed is fixed. */
#include "lib/exact/dd/dd.h"
#include "lib/number/elementary/elementary.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>

enum { POINTS = 60000, PREC = 300 };

/* A point; every third one has any two numbers as its coordinates, the others lie near an eighth of a turn. */
static void
draw(unsigned i, double *y, double *x)
{
	hu_random r = hu_random_at(20261129, 1, 0, i), q = hu_random_at(20261129, 2, 0, i);
	double u = hu_uniform(r), size = hu_pow2((int)(q.w[2] % 1200) - 600), off = hu_pow2(-(int)(q.w[3] % 70));

	*x = u;
	*y = i % 3 == 1 ? (double)(q.w[0] % 9) / 8 * u + (hu_uniform(q) - 0.5) * off : hu_uniform(q) * off;
	if (i % 3 == 0) {
		*x = hu_from_bits64(((uint64_t)r.w[2] << 32 | r.w[3]) & 0x7fefffffffffffffu);
		*y = hu_from_bits64(((uint64_t)q.w[2] << 32 | q.w[3]) & 0x7fefffffffffffffu);
		size = 1;
	}
	*x *= size;
	*y *= size;
	if (q.w[1] & 1) {
		double t = *x;
		*x = *y;
		*y = t;
	}
	*x = q.w[1] & 2 ? -*x : *x;
	*y = q.w[1] & 4 ? -*y : *y;
}

static void
test_points(void)
{
	double worst = 0, at[2] = { 0, 0 };
	mpfr_t a, b, exact, d;

	mpfr_inits2(PREC, a, b, exact, d, (mpfr_ptr)NULL);
	for (unsigned i = 0; i < POINTS; i++) {
		double x, y;
		draw(i, &y, &x);
		double got = hu_atan2(y, x);
		mpfr_set_d(a, y, MPFR_RNDN);
		mpfr_set_d(b, x, MPFR_RNDN);
		mpfr_atan2(exact, a, b, MPFR_RNDN);
		mpfr_sub_d(d, exact, got, MPFR_RNDN);
		mpfr_abs(d, d, MPFR_RNDN);
		mpfr_sub_d(d, d, 0x1p-1074, MPFR_RNDN);
		double e = 0;
		if (mpfr_sgn(d) > 0) {
			mpfr_div(d, d, exact, MPFR_RNDN);
			e = fabs(mpfr_get_d(d, MPFR_RNDU));
		}
		if (!(e <= worst)) {
			worst = e;
			at[0] = y;
			at[1] = x;
		}
	}
	ok(worst <= HU_ELEMENTARY_ERROR,
		"atan2: the relative error of %d points is at most %.2f units roundoff, at %a, %a", POINTS,
		worst * 0x1p53, at[0], at[1]);
	mpfr_clears(a, b, exact, d, (mpfr_ptr)NULL);
}

static void
test_specials(void)
{
	static const double some[] = { 0.0, -0.0, 1, -1, 0.5, -2, 1e308, -1e308, 5e-324, -5e-324, INFINITY, -INFINITY,
		NAN };
	enum { N = sizeof some / sizeof *some };
	int bad = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double want = atan2(some[i], some[j]), got = hu_atan2(some[i], some[j]);
			if (isnan(want) ? isnan(got)
					: fabs(got - want) <= fabs(want) * HU_ELEMENTARY_ERROR + 0x1p-1074 &&
						  signbit(got) == signbit(want))
				continue;
			diag("atan2(%a, %a) is %a, not %a", some[i], some[j], got, want);
			bad++;
		}
	ok(!bad, "atan2: %d pairs of special values", N * N);
}

/* A number near x with a bound of about e, and in *exact one of those that it stands for. */
static hu_dd
near(double x, double e, hu_random r, mpfr_t exact)
{
	hu_dd a = { x, 0, e };

	a.h = hu_dd_sum(x, x * (hu_uniform(r) - 0.5) * 0x1p-54, &a.l);
	mpfr_set_d(exact, a.h, MPFR_RNDN);
	mpfr_add_d(exact, exact, a.l, MPFR_RNDN);
	mpfr_add_d(exact, exact, r.w[2] & 1 ? e : -e, MPFR_RNDN);
	return a;
}

static void
test_dd(void)
{
	long wrong = 0, silent = 0, wide = 0;
	double worst = 0;
	mpfr_t a, b, exact, d;

	mpfr_inits2(PREC, a, b, exact, d, (mpfr_ptr)NULL);
	for (unsigned i = 0; i < POINTS; i++) {
		double x, y;
		draw(i, &y, &x);
		hu_random r = hu_random_at(20261129, 3, 0, i), q = hu_random_at(20261129, 4, 0, i);
		double e = i % 4 ? 0 : fmin(fabs(x), fabs(y)) * hu_pow2(1 - (int)(r.w[0] % 100));
		hu_dd got = hu_dd_atan2(near(y, e, r, a), near(x, i % 8 ? 0 : e, q, b));
		mpfr_atan2(exact, a, b, MPFR_RNDN);
		mpfr_sub_d(d, exact, got.h, MPFR_RNDN);
		mpfr_sub_d(d, d, got.l, MPFR_RNDN);
		mpfr_abs(d, d, MPFR_RNDN);
		if (!(got.e < INFINITY)) {
			silent++;
			continue;
		}
		wrong += mpfr_cmp_d(d, got.e) > 0;
		wide += e == 0 && got.e > 0x1p-90 * fabs(got.h) + 0x1p-960;
		if (e == 0 && fabs(got.h) > 0x1p-800 && got.e / fabs(got.h) > worst)
			worst = got.e / fabs(got.h);
	}
	is_int(wrong, 0, "atan2 of double-doubles: the bound holds the exact angle of %d points", POINTS);
	is_int(wide, 0, "and is below 2^-90 of exact operands (the largest is 2^%.1f)", log2(worst));
	ok(silent < POINTS / 4, "it says nothing of %ld of them, which are small or on the cut", silent);
	mpfr_clears(a, b, exact, d, (mpfr_ptr)NULL);
}

int
main(void)
{
	test_points();
	test_specials();
	test_dd();
	return done_testing();
}
