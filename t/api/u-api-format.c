/* SPDX-License-Identifier: Apache-2.0
   The C library's formats and roundings, called as a program calls them, in every format of the table: tables and
   names; values and codes by MPFR (t/oracle/oracle.h), under every mode and flag, stochastic draws between MPFR's two
   neighbours and with the bits of the internal engine; codes there and back; errors in ulps by MPFR; refusals. */
#include "include/halfulp/format.h"

#include "lib/base/hash.h"
#include "lib/number/code.h"
#include "lib/number/draw.h"
#include "lib/number/round.h"
#include "t/oracle/oracle.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

static const int flag_sets[] = { 0, HALFULP_SATURATE, HALFULP_FTZ, HALFULP_DAZ,
	HALFULP_SATURATE | HALFULP_FTZ | HALFULP_DAZ };
enum { FLAG_SETS = sizeof flag_sets / sizeof *flag_sets };

static int
same(double x, double y)
{
	return isnan(x) ? isnan(y) : bits_of_double(x) == bits_of_double(y);
}

/* Around each power of two of the format, and around its ends: the number, a half, a quarter and three quarters of an
   ulp further, and a little beside them, of both signs; zeros, infinities, NaN. Returns how many. */
static size_t
inputs(double *x, hu_format f)
{
	static const double part[] = { 0, 0.25, 0.5, 0.5000001, 0.75, 1 };
	size_t n = 0;
	int step = (f.emax - f.emin) / 8 + 1;

	for (int e = f.emin - f.p; e <= f.emax + 1 && n + 40 < MOST; e += step) {
		double base = ldexp(1, e), ulp = ldexp(1, (e < f.emin ? f.emin : e) - f.p + 1);
		for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
			x[n++] = base + part[k] * ulp;
			x[n++] = -(base + part[k] * ulp);
		}
	}
	double ulp = ldexp(1, f.emax - f.p + 1), least = ldexp(1, f.emin - f.p + 1), normal = ldexp(1, f.emin);
	const double ends[] = { f.max, f.max + ulp / 2, f.max + ulp, nextafter(f.max + ulp / 2, 0), least / 2,
		least / 4, least * 0.75, normal - least, normal - least / 2, normal, 0, INFINITY };
	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
		x[n++] = ends[k];
		x[n++] = -ends[k];
	}
	x[n++] = NAN;
	return n;
}

static void
test_rounding(const halfulp_format *format, hu_format f)
{
	double x[MOST], y[MOST], back[MOST], part[MOST];
	uint64_t code[MOST];
	size_t n = inputs(x, f), half = n / 2;
	long wrong = 0, wrong_code = 0, wrong_back = 0, wrong_part = 0, drawn = 0;
	const hu_stream random = { 7, hu_fnv1a32("library"), 0 };

	for (int m = 0; m <= HALFULP_SRE; m++)
		for (int s = 0; s < FLAG_SETS; s++) {
			halfulp_mode mode = (halfulp_mode)m;
			int flags = flag_sets[s];
			int failed =
				halfulp_round(y, x, n, format, mode, flags, 7, 1000) ||
				halfulp_encode(code, x, n, format, mode, flags, 7, 1000) ||
				halfulp_decode(back, code, n, format) ||
				halfulp_round(part, x, half, format, mode, flags, 7, 1000) ||
				halfulp_round(part + half, x + half, n - half, format, mode, flags, 7, 1000 + half);
			wrong += failed;
			for (size_t i = 0; i < n && !failed; i++) {
				oracle o;
				oracle_look_d(&o, x[i], f);
				if (m < HALFULP_SR) {
					hu_rounded want = oracle_round(&o, f, (hu_mode)m, flags, 0);
					wrong += !same(y[i], want.value);
				} else {
					double down = oracle_round(&o, f, HU_RD, flags, 0).value;
					double up = oracle_round(&o, f, HU_RU, flags, 0).value;
					wrong += !same(y[i], down) && !same(y[i], up);
					wrong += !same(
						y[i], hu_round_drawn(x[i], f, (hu_mode)m, flags, random, 1000 + i));
					drawn += down != up && !isnan(down);
				}
				wrong_code += code[i] != hu_encode(y[i], f) || (f.bits < 64 && code[i] >> f.bits);
				wrong_back += !same(back[i], y[i]);
				wrong_part += !same(part[i], y[i]);
			}
		}
	const char *name = halfulp_format_name(format);
	is_int(wrong, 0, "%s: halfulp_round of %zu numbers, every mode and flag, by MPFR", name, n);
	is_int(wrong_code, 0, "%s: halfulp_encode has these values' codes", name);
	is_int(wrong_back, 0, "%s: halfulp_decode gives the values back", name);
	is_int(wrong_part, 0, "%s: two pieces of an array are the whole", name);
	ok(drawn > 0, "%s: %ld stochastic roundings had two neighbours", name, drawn);
}

