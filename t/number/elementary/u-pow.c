/* SPDX-License-Identifier: Apache-2.0
   hu_pow against MPFR at 200 bits on points biased to small and whole exponents, to bases near 1 and to results near
   both ends of the range; its special values against IEEE 754's; and the functions that make whole numbers, whose
   values are exact. The seed is fixed. */
#include "lib/number/elementary/elementary.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>

enum { POINTS = 60000, PREC = 200 };

static void
draw(unsigned i, double *x, double *y)
{
	hu_random r = hu_random_at(20261123, 1, 0, i), q = hu_random_at(20261123, 2, 0, i);
	double u = hu_uniform(r), v = hu_uniform(q);

	*x = i % 3 == 0   ? hu_from_bits64(((uint64_t)r.w[2] << 32 | r.w[3]) & 0x7fefffffffffffffu)
	     : i % 3 == 1 ? 1 + (u - 0.5) * hu_pow2(-(int)(r.w[2] % 53))
			  : 16 * u;
	switch (i / 3 % 4) {
	case 0: *y = (double)(int)(q.w[2] % 140) - 70; break;
	case 1: *y = ((double)(int)(q.w[2] % 64) - 32) / 4; break;
	case 2: *y = (2 * v - 1) * 1000 / (fabs(log(*x)) + 1); break;
	default: *y = (v - 0.5) * hu_pow2((int)(q.w[2] % 20) - 10);
	}
	if (i % 7 == 3 && *y == floor(*y))
		*x = -*x;
}

static void
test_points(void)
{
	double worst = 0, at[2] = { 0, 0 };
	mpfr_t a, b, exact, d;

	mpfr_inits2(PREC, a, b, exact, d, (mpfr_ptr)NULL);
	for (unsigned i = 0; i < POINTS; i++) {
		double x, y;
		draw(i, &x, &y);
		double got = hu_pow(x, y), tiny = 0x1p-1070;
		mpfr_set_d(a, x, MPFR_RNDN);
		mpfr_set_d(b, y, MPFR_RNDN);
		mpfr_pow(exact, a, b, MPFR_RNDN);
		double near = mpfr_get_d(exact, MPFR_RNDN), e;
		mpfr_sub_d(d, exact, got, MPFR_RNDN);
		mpfr_abs(d, d, MPFR_RNDN);
		mpfr_sub_d(d, d, tiny, MPFR_RNDN);
		e = fabs(near) > 0x1.fffp1023 && (isinf(got) || isinf(near)) ? 0 : mpfr_sgn(d);
		if (e > 0) { /* else the error is below 2^-1070 */
			mpfr_div(d, d, exact, MPFR_RNDN);
			e = fabs(mpfr_get_d(d, MPFR_RNDU));
		}
		if (!(e <= worst)) {
			worst = e;
			at[0] = x;
			at[1] = y;
		}
	}
	ok(worst <= HU_POW_ERROR,
		"pow: the relative error of %d points is at most 2^%.1f, at %a, %a (2^-39 is allowed)", POINTS,
		log2(worst), at[0], at[1]);
	mpfr_clears(a, b, exact, d, (mpfr_ptr)NULL);
}

static int
same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void
test_specials(void)
{
	static const double some[] = { 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 0x1p53, 0x1p60, -0x1p60, 1e308,
		5e-324,
		INFINITY, -INFINITY, NAN, 1.5, -1.5 };
	enum { N = sizeof some / sizeof *some };
	int bad = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double want = pow(some[i], some[j]), got = hu_pow(some[i], some[j]);
			int plain = isfinite(want) && want != 0 && fabs(want) != 1;
			if (plain ? !(fabs(got - want) <= fabs(want) * HU_POW_ERROR) : !same(got, want)) {
				diag("pow(%a, %a) is %a, not %a", some[i], some[j], got, want);
				bad++;
			}
		}
	ok(!bad, "pow: %d pairs of special values", N * N);
	bad = 0;
	for (int i = 0; i < 200000; i++) {
		hu_random r = hu_random_at(7, 3, 0, (uint64_t)i);
		double x = i < N       ? some[i]
			   : i % 2 ? (double)(int)(r.w[0] % 64) / 4 - 8
				   : hu_from_bits64((uint64_t)r.w[2] << 32 | r.w[3]);
		bad += !same(hu_rint(x), rint(x)) + !same(hu_floor(x), floor(x)) + !same(hu_ceil(x), ceil(x)) +
		       !same(hu_sign(x), isnan(x) || x == 0 ? x : copysign(1, x));
	}
	ok(!bad, "floor, ceil, rint and sign of 200000 numbers, with the sign of zeros (%d differ)", bad);
}

int
main(void)
{
	test_points();
	test_specials();
	return done_testing();
}
