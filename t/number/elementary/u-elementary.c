/* SPDX-License-Identifier: Apache-2.0
   The elementary functions against MPFR at 200 bits, on points biased to the
   corners; every fp16 and bf16 value in every mode; special values. fp32's results
   are t/number/elementary/u-screen.c's. The seed is fixed. */
#include "lib/number/code.h"
#include "lib/number/elementary/elementary_round.h"
#include "lib/number/philox.h"
#include "t/oracle/oracle.h"
#include "t/tool/tap.h"

#include <mpfr.h>

enum { POINTS = 20000, PREC = 200 };

typedef struct function {
	const char *name;
	double (*mine)(double x);
	int (*theirs)(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd);
	double low, high; /* where finite, nonconstant results live */
} function;

static int
mpfr_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rnd)
{
	mpfr_rnd_t inner =
		rnd == MPFR_RNDZ ? MPFR_RNDU : rnd; /* a larger divisor: the quotient stays below the exact one */

	mpfr_neg(y, x, inner);
	mpfr_exp(y, y, inner);
	mpfr_add_ui(y, y, 1, inner);
	return mpfr_ui_div(y, 1, y, rnd);
}

static const function functions[] = {
	{ "exp", hu_exp, mpfr_exp, -750, 711 },
	{ "expm1", hu_expm1, mpfr_expm1, -60, 711 },
	{ "log", hu_log, mpfr_log, 0, 0x1p1023 },
	{ "log1p", hu_log1p, mpfr_log1p, -1, 0x1p1023 },
	{ "tanh", hu_tanh, mpfr_tanh, -30, 30 },
	{ "sigmoid", hu_sigmoid, mpfr_sigmoid, -750, 50 },
	{ "rsqrt", hu_rsqrt, mpfr_rec_sqrt, 0, 0x1p1023 },
	{ "erf", hu_erf, mpfr_erf, -7, 7 },
	{ "erfc", hu_erfc, mpfr_erfc, -7, 28 },
	{ "sin", hu_sin, mpfr_sin, -1000, 1000 },
	{ "cos", hu_cos, mpfr_cos, -1000, 1000 },
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* A third uniform over the interesting range, a third of any exponent, a third near one and near powers of two. */
static double
point(const function *f, unsigned i)
{
	hu_random r = hu_random_at(20260101, 1, 0, i);
	double u = hu_uniform(r), low = f->low, high = f->high > 1000 ? 1000 : f->high, x;

	switch (i % 3) {
	case 0: x = low + u * (high - low); break;
	case 1: x = hu_from_bits64(((uint64_t)r.w[2] << 32 | r.w[3]) & 0xffefffffffffffffu); break;
	default: x = hu_pow2((int)(r.w[2] % 80) - 70) + (u - 0.5) * hu_pow2(-(int)(r.w[3] % 53)); break;
	}
	if (low < 0 && (r.w[3] & 1))
		x = -x;
	if (low == 0 && x < 0)
		x = -x;
	return x;
}

/* |got - exact| relative to exact; below the normal range relative to 2^-1022,
   less one unit of 2^-1074. */
static double
relative_error(double got, const mpfr_t exact)
{
	mpfr_t d, s;
	double e;

	if (mpfr_nan_p(exact))
		return got != got ? 0 : hu_inf(0);
	if (mpfr_inf_p(exact))
		return mpfr_get_d(exact, MPFR_RNDN) == got ? 0 : hu_inf(0);
	if (mpfr_zero_p(exact))
		return got == 0 ? 0 : hu_inf(0);
	if (!hu_isfinite(got)) {
		double n = mpfr_get_d(exact, MPFR_RNDN);
		return n == got || (got == hu_inf(0) && n > 0x1.ffffffffffff0p1023) ? 0 : hu_inf(0);
	}
	mpfr_inits2(PREC, d, s, (mpfr_ptr)0);
	mpfr_sub_d(d, exact, got, MPFR_RNDN);
	mpfr_abs(d, d, MPFR_RNDN);
	mpfr_abs(s, exact, MPFR_RNDN);
	if (mpfr_cmp_d(s, 0x1p-1022) < 0) {
		mpfr_sub_d(d, d, 0x1p-1074, MPFR_RNDN);
		mpfr_set_d(s, 0x1p-1022, MPFR_RNDN);
	}
	mpfr_div(d, d, s, MPFR_RNDN);
	e = mpfr_get_d(d, MPFR_RNDN);
	mpfr_clears(d, s, (mpfr_ptr)0);
	return e;
}

static void
test_accuracy(const function *f)
{
	double worst = 0, at = 0;
	mpfr_t x, y;

	mpfr_inits2(PREC, x, y, (mpfr_ptr)0);
	for (unsigned i = 0; i < POINTS; i++) {
		double v = point(f, i), e;
		if (!hu_isfinite(v))
			continue;
		mpfr_set_d(x, v, MPFR_RNDN);
		f->theirs(y, x, MPFR_RNDN);
		e = relative_error(f->mine(v), y);
		if (!(e <= worst)) {
			worst = e;
			at = v;
		}
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
	ok(worst <= HU_ELEMENTARY_ERROR, "%s: %d points, worst relative error %.3g (%.2f units roundoff) at %a",
		f->name, POINTS, worst, worst * 0x1p53, at);
}

/* Every value of a 16-bit format, in every deterministic mode: value, sign of the error and flags are those of the
   exact result. */
static void
test_every(int i, hu_format_id id)
{
	const function *f = &functions[i];
	hu_format to = hu_format_of(id);
	long wrong = 0, nearest = 0;
	double at = 0;
	mpfr_t x, y;

	mpfr_init2(x, 53);
	mpfr_init2(y, PREC); /* sigmoid's result is within 2^-136 of 1/2 */
	for (uint32_t c = 0; c < (uint32_t)1 << to.bits; c++) {
		double v = hu_decode(c, to), plain = f->mine(v);
		oracle o;
		mpfr_set_d(x, v, MPFR_RNDN);
		int t = f->theirs(y, x, MPFR_RNDZ);
		oracle_odd(y, f->theirs == mpfr_sigmoid ? hu_isfinite(v) && v != 0
							: t); /* composed: no ternary value, and exact at 0 alone */
		if (f->theirs == mpfr_rec_sqrt &&
			v == 0) /* MPFR gives +Inf for both zeros, IEEE 754's rSqrt keeps the sign */
			mpfr_set_inf(y, hu_bits64(v) >> 63 ? -1 : 1);
		oracle_look(&o, y, to);
		for (int m = 0; m < HU_MODES; m++) {
			hu_rounded want = oracle_round(&o, to, (hu_mode)m, 0, 0);
			if (hu_mode_draws((hu_mode)m))
				continue;
			if (!oracle_agrees(hu_elementary_round((hu_elementary)i, v, to, (hu_mode)m, 0, 0), want)) {
				wrong++;
				at = v;
			}
			if (m == HU_RNE || m == HU_RNA || m == HU_RNZ) {
				double got = hu_round(plain, to, (hu_mode)m, 0, 0);
				nearest += hu_bits64(got) != hu_bits64(want.value) &&
					   !(hu_isnan(got) && hu_isnan(want.value));
			}
		}
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
	if (wrong)
		diag("last wrong: %a", at);
	is_int(wrong, 0, "%s of every %s value, correctly rounded in every mode", f->name, hu_format_name(id));
	is_int(nearest, 0, "%s of every %s value: the double, rounded to nearest, is the same", f->name,
		hu_format_name(id));
}

static void
test_specials(void)
{
	uint64_t nan = 0x7ff8000000000000u, inf = 0x7ff0000000000000u, zero = 0, minus = (uint64_t)1 << 63;
	double negative = hu_from_bits64(0xfff8000000000001u);

	for (int i = 0; i < FUNCTIONS; i++)
		is_bits64(
			hu_bits64(functions[i].mine(negative)), nan, "%s(NaN) is the one quiet NaN", functions[i].name);
#define AT(f, x, want) is_bits64(hu_bits64(f(x)), want, #f "(" #x ")")
	AT(hu_exp, hu_inf(0), inf);
	AT(hu_exp, hu_inf(1), zero);
	AT(hu_exp, -0.0, hu_bits64(1.0));
	AT(hu_exp, 709.79, inf);
	AT(hu_exp, -745.2, zero);
	AT(hu_exp, -745.1, 1);
	AT(hu_expm1, hu_inf(0), inf);
	AT(hu_expm1, hu_inf(1), hu_bits64(-1.0));
	AT(hu_expm1, -0.0, minus);
	AT(hu_expm1, 0x1p-1074, 1);
	AT(hu_log, 0.0, inf | minus);
	AT(hu_log, -0.0, inf | minus);
	AT(hu_log, -1.0, nan);
	AT(hu_log, hu_inf(1), nan);
	AT(hu_log, hu_inf(0), inf);
	AT(hu_log, 1.0, zero);
	AT(hu_log1p, -0.0, minus);
	AT(hu_log1p, -1.0, inf | minus);
	AT(hu_log1p, -1.5, nan);
	AT(hu_log1p, hu_inf(0), inf);
	AT(hu_tanh, -0.0, minus);
	AT(hu_tanh, hu_inf(0), hu_bits64(1.0));
	AT(hu_tanh, hu_inf(1), hu_bits64(-1.0));
	AT(hu_sigmoid, 0.0, hu_bits64(0.5));
	AT(hu_sigmoid, hu_inf(0), hu_bits64(1.0));
	AT(hu_sigmoid, hu_inf(1), zero);
	AT(hu_rsqrt, 0.0, inf);
	AT(hu_rsqrt, -0.0, inf | minus);
	AT(hu_rsqrt, -4.0, nan);
	AT(hu_rsqrt, hu_inf(0), zero);
	AT(hu_rsqrt, 0x1p-1074, hu_bits64(0x1p537));
	AT(hu_erf, -0.0, minus);
	AT(hu_erf, hu_inf(0), hu_bits64(1.0));
	AT(hu_erf, hu_inf(1), hu_bits64(-1.0));
	AT(hu_erfc, hu_inf(0), zero);
	AT(hu_erfc, hu_inf(1), hu_bits64(2.0));
	AT(hu_erfc, -0.0, hu_bits64(1.0));
#undef AT
	is_bits32(hu_bits32(hu_exp_f32(1.0f)), 0x402df854, "exp of a float is the double's, rounded");
}

int
main(void)
{
	for (int i = 0; i < FUNCTIONS; i++)
		test_accuracy(&functions[i]);
	for (int i = 0; i < FUNCTIONS; i++) {
		test_every(i, HU_FP16);
		test_every(i, HU_BF16);
	}
	test_specials();
	mpfr_free_cache();
	return done_testing();
}