/* Every code of a narrow format: its value is kept by every mode, and encoding it gives the code, or, of NaN and of the
   codes that mean the same, the one that the format prefers. */
static void
test_codes(const halfulp_format *format, hu_format f)
{
	size_t n = (size_t)1 << f.bits, wrong = 0, twice = 0;
	uint64_t *code = malloc(n * sizeof *code), *again = malloc(n * sizeof *again);
	double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);

	if (!code || !again || !x || !y)
		bail_out("no memory");
	for (size_t i = 0; i < n; i++)
		code[i] = i;
	int failed = halfulp_decode(x, code, n, format) || halfulp_encode(again, x, n, format, HALFULP_RNE, 0, 0, 0) ||
		     halfulp_decode(y, again, n, format);
	for (size_t i = 0; i < n; i++) {
		wrong += !same(y[i], x[i]) || !same(x[i], hu_decode(i, f));
		twice += again[i] != i && !isnan(x[i]);
	}
	ok(!failed && !wrong && twice <= 1, "%s: each of %zu codes has a value, whose code it is (%zu doubles)",
		halfulp_format_name(format), n, twice);
	free(code);
	free(again);
	free(x);
	free(y);
}

/* |got - exact| / 2^(max(floor(log2|exact|), emin) - p + 1), as MPFR has it. */
static double
ulps_by_mpfr(double got, double exact, hu_format f)
{
	mpfr_t d, q;
	long e;

	mpfr_inits2(2200, d, q, (mpfr_ptr)0);
	mpfr_set_d(d, exact, MPFR_RNDN);
	e = exact == 0 ? f.emin : (long)mpfr_get_exp(d) - 1;
	e = (e < f.emin ? f.emin : e) - f.p + 1;
	mpfr_set_d(q, got, MPFR_RNDN);
	mpfr_sub(d, d, q, MPFR_RNDN);
	mpfr_abs(d, d, MPFR_RNDN);
	mpfr_mul_2si(d, d, -e, MPFR_RNDN);
	double u = mpfr_get_d(d, MPFR_RNDN);
	mpfr_clears(d, q, (mpfr_ptr)0);
	return u;
}

static void
test_ulps(const halfulp_format *format, hu_format f)
{
	double x[MOST], y[MOST], u[MOST];
	size_t n = inputs(x, f);
	long wrong = 0, beyond = 0;

	if (halfulp_round(y, x, n, format, HALFULP_RNE, 0, 0, 0) || halfulp_ulps(u, y, x, n, format))
		wrong = 1;
	for (size_t i = 0; i < n && !wrong; i++) {
		double want = !isfinite(x[i]) || !isfinite(y[i])
				      ? (isnan(x[i]) && isnan(y[i])) || x[i] == y[i] ? 0 : INFINITY
				      : ulps_by_mpfr(y[i], x[i], f);
		/* the difference is taken in double, and so is its quotient by a power of two: 2^-53, told in format.h
		 */
		if (isinf(want) ? u[i] != want : !(fabs(u[i] - want) <= ldexp(want, -53)))
			wrong++;
		beyond += isfinite(want) && want > 0.5 && fabs(x[i]) <= f.max && hu_has_sign(f);
	}
	is_int(wrong, 0, "%s: halfulp_ulps of %zu roundings, by MPFR", halfulp_format_name(format), n);
	is_int(beyond, 0, "%s: none within the range is off by more than half an ulp", halfulp_format_name(format));
}

