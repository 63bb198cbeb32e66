/* SPDX-License-Identifier: Apache-2.0
   Tensor cores with block-scaled operands against the published pseudo-code in MPFR: values and exponents
   of every term as numbers, floor and truncation by MPFR, nothing shared with tc/scaled.h but formats' codes. */
#include "lib/number/block/block.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

enum { K = 150, WIDE = 2400, NO = -100000 };

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_word(20250103, 1, 0, counter++);
}

static hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK ||
		hu_sum_resolve(&s, s.in, s.in2 == HU_NO_FORMAT ? s.in : s.in2, HU_FP32) != HU_OK)
		bail_out("%s: %s", text, hu_reason());
	return s;
}

/* The exponent that a value counts with: not below the format's least. */
static int
exponent(double x, hu_format f)
{
	int e = ilogb(x);

	return e < f.emin ? f.emin : e;
}

/* One block: N terms V of exponents E (NO: a zero's), chopped to F bits below the largest or LEAST; one rounding toward
   zero to fp32. */
static double
block(mpfr_t *v, const int *e, int n, int f, int least)
{
	mpfr_t s, t;
	int emax = least, q;
	double r;

	mpfr_inits2(WIDE, s, t, (mpfr_ptr)0);
	for (int i = 0; i < n; i++)
		emax = e[i] > emax ? e[i] : emax;
	mpfr_set_zero(s, 1);
	for (int i = 0; i < n; i++) {
		mpfr_mul_2si(t, v[i], f - emax, MPFR_RNDN);
		mpfr_trunc(t, t);
		mpfr_add(s, s, t, MPFR_RNDN);
	}
	mpfr_mul_2si(s, s, emax - f, MPFR_RNDN);
	if (mpfr_zero_p(s)) {
		r = 0;
	} else {
		q = (int)mpfr_get_exp(s) - 24 < -149 ? -149 : (int)mpfr_get_exp(s) - 24;
		mpfr_mul_2si(s, s, -q, MPFR_RNDN);
		mpfr_trunc(s, s);
		mpfr_mul_2si(s, s, q, MPFR_RNDN);
		r = mpfr_zero_p(s) ? 0 : mpfr_get_d(s, MPFR_RNDZ); /* a sum that vanishes is +0 */
		r = fabs(r) >= 0x1p128 ? copysign(INFINITY, r) : r;
	}
	mpfr_clears(s, t, (mpfr_ptr)0);
	return r;
}

/* The sum of finite operands. */
static double
oracle(const double *a, const double *sa, const double *b, const double *sb, int n, double c, hu_sum s, int groups)
{
	hu_format fa = hu_format_of(s.in), fb = hu_format_of(s.in2), fs = hu_format_of(s.scale);
	int step = groups ? 64 : 32;
	mpfr_t v[33], p;

	mpfr_init2(p, WIDE);
	for (int i = 0; i < 33; i++)
		mpfr_init2(v[i], WIDE);
	for (int k = 0; k < n; k += step) {
		int e[33], at = 0, last = n - k < step ? n : k + step;
		for (int i = k; i < last; at++) {
			int any = 0, from = i, stop = groups ? (i + 16 < last ? i + 16 : last) : i + 1;
			double x = sa[i / s.group], y = sb[i / s.group];
			mpfr_set_zero(v[at], 1);
			for (; i < stop; i++) {
				any |= a[i] != 0 && b[i] != 0 && x != 0 && y != 0;
				mpfr_set_d(p, a[i], MPFR_RNDN);
				mpfr_mul_d(p, p, b[i], MPFR_RNDN);
				mpfr_add(v[at], v[at], p, MPFR_RNDN);
			}
			mpfr_mul_d(v[at], v[at], x, MPFR_RNDN);
			mpfr_mul_d(v[at], v[at], y, MPFR_RNDN);
			e[at] = !any ? NO
				     : exponent(x, fs) + exponent(y, fs) +
						(groups ? 0 : exponent(a[from], fa) + exponent(b[from], fb));
		}
		mpfr_set_d(v[at], c, MPFR_RNDN);
		e[at] = c == 0 ? NO : exponent(c, hu_format_of(HU_FP32));
		c = block(v, e, at + 1, groups ? 35 : 25, groups ? -139 : -133);
	}
	for (int i = 0; i < 33; i++)
		mpfr_clear(v[i]);
	mpfr_clear(p);
	return c;
}

static double
element(hu_format f, int sparse)
{
	return sparse && bits() % 4 ? 0 : hu_decode((uint64_t)bits() & (((uint64_t)1 << f.bits) - 1), f);
}

