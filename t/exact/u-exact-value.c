/* SPDX-License-Identifier: Apache-2.0
   Exact values: their sums against MPFR, and their rounding to every format in every mode against
   the two neighbours that MPFR compares; exact errors; non-finite values. */
#include <stdio.h> /* before mpfr.h, which then declares mpfr_fprintf */

#include "lib/exact/value.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(20250613, 1, 0, counter++).w[0];
}

/* A sum of up to six doubles about F's range, biased to ties and to the ends of the format. */
static void
make(hu_exact_value *v, mpfr_t exact, hu_format f)
{
	int n = 1 + (int)(bits() % 6), e = f.emin - f.p - 3 + (int)(bits() % (uint32_t)(f.emax - f.emin + f.p + 5));
	double x = hu_round((1 + bits() * 0x1p-32) * hu_pow2(e < -900 ? -900 : e > 900 ? 900 : e), f, HU_RZ, 0, 0);

	hu_exact_value_set(v, 0);
	mpfr_set_zero(exact, 1);
	for (int i = 0; i < n; i++) {
		double term = i == 0 ? x : 0;
		int unit = hu_ulp_exponent(x, f);
		if (i == 1) /* half a unit of the format, or all of one */
			term = bits() % 3 ? hu_pow2(unit > -1073 ? unit - 1 : unit) : hu_pow2(unit);
		else if (i > 1) /* far below: decides a tie */
			term = ldexp(1, (unit > -800 ? unit : -800) - 1 - (int)(bits() % 200)) *
			       (1 + bits() % 1000 * 0x1p-10);
		term = bits() % 2 ? term : -term;
		hu_exact_value_add(v, term);
		mpfr_add_d(exact, exact, term, MPFR_RNDN);
	}
}

/* The value rounded to F, decided by MPFR: the neighbour toward zero on F's grid and the next one. */
static double
want(mpfr_t exact, hu_format f, hu_mode mode, uint32_t rand)
{
	int negative = mpfr_sgn(exact) < 0, up = 0;
	mpfr_t m, step, down, rest;

	if (mpfr_zero_p(exact))
		return hu_zero_of(0, f);
	if (negative && !hu_has_sign(f))
		return hu_nan();
	mpfr_inits2(2600, m, step, down, rest, (mpfr_ptr)0);
	mpfr_abs(m, exact, MPFR_RNDN);
	long e = mpfr_get_exp(m) - 1;
	mpfr_set_ui_2exp(step, 1, (e < f.emin ? f.emin : e) - f.p + 1, MPFR_RNDN);
	mpfr_div(down, m, step, MPFR_RNDN);
	mpfr_trunc(down, down);
	int odd = !mpfr_zero_p(down) && mpfr_get_exp(down) - (long)mpfr_min_prec(down) == 0;
	mpfr_mul(down, down, step, MPFR_RNDN);
	mpfr_sub(rest, m, down, MPFR_RNDN);
	mpfr_div(rest, rest, step, MPFR_RNDN); /* in [0, 1) */
	int side = mpfr_cmp_d(rest, 0.5), inexact = !mpfr_zero_p(rest);
	switch (mode) {
	case HU_RNE: up = side > 0 || (side == 0 && odd); break;
	case HU_RNA: up = side >= 0; break;
	case HU_RNZ: up = side > 0; break;
	case HU_RU: up = inexact && !negative; break;
	case HU_RD: up = inexact && negative; break;
	case HU_RO: up = inexact && !odd; break;
	case HU_SR:
		mpfr_mul_2si(rest, rest, 32, MPFR_RNDN);
		mpfr_trunc(rest, rest);
		up = mpfr_cmp_ui(rest, rand) > 0;
		break;
	case HU_SRE: up = inexact && rand < 0x80000000u; break;
	default: break;
	}
	if (up)
		mpfr_add(down, down, step, MPFR_RNDN);
	double r = mpfr_cmp_d(down, f.max) > 0 ? hu_overflow(negative, f, mode, 0)
		   : mpfr_zero_p(down)         ? hu_zero_of(negative, f)
					       : (negative ? -1 : 1) * mpfr_get_d(down, MPFR_RNDN);
	mpfr_clears(m, step, down, rest, (mpfr_ptr)0);
	return r;
}

