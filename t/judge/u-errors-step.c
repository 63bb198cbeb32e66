/* SPDX-License-Identifier: Apache-2.0
   Recorded tensors beside the exact step's values: every figure and its bound against MPFR's, element by element, in
   tensors of several parts, with values beyond double's squares and such that are not finite or not known; when a value
   is taken for 0, when it is doubtful, and the sizes of ulps beside a power of two. */
#include "lib/judge/errors.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/ulp.h"
#include "lib/exact/dd/dd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 20000 };

typedef struct values {
	size_t n;
	double got[MOST], hi[MOST], lo[MOST], err[MOST];
} values;

static double
uniform(size_t i, uint32_t what)
{
	return (hu_random_at(17, what, 0, (uint32_t)i).w[0] + 1.0) * 0x1p-32;
}

/* The figures that the values have, each exactly hi + lo, and by how much errors of ERR can move them. */
static hu_errors_step
by_mpfr(const values *v, hu_format f, int pairs)
{
	hu_errors_step m = { .known = 1 };
	mpfr_t x, d, t, ulps, offs, error2, exact2, off2;
	size_t finite = 0, infinite = 0;

	mpfr_inits2(4000, x, d, t, ulps, offs, error2, exact2, off2, (mpfr_ptr)NULL);
	for (mpfr_ptr *p = (mpfr_ptr[]){ ulps, offs, error2, exact2, off2, NULL }; *p; p++)
		mpfr_set_zero(*p, 1);
	for (size_t i = 0; i < v->n; i++) {
		double h = v->hi[i], l = pairs ? v->lo[i] : 0, e = pairs ? v->err[i] : 0, g = v->got[i];
		if (pairs && !(isfinite(h) && isfinite(l) && isfinite(e))) {
			m.unknown++;
			continue;
		}
		m.nonfinite += !isfinite(h);
		if (!isfinite(h) || !isfinite(g)) {
			infinite += !(h == g || (isnan(h) && isnan(g)));
			continue;
		}
		finite++;
		mpfr_set_d(x, h, MPFR_RNDN);
		mpfr_add_d(x, x, l, MPFR_RNDN);
		mpfr_sub_d(d, x, g, MPFR_RNDN);
		mpfr_abs(d, d, MPFR_RNDN);
		long unit = mpfr_zero_p(x) ? f.emin : mpfr_get_exp(x) - 1;
		unit = (unit < f.emin ? f.emin : unit) - f.p + 1;
		mpfr_mul_2si(t, d, -unit, MPFR_RNDN);
		m.ulp_max = fmax(m.ulp_max, mpfr_get_d(t, MPFR_RNDN));
		mpfr_add(ulps, ulps, t, MPFR_RNDN);
		double off = e + 0x1p-50 * mpfr_get_d(d, MPFR_RNDN), off_ulps;
		mpfr_set_d(t, off, MPFR_RNDN);
		mpfr_mul_2si(t, t, -unit, MPFR_RNDN);
		off_ulps = mpfr_get_d(t, MPFR_RNDN);
		m.off_max = fmax(m.off_max, off_ulps);
		mpfr_add_d(offs, offs, off_ulps, MPFR_RNDN);
		mpfr_set_d(t, off, MPFR_RNDN);
		mpfr_sqr(t, t, MPFR_RNDN);
		mpfr_add(off2, off2, t, MPFR_RNDN);
		mpfr_sqr(d, d, MPFR_RNDN);
		mpfr_add(error2, error2, d, MPFR_RNDN);
		mpfr_sqr(x, x, MPFR_RNDN);
		mpfr_add(exact2, exact2, x, MPFR_RNDN);
	}
	mpfr_div_ui(ulps, ulps, v->n, MPFR_RNDN);
	m.ulp_mean = infinite ? INFINITY : mpfr_get_d(ulps, MPFR_RNDN);
	m.ulp_max = infinite ? INFINITY : m.ulp_max;
	mpfr_div_ui(offs, offs, v->n, MPFR_RNDN);
	m.off_mean = infinite ? 0 : mpfr_get_d(offs, MPFR_RNDN);
	m.off_max = m.unknown ? INFINITY : infinite ? 0 : m.off_max;
	mpfr_div(t, error2, exact2, MPFR_RNDN);
	mpfr_sqrt(t, t, MPFR_RNDN);
	m.rel_normwise = !mpfr_zero_p(exact2)            ? mpfr_get_d(t, MPFR_RNDN)
			 : mpfr_zero_p(error2) && finite ? 0
							 : INFINITY;
	mpfr_div(t, off2, exact2, MPFR_RNDN);
	mpfr_sqrt(t, t, MPFR_RNDN);
	m.off_rel = mpfr_zero_p(exact2) ? 0 : mpfr_get_d(t, MPFR_RNDN) * (1 + m.rel_normwise);
	mpfr_clears(x, d, t, ulps, offs, error2, exact2, off2, (mpfr_ptr)NULL);
	return m;
}