/* KIND 0: near 1; 1: any; 2: so small that products are fp32's subnormals and below; 3: gaps about the alignment's
   depth; 4: near overflow. */
static double
scale(hu_format f, int kind)
{
	int e = kind == 0   ? (int)(bits() % 5) - 2
		: kind == 1 ? (int)(bits() % 254) - 127
		: kind == 2 ? -64 - (int)(bits() % 16)
		: kind == 3 ? -(int)(bits() & 1) * (10 + (int)(bits() % 12))
			    : 58 + (int)(bits() % 6);
	double x;

	if (f.id == HU_E8M0)
		return ldexp(1, e);
	x = hu_decode(bits() & (kind == 2 ? 15 : 127), f);
	return isnan(x) ? 0 : x;
}

static void
row(const char *text, int groups)
{
	hu_sum s = model(text);
	hu_format fa = hu_format_of(s.in), fb = hu_format_of(s.in2), fs = hu_format_of(s.scale);
	int bad = 0, zero = 0, small = 0, infinite = 0;

	for (int i = 0; i < 1500; i++) {
		double a[K], b[K], sa[K / 16 + 1], sb[K / 16 + 1],
			c = i % 3 ? 0 : (double)(float)(((double)bits() - 0x1p31) * ldexp(1, -32 - (int)(bits() % 60)));
		int n = 1 + (int)(bits() % K), kind = i % 5;
		if (kind == 4 && i % 4 == 0) /* an accumulator about the smallest numbers */
			c = ldexp(1, -149 + (int)(bits() % 20));
		for (int k = 0; k < K; k++) {
			a[k] = element(fa, i % 7 == 0);
			b[k] = element(fb, 0);
			a[k] = isfinite(a[k]) ? a[k] : 0;
			b[k] = isfinite(b[k]) ? b[k] : 1;
			if (i % 6 == 5 && k % 2) { /* exact cancellation */
				a[k] = -a[k - 1];
				b[k] = b[k - 1];
			}
		}
		for (int g = 0; g < K / 16 + 1; g++) {
			sa[g] = scale(fs, kind);
			sb[g] = scale(fs, kind);
		}
		double got = hu_tc_scaled(a, sa, b, sb, (size_t)n, c, s, NULL),
		       want = oracle(a, sa, b, sb, n, c, s, groups);
		int over = !isfinite(want); /* what follows an infinite block is test_special's */
		bad += !over && bits_of_double(got) != bits_of_double(want);
		if (!over && bits_of_double(got) != bits_of_double(want) && bad == 1)
			diag("%s, %d terms, kind %d: %a, not %a", text, n, kind, got, want);
		zero += want == 0;
		small += want != 0 && fabs(want) < 0x1p-126;
		infinite += isinf(want) != 0;
	}
	int reach = s.scale == HU_E8M0;
	ok(!bad && zero && (!reach || small),
		"%s: %d of 1500 differ from MPFR's; %d are 0, %d subnormal, %d beyond the range", text, bad, zero,
		small, infinite);
}

/* Scales of 1: mxf8f6f4 is f8f6f4; the model behind every command takes scales 1 where none are given. */
static void
test_unit(void)
{
	static const char *const pairs[][2] = { { "mxfp8e4m3", "e4m3" }, { "mxfp8e5m2", "e5m2" },
		{ "mxfp6e3m2", "e3m2" }, { "mxfp6e2m3", "e2m3" } };
	int bad = 0;

	for (int i = 0; i < 4; i++) {
		char with[64], without[64];
		snprintf(with, sizeof with, "tc:blackwell,in=%s", pairs[i][0]);
		snprintf(without, sizeof without, "tc:blackwell,in=%s,path=tcgen05", pairs[i][1]);
		hu_sum s = model(with), t = model(without);
		for (int j = 0; j < 200; j++) {
			double a[100], b[100];
			for (int k = 0; k < 100; k++) {
				a[k] = element(hu_format_of(s.in), 0);
				b[k] = element(hu_format_of(s.in), j % 3 == 0);
			}
			bad += bits_of_double(hu_model_tc(a, b, 100, 0, s, NULL)) !=
			       bits_of_double(hu_model_tc(a, b, 100, 0, t, NULL));
		}
	}
	is_int(bad, 0, "with scales of 1 mxf8f6f4 gives f8f6f4's bits");
}