static void
test_round(hu_format_id id, int rounds)
{
	hu_format f = hu_format_of(id);
	int wrong[HU_MODES] = { 0 }, off = 0, errors = 0;
	mpfr_t exact, x;

	mpfr_init2(exact, 2600);
	mpfr_init2(x, 53);
	for (int i = 0; i < rounds; i++) {
		hu_exact_value v;
		make(&v, exact, f);
		hu_exact_value_mpfr(x, &v);
		off += mpfr_cmp(x, exact) != 0;
		for (int mode = 0; mode < HU_MODES; mode++) {
			uint32_t rand = bits() % 4 ? bits() : 0x80000000u;
			double got = hu_exact_value_round(&v, f, (hu_mode)mode, 0, rand),
			       must = want(exact, f, (hu_mode)mode, rand);
			if (bits_of_double(got) != bits_of_double(must) && !(got != got && must != must) &&
				wrong[mode]++ == 0)
				mpfr_fprintf(stderr, "# %s %s %Ra: %a, not %a\n", hu_format_name(id),
					hu_mode_name((hu_mode)mode), exact, got, must);
		}
		double near = hu_exact_value_round(&v, f, HU_RNE, 0, 0);
		if (isfinite(near)) {
			mpfr_sub_d(exact, exact, near, MPFR_RNDN);
			errors += hu_exact_value_error(&v, near) != fabs(mpfr_get_d(exact, MPFR_RNDN));
			errors += hu_exact_value_compare(&v, near) != mpfr_sgn(exact);
		}
	}
	is_int(off, 0, "%s: %d values are MPFR's sums", hu_format_name(id), rounds);
	for (int mode = 0; mode < HU_MODES; mode++)
		is_int(wrong[mode], 0, "%s: rounded by %s as MPFR's comparisons say", hu_format_name(id),
			hu_mode_name((hu_mode)mode));
	is_int(errors, 0, "%s: exact errors and comparisons", hu_format_name(id));
	mpfr_clear(exact);
	mpfr_clear(x);
}

static void
test_special(void)
{
	hu_exact_value v;

	hu_exact_value_set(&v, INFINITY);
	hu_exact_value_add(&v, 5);
	ok(hu_exact_value_double(&v) == INFINITY && hu_exact_value_error(&v, INFINITY) == 0, "Inf + 5 is Inf");
	hu_exact_value_add(&v, -INFINITY);
	ok(hu_exact_value_double(&v) != hu_exact_value_double(&v), "Inf - Inf is NaN");
	hu_exact_value_set(&v, 3);
	hu_exact_value_add(&v, -3);
	is_bits64(bits_of_double(hu_exact_value_double(&v)), 0, "3 - 3 is +0");
	is_int(v.n, 0, "which has no parts");
	hu_exact_value_set(&v, 1);
	ok(hu_exact_value_compare(&v, INFINITY) < 0 && hu_exact_value_compare(&v, -INFINITY) > 0,
		"1 lies between the infinities");
	hu_exact_value_add(&v, 0x1p-900);
	is_bits64(bits_of_double(hu_exact_value_error(&v, 1)), bits_of_double(0x1p-900), "(1 + 2^-900) - 1 is 2^-900");
	ok(hu_exact_value_round(&v, hu_format_of(HU_FP16), HU_RU, 0, 0) == 1 + 0x1p-10,
		"and rounds up to fp16's neighbour of 1");
}

int
main(void)
{
	for (int f = 0; f < HU_FORMATS; f++)
		test_round((hu_format_id)f, 500);
	test_special();
	return done_testing();
}