static int
near(double a, double b, double share)
{
	return a == b || fabs(a - b) <= share * fabs(b);
}

static int
is_settled(double figure, double off)
{
	return off == 0 || off <= HU_STEP_SETTLED * figure;
}

/* Compares v in format ID, in pairs with bounds or as MPFR's doubles. */
static void
equal(const values *v, hu_format_id id, int pairs, const char *name)
{
	hu_tensor t = { .format = id, .shape = hu_shape1(v->n), .n = v->n };
	hu_errors_step got = { .known = 0 }, want = by_mpfr(v, hu_format_of(id), pairs);
	hu_step_values how = { v->hi, pairs ? v->lo : NULL, pairs ? v->err : NULL, NULL, NULL };
	float *narrow = hu_xmalloc((v->n + 1) * sizeof *narrow);

	for (size_t i = 0; i < v->n; i++)
		narrow[i] = (float)v->got[i];
	t.data = id == HU_FP64 ? (void *)v->got : (void *)narrow;
	hu_errors_propagated(&got, &t, &how);
	int good = near(got.ulp_max, want.ulp_max, 0x1p-40) && near(got.ulp_mean, want.ulp_mean, 0x1p-36) &&
		   near(got.rel_normwise, want.rel_normwise, 0x1p-36) && near(got.off_max, want.off_max, 0x1p-10) &&
		   near(got.off_mean, want.off_mean, 0x1p-10) && near(got.off_rel, want.off_rel, 0x1p-10) &&
		   got.unknown == want.unknown && got.nonfinite == want.nonfinite && !got.vanished && !got.doubtful &&
		   got.known == 1 &&
		   got.settled == (!got.unknown && is_settled(got.ulp_max, got.off_max) &&
					 is_settled(got.ulp_mean, got.off_mean) &&
					 is_settled(got.rel_normwise, got.off_rel));
	if (!ok(good, "%s: every figure and its bound is MPFR's", name))
		for (int i = 0; i < 2; i++) {
			const hu_errors_step *m = i ? &want : &got;
			diag("%a %a %a within %a %a %a, unknown %zu, nonfinite %zu, settled %d", m->ulp_max,
				m->ulp_mean, m->rel_normwise, m->off_max, m->off_mean, m->off_rel,
				m->unknown, m->nonfinite,
				m->settled);
		}
	free(narrow);
}

/* Values about SIZE, recorded with errors of some ulps in f, and known to a share OFF of themselves. None lies so near
   a power of two that its ulp is in doubt. */
static void
draw(values *v, size_t n, hu_format f, double size, double off)
{
	v->n = n;
	for (size_t i = 0; i < n; i++) {
		double share = 1.05 + 0.9 * uniform(i, 1), sign = i % 3 ? 1 : -1;
		v->hi[i] = sign * share * size * exp2((double)(i % 13) - 6);
		v->lo[i] = v->hi[i] * 0x1p-56 * (uniform(i, 2) - 0.5);
		v->err[i] = i % 7 == 3 ? 0 : fabs(v->hi[i]) * off * uniform(i, 3);
		v->got[i] = i % 11 == 5 ? v->hi[i] : v->hi[i] * (1 + ldexp(8 * (uniform(i, 4) - 0.5), -f.p));
		if (f.p < 53)
			v->got[i] = (float)v->got[i];
	}
}