static void
test_special(void)
{
	hu_sum mx = model("tc:blackwell,in=mxfp8e5m2"), nv = model("tc:rtxblackwell,in=nvfp4"),
	       mx4 = model("tc:blackwell,in=mxfp4");
	double a[64] = { 1 }, b[64] = { 1 }, one[4] = { 1, 1, 1, 1 }, nan[4] = { hu_nan(), 1, 1, 1 },
	       late[4] = { 1, 1, 1, hu_nan() }, minus[4] = { -2, 1, 1, 1 }, zero[4] = { 0 },
	       big[4] = { 0x1p127, 1, 1, 1 };
	double inf[64] = { hu_inf(0) }, none[64] = { 0 };
	int bad = 0;

	bad += !hu_isnan(hu_tc_scaled(a, nan, b, one, 32, 0, mx, NULL));
	bad += !hu_isnan(hu_tc_scaled(none, nan, none, one, 32, 0, mx, NULL)); /* also of zeros */
	bad += !hu_isnan(hu_tc_scaled(none, one, none, late, 64, 0, nv, NULL));
	bad += !hu_isnan(hu_tc_scaled(a, one, b, nan, 64, hu_inf(0), nv, NULL));
	bad += !hu_isnan(hu_tc_scaled(a, one, b, one, 64, hu_nan(), nv, NULL));
	bad += hu_tc_scaled(a, one, b, one, 64, hu_inf(1), nv, NULL) != hu_inf(1);
	bad += hu_tc_scaled(inf, one, b, big, 32, 1, mx, NULL) != hu_inf(0);
	bad += !hu_isnan(hu_tc_scaled(inf, one, none, one, 32, 1, mx, NULL));
	bad += hu_tc_scaled(a, big, b, big, 32, 0, mx, NULL) != hu_inf(0); /* toward zero, yet infinite */
	bad += hu_tc_scaled(a, big, b, big, 64, -1, mx4, NULL) != hu_inf(0);
	bad += hu_tc_scaled(a, minus, b, one, 64, 0, nv, NULL) != 2; /* a scale's sign is ignored */
	bad += bits_of_double(hu_tc_scaled(a, zero, b, one, 64, -0.0, nv, NULL)) != 0;
	is_int(bad, 0, "NaN scales, infinities, overflow, the sign of a scale, scales of 0");
	/* 16 products that cancel keep their scales' exponent: 2^-36 beside 1 is chopped, beside a group of zeros it is
	   not. */
	double x[64] = { 1, -1 }, y[64] = { 1, 1 }, scales[4] = { 1, 0x1p-36, 1, 1 };
	mx4 = model("tc:blackwell,in=mxfp4x16");
	x[16] = y[16] = 1;
	bad = hu_tc_scaled(x, scales, y, one, 64, 0, mx4, NULL) != 0;
	x[0] = x[1] = 0;
	bad += hu_tc_scaled(x, scales, y, one, 64, 0, mx4, NULL) != 0x1p-36;
	x[0] = 1;
	x[1] = -1;
	scales[1] = 0x1p-35;
	bad += hu_tc_scaled(x, scales, y, one, 64, 0, mx4, NULL) != 0x1p-35;
	is_int(bad, 0, "F = 35, and a group that cancels still aligns the others");
}

/* Swamped products are told, with the sum unchanged. */
static void
test_lost(void)
{
	hu_sum s = model("tc:blackwell,in=nvfp4");
	double a[64], b[64], sa[4] = { 448, 0x1p-9, 1, 1 }, sb[4] = { 448, 0x1p-9, 1, 1 };
	unsigned char lost[64];
	int n = 0;

	for (int k = 0; k < 64; k++)
		a[k] = b[k] = 1;
	double with = hu_tc_scaled(a, sa, b, sb, 64, 0, s, lost), without = hu_tc_scaled(a, sa, b, sb, 64, 0, s, NULL);
	for (int k = 0; k < 64; k++)
		n += lost[k];
	ok(with == without && n == 0, "448^2 and 2^-18 are 2^35 apart or less: nothing is lost");
	with = hu_tc_scaled(a, sa, b, sb, 64, 0x1p30, s, lost);
	for (int k = n = 0; k < 64; k++)
		n += lost[k] && k / 16 == 1;
	is_int(n, 16, "beside 2^30 the group of 2^-18 is");
}