static void
test_table(void)
{
	const halfulp_format *format, *again;
	size_t n = 0;

	while (halfulp_format_at(&format, n) == HALFULP_OK) {
		hu_format f = hu_format_of((hu_format_id)n);
		ok(halfulp_format_find(&again, halfulp_format_name(format)) == HALFULP_OK && again == format &&
				!strcmp(halfulp_format_name(format), hu_format_name(f.id)) &&
				halfulp_format_bits(format) == f.bits && halfulp_format_precision(format) == f.p &&
				halfulp_format_emin(format) == f.emin && halfulp_format_emax(format) == f.emax &&
				halfulp_format_max(format) == f.max &&
				halfulp_format_unit_roundoff(format) == ldexp(1, -f.p),
			"format %zu, %s, is found by its name and has the table's numbers", n,
			halfulp_format_name(format));
		ok(halfulp_format_smallest_normal(format) == ldexp(1, f.emin) &&
				halfulp_format_smallest(format) == hu_smallest(f),
			"%s: its smallest numbers", halfulp_format_name(format));
		if (f.id != HU_FP64)
			test_rounding(format, f);
		if (f.bits <= 16)
			test_codes(format, f);
		test_ulps(format, f);
		n++;
	}
	is_int((long long)n, HU_FORMATS, "format_at hands out the whole table");
	ok(strstr(halfulp_reason(), "counted from 0") != NULL, "past its end: %s", halfulp_reason());
}

static void
test_modes(void)
{
	halfulp_mode mode = HALFULP_RNE;

	for (int m = 0; m < HU_MODES; m++) {
		mode = m ? HALFULP_RNE : HALFULP_SR;
		ok(halfulp_mode_find(&mode, hu_mode_name((hu_mode)m)) == HALFULP_OK && (int)mode == m, "mode %s is %d",
			hu_mode_name((hu_mode)m), m);
	}
	ok(halfulp_mode_find(&mode, "stochastic") == HALFULP_OK && mode == HALFULP_SR, "a mode's other name");
	ok(halfulp_mode_find(&mode, "RNX") == HALFULP_EINVAL && strstr(halfulp_reason(), "RNX") &&
			!strchr(halfulp_reason(), '\n'),
		"no mode: %s", halfulp_reason());
}

static void
test_refusals(void)
{
	const halfulp_format *fp16 = NULL;
	double x[3] = { 1, 2, 3 }, y[3];
	uint64_t code[3] = { 1, 0x10000, 2 };

	ok(halfulp_format_find(&fp16, "FP16") == HALFULP_OK && halfulp_format_find(&fp16, "half") == HALFULP_OK,
		"names in any case");
	ok(halfulp_decode(y, code, 3, fp16) == HALFULP_EINVAL && strstr(halfulp_reason(), "code 1"),
		"a code that is too wide: %s", halfulp_reason());
	ok(halfulp_round(y, x, 3, fp16, (halfulp_mode)9, 0, 0, 0) == HALFULP_EINVAL, "no mode: %s", halfulp_reason());
	ok(halfulp_encode(code, x, 3, fp16, HALFULP_RNE, 8, 0, 0) == HALFULP_EINVAL, "no flag: %s", halfulp_reason());
	ok(halfulp_encode(NULL, x, 3, fp16, HALFULP_RNE, 0, 0, 0) == HALFULP_EINVAL, "no array: %s", halfulp_reason());
	ok(halfulp_ulps(y, NULL, x, 3, fp16) == HALFULP_EINVAL, "no array: %s", halfulp_reason());
	ok(halfulp_format_at(NULL, 0) == HALFULP_EINVAL && halfulp_mode_find(NULL, "RNE") == HALFULP_EINVAL,
		"nowhere to put it: %s", halfulp_reason());
	ok(!halfulp_round(NULL, NULL, 0, fp16, HALFULP_RNE, 0, 0, 0) &&
			!halfulp_encode(NULL, NULL, 0, fp16, HALFULP_RNE, 0, 0, 0) &&
			!halfulp_decode(NULL, NULL, 0, fp16) && !halfulp_ulps(NULL, NULL, NULL, 0, fp16),
		"no elements are no failure");
	/* seeds: other draws, and the same again */
	double a[64], b[64], c[64], at[64];
	for (int i = 0; i < 64; i++)
		at[i] = 1 + 0x1p-11;
	halfulp_round(a, at, 64, fp16, HALFULP_SR, 0, 1, 0);
	halfulp_round(b, at, 64, fp16, HALFULP_SR, 0, 1, 0);
	halfulp_round(c, at, 64, fp16, HALFULP_SR, 0, 2, 0);
	ok(!memcmp(a, b, sizeof a) && memcmp(a, c, sizeof a), "a seed has its draws");
}

int
main(void)
{
	test_table();
	test_modes();
	test_refusals();
	return done_testing();
}