static void
figures(void)
{
	static values v;
	hu_format single = hu_format_of(HU_FP32), dbl = hu_format_of(HU_FP64);

	draw(&v, 20000, single, 1, 0x1p-80);
	equal(&v, HU_FP32, 1, "20000 values of three parts");
	equal(&v, HU_FP32, 0, "20000 values of MPFR");
	draw(&v, 8192, single, 1, 0x1p-30);
	equal(&v, HU_FP32, 1, "known to 30 digits, in one whole part");
	draw(&v, 8193, single, 1, 0x1p-44);
	equal(&v, HU_FP32, 1, "and one value more");
	for (size_t n = 1; n < 4; n++) {
		draw(&v, n, single, 0x1p-140, 0x1p-80); /* in float32 subnormal: ulps are all of one size */
		equal(&v, HU_FP32, 1, "a few subnormal values");
	}
	draw(&v, 300, dbl, 0x1p-600, 0x1p-90);
	equal(&v, HU_FP64, 1, "values without squares, small");
	draw(&v, 300, dbl, 0x1p700, 0x1p-90);
	equal(&v, HU_FP64, 1, "and large");
	for (size_t i = 0; i < v.n; i += 2) /* both kinds: the small ones' errors are as large */
		v.got[i] = -v.got[i];
	equal(&v, HU_FP64, 0, "and all wrong");
	draw(&v, 300, dbl, 1, 0x1p-90);
	v.got[7] = 0x1p800;
	v.got[9] = 0x1p-900;
	v.hi[11] = 0x1.8p-1000;
	v.lo[11] = v.err[11] = 0;
	equal(&v, HU_FP64, 1, "far values among others");
	draw(&v, 9000, single, 1, 0x1p-80);
	v.hi[5] = NAN;
	v.lo[8500] = INFINITY;
	v.err[6] = INFINITY;
	equal(&v, HU_FP32, 1, "values that nothing is known of");
	draw(&v, 9000, single, 1, 0x1p-80);
	v.got[8600] = INFINITY;
	equal(&v, HU_FP32, 1, "a recorded infinity");
	v.hi[8600] = INFINITY;
	equal(&v, HU_FP32, 0, "the same as MPFR's");
	v.hi[70] = v.got[70] = NAN;
	v.hi[71] = -INFINITY;
	equal(&v, HU_FP32, 0, "and another, and NaN twice");
	for (size_t i = 0; i < 4; i++)
		v.hi[i] = v.got[i] = i % 2 ? NAN : INFINITY;
	v.n = 4;
	equal(&v, HU_FP32, 0, "infinities and NaN alone");
	draw(&v, 5, single, 1, 0);
	for (size_t i = 0; i < 5; i++)
		v.hi[i] = v.lo[i] = v.err[i] = v.got[i] = 0;
	equal(&v, HU_FP32, 1, "zeros");
	v.got[3] = 1;
	equal(&v, HU_FP32, 1, "a zero that was recorded as 1");
}

/* A value without a digit is taken for 0 where it lies below 2^-16 of its own tensor's largest value, however small
   that is, or of the format's smallest number. */