static void
test_names(void)
{
	static const char *const good[][2] = { { "tc:blackwell,in=mxfp8", "tc:blackwell,in=mxfp8e4m3" },
		{ "tc:blackwell,in=NVFP4,path=tcgen05", "tc:blackwell,in=nvfp4,path=tcgen05" },
		{ "tc:rtxblackwell,in=mxfp4x16", "tc:rtxblackwell,in=mxfp4x16" },
		{ "tc:blackwell,in=mxfp8,in2=mxfp4,out=fp32", "tc:blackwell,in=mxfp8e4m3,in2=mxfp4,out=fp32" },
		{ "tc:blackwell,in=mxfp4,in2=mxfp6", "tc:blackwell,in=mxfp4,in2=mxfp6e3m2" } };
	static const char *const bad[] = { "tc:hopper,in=mxfp8", "tc:blackwell,in=mxfp8,path=mma",
		"tc:blackwell,in=mxfp8x16", "tc:blackwell,in=nvfp4x32", "tc:blackwell,in=nvfp4,in2=mxfp4",
		"tc:blackwell,in=mxfp8,in2=e4m3", "tc:blackwell,in=e4m3,in2=mxfp8", "tc:blackwell,in=mxfp8,out=fp16",
		"tc:blackwell,in=mxint8", "tc:blackwell,in=mxfp9", "tc:blackwell,in2=mxfp8" };
	int wrong = 0, taken = 0;
	char text[96], again[96];
	hu_sum s;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		wrong += hu_sum_parse(good[i][0], &s) != HU_OK;
		hu_sum_print(s, text, sizeof text);
		wrong += strcmp(text, good[i][1]) != 0 || hu_sum_parse(text, &s) != HU_OK;
		hu_sum_print(s, again, sizeof again);
		wrong += strcmp(text, again) != 0;
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (hu_sum_parse(bad[i], &s) == HU_OK) {
			diag("taken: %s", bad[i]);
			taken++;
		}
	ok(!wrong && !taken, "block formats are names of operands: %d wrong, %d taken that no unit has", wrong, taken);
}

/* What block.h makes of an array, times its scales, is what a cast to the block format gives; sums of it stay near the
   exact one. */
static void
test_quantise(void)
{
	static const char *const names[] = { "mxfp8e4m3", "mxfp8e5m2", "mxfp6e3m2", "mxfp6e2m3", "mxfp4", "mxfp4x16",
		"nvfp4" };
	enum { ROWS = 6, LONG = 70 };

	for (int i = 0; i < 7; i++) {
		char text[64];
		float x[ROWS * LONG], cast[ROWS * LONG];
		double element[ROWS * LONG], scales[ROWS * LONG], whole;
		int bad = 0, none = 0;
		hu_block b;
		snprintf(text, sizeof text, "tc:blackwell,in=%s", names[i]);
		hu_sum s = model(text);
		for (int j = 0; j < ROWS * LONG; j++)
			x[j] = ldexpf((float)bits() - 0x1p31f, -31 - (int)(bits() % 4));
		if (hu_tc_quantise(s, s.in, x, ROWS, LONG, element, scales, &whole) != HU_OK ||
			hu_block_find(names[i], &b) != HU_OK)
			bail_out("%s", hu_reason());
		double most = hu_block_whole(&b, x, ROWS * LONG);
		size_t groups = (LONG + b.size - 1) / b.size;
		for (size_t r = 0; r < ROWS; r++)
			for (size_t at = 0; at < LONG;
				at += b.size) { /* each row by itself, with the whole array's scale */
				size_t n = LONG - at < b.size ? LONG - at : b.size;
				uint8_t code[32];
				hu_block_scale q = hu_block_scale_of(&b, x + r * LONG + at, n, most);
				hu_block_encode(&b, q, code, x + r * LONG + at, n, 0);
				hu_block_decode(&b, q, cast + r * LONG + at, code, n);
			}
		for (size_t j = 0; j < ROWS * LONG; j++) {
			double v = element[j] * scales[j / LONG * groups + j % LONG / b.size] * whole;
			bad += (float)v != cast[j];
			none += v != 0;
		}
		ok(!bad && none > ROWS * LONG / 2 && (whole == 1) == (i < 6),
			"%s: elements times scales are the cast's values (%d differ, %d not 0)", names[i], bad, none);
	}
}

int
main(void)
{
	static const char *const archs[] = { "blackwell", "rtxblackwell" },
				 *const scaled[] = { "mxfp8e4m3", "mxfp8e5m2", "mxfp6e3m2", "mxfp6e2m3",
					 "mxfp8e4m3,in2=mxfp4", "mxfp8e5m2,in2=mxfp6e2m3" },
				 *const groups[] = { "mxfp4", "mxfp4x16", "nvfp4" };
	char text[96];

	test_names();
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 6; j++) {
			snprintf(text, sizeof text, "tc:%s,in=%s", archs[i], scaled[j]);
			row(text, 0);
		}
		for (int j = 0; j < 3; j++) {
			snprintf(text, sizeof text, "tc:%s,in=%s", archs[i], groups[j]);
			row(text, 1);
		}
	}
	test_unit();
	test_quantise();
	test_special();
	test_lost();
	mpfr_free_cache();
	return done_testing();
}