static void
zero_beside_its_tensor(void)
{
	static const struct { double most, h, e; size_t zero; } cases[] = {
		{ 0x1p-40, 0x1p-60, 0x1p-59, 1 }, { 0x1p-40, 0x1p-55, 0x1p-54, 0 }, { 0x1p-40, 0x1p-55, 0x1p-56, 0 },
		{ 0x1p40, 0x1p20, 0x1p21, 1 }, { 0x1p40, 0x1p24, 0x1p24, 0 }, { 0, 0x1p-170, 0x1p-167, 1 },
		{ 0, 0x1p-163, 0x1p-162, 0 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float got[3] = { (float)-cases[i].most, (float)cases[i].most, 0 };
		double hi[3] = { -cases[i].most, cases[i].most, cases[i].h }, lo[3] = { 0 },
		       err[3] = { 0, 0, cases[i].e };
		short mark[3];
		hu_tensor t = { .format = HU_FP32, .shape = hu_shape1(3), .n = 3, .data = got };
		hu_step_values v = { hi, lo, err, NULL, mark };
		hu_errors_step m = { 0 };
		hu_errors_propagated(&m, &t, &v);
		ok(m.vanished == cases[i].zero && hu_step_is_zero(mark[2]) == (int)cases[i].zero && !m.unknown,
			"%g within %g beside %g is %staken for 0", cases[i].h, cases[i].e, cases[i].most,
			cases[i].zero ? "" : "not ");
		double power = ldexp(1, mark[2] - (cases[i].zero ? HU_STEP_ZERO : 0));
		if (cases[i].h < cases[i].e)
			ok(power > cases[i].e && power <= 2 * cases[i].e, "and the mark says that it lies within %g",
				power);
	}
}

/* An MPFR value of which double-double said nothing must be confirmed where it lies 2^-100 below its tensor, and 2^-40
   below what was recorded or beside a zero; one that another precision does not confirm is 0. */
static void
doubtful_values(void)
{
	static const struct { double g, h, before; size_t doubtful, zero; } cases[] = {
		{ 0, 0x1p-110, 0x1p-110, 1, 0 }, { 0, 0x1p-110, -0x1p-111, 1, 1 }, { 0, 0x1p-99, 0x1p-98, 0, 0 },
		{ 0x1p-60, 0x1p-101, 0x1p-101, 1, 0 }, { 0x1p-60, 0x1p-101, 0x1p-103, 1, 1 },
		{ 0x1p-62, 0x1p-101, 0x1p-103, 0, 0 }, { 0, 0, 0x1p-103, 0, 0 }, { -0x1p-60, -0x1p-101, 0, 1, 1 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double got[2] = { 1, cases[i].g }, hi[2] = { 1, cases[i].h }, before[2] = { 1, cases[i].before };
		short mark[2] = { HU_STEP_DIGITS, HU_STEP_UNKNOWN };
		hu_tensor t = { .format = HU_FP64, .shape = hu_shape1(2), .n = 2, .data = got };
		hu_step_values v = { hi, NULL, NULL, before, mark };
		hu_errors_step m = { 0 };
		hu_errors_propagated(&m, &t, &v);
		ok(m.doubtful == cases[i].doubtful && m.vanished == cases[i].zero,
			"%g beside a recorded %g, and %g at another precision: %s", cases[i].h, cases[i].g,
			cases[i].before,
			cases[i].zero           ? "0"
				: cases[i].doubtful ? "confirmed"
						    : "itself");
	}
}

/* A value that may lie below a power of two or above it, on whichever side its middle is, has ulps of two sizes: the
   figure of either is within the bound of the other. The last case lies on one side alone. */
static void
beside_a_power(void)
{
	static const struct { double lo; int both; } cases[] = { { 0x1p-110, 1 }, { -0x1p-110, 1 }, { 0, 1 },
		{ -0x1p-80, 0 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float got = 1 - 0x1p-20f;
		double hi = 1, lo = cases[i].lo, err = 0x1p-104, below = 0x1p-20 / 0x1p-24, above = 0x1p-20 / 0x1p-23;
		short mark;
		hu_tensor t = { .format = HU_FP32, .shape = hu_shape1(1), .n = 1, .data = &got };
		hu_step_values v = { &hi, &lo, &err, NULL, &mark };
		hu_errors_step m = { 0 };
		hu_errors_propagated(&m, &t, &v);
		ok(fabs(m.ulp_max - below) <= m.off_max + 0x1p-40 &&
				(fabs(m.ulp_max - above) <= m.off_max + 0x1p-40) == cases[i].both,
			"1 and %g: %g ulps within %g are %g%s", lo, m.ulp_max, m.off_max, below,
			cases[i].both ? ", and half as many" : "");
	}
}

int
main(void)
{
	figures();
	zero_beside_its_tensor();
	doubtful_values();
	beside_a_power();
	return done_testing();
}
