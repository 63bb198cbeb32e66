/* SPDX-License-Identifier: Apache-2.0
   Tensor cores: the probes by which papers tell architectures apart, with the values they
   give. The vectors of real devices are u-tc-vectors.c's. */
#include "lib/base/mem.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/model.h"
#include "t/sum/tc_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor core's sum of PAIRS of operands from C. */
static double
pairs(const char *text, const double (*ab)[2], size_t n, double c)
{
	double a[64], b[64];

	for (size_t k = 0; k < n; k++) {
		a[k] = ab[k][0];
		b[k] = ab[k][1];
	}
	return hu_model_tc(a, b, n, c, model(text), NULL);
}

/* The same of products, each of a power of two and the rest. */
static double
sum(const char *text, const double *p, size_t n, double c)
{
	double ab[64][2];

	for (size_t k = 0; k < n; k++) {
		int e = p[k] == 0 ? 0 : ilogb(p[k]) / 2;
		ab[k][0] = ldexp(1, e);
		ab[k][1] = p[k] / ab[k][0];
	}
	return pairs(text, (const double(*)[2])ab, n, c);
}

enum { V, T, H, GENERATIONS }; /* Volta; Turing, Ampere, Ada; Hopper, Blackwell */

static const struct {
	const char *name;
	int generation, l, f, zero;
} archs[] = {
	{ "volta", V, 4, 23, -19 },
	{ "turing", T, 8, 24, -20 },
	{ "ampere", T, 8, 24, -20 },
	{ "ada", T, 8, 24, -20 },
	{ "hopper", H, 16, 25, -21 },
	{ "blackwell", H, 16, 25, -21 },
};

#define ULP 0x1p-23 /* of [1, 2) in fp32 */

/* Products, accumulator, what a generation returns; want[g] = NAN: the probe is not for it. */
static const struct {
	const char *name;
	double c;
	int n;
	double p[12], want[GENERATIONS];
} probes[] = {
	{ "P1", -(1 - 0x1p-24), 1, { 1 }, { 0x1p-23, 0x1p-24, 0x1p-24 } },
	{ "P2", -(0x1p-3 + 0x1p-25), 1, { 1.25 }, { 1.125, 1.125, 1.125 - ULP } },
	{ "P3", 1, 4, { 0x1p-25, 0x1p-25, 0x1p-25, 0x1p-25 }, { 1, 1, 1 + ULP } },
	{ "P4", 1, 4, { 0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24 }, { 1, 1 + 2 * ULP, 1 + 2 * ULP } },
	{ "P5", 1 - 0x1p-24, 4, { 0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24 }, { 1 + ULP, 1 + ULP, 1 + ULP } },
	{ "P6", -1 + 0x1p-24, 2, { 1, -0x1p-24 }, { 0x1p-23, 0, 0 } },
	{ "P7", 0, 2, { 2, 1.5 * 0x1p-23 }, { 2, 2, 2 } },
	{ "P8", 0, 2, { -2, -1.5 * 0x1p-23 }, { -2, -2, -2 } },
	{ "P9", 1 + 3 * ULP, 4, { 1, 1, 1, 1 }, { 5, 5, 5 } },
	{ "P9 negative", -1 - 3 * ULP, 4, { -1, -1, -1, -1 }, { -5, -5, -5 } },
	{ "P10", 1.875, 4, { 1, 1.5, 1.75, 1.875 }, { 8, 8, 8 } },
	{ "P13", 1, 3, { 0x1p-24, 0x1p-25, 0x1p-25 }, { 1, 1, 1 + ULP } },
	{ "P14", 1 - 0x1p-24, 3, { 0x1p-23, 0x1p-25, 0x1p-25 }, { 1, 1 + ULP, 1 + ULP } },
	{ "P15", 1 - 0x1p-24, 4, { 0x1p-25, 0x1p-25, 0x1p-25, 1.5 * 0x1p-24 }, { 1, 1 + ULP, 1 + ULP } },
	{ "P15 from 1", 1, 4, { 0x1p-25, 0x1p-25, 0x1p-25, 1.5 * 0x1p-24 }, { 1, 1, 1 + ULP } },
	{ "P16", 0x1p25 - 2, 8, { 1, 1, 1, 1, 1, 1, 1, 1 }, { NAN, 0x1p25 + 4, 0x1p25 + 4 } },
	{ "P16 from 2^25", 0x1p25, 8, { 1, 1, 1, 1, 1, 1, 1, 1 }, { NAN, 0x1p25, 0x1p25 + 8 } },
	{ "P17", 1 - 0x1p-24, 12,
		{ 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26,
			0x1p-26 },
		{ NAN, NAN, 1 + ULP } },
	{ "P17 from 1", 1, 12,
		{ 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26, 0x1p-26,
			0x1p-26 },
		{ NAN, NAN, 1 } },
	{ "P24 min subnormal * 4", 0, 1, { 0x1p-22 }, { 0x1p-22, 0x1p-22, 0x1p-22 } },
	{ "P24 C = 2^-149", 0x1p-149, 1, { 0 }, { 0x1p-149, 0x1p-149, 0x1p-149 } },
};

static void
test_table(void)
{
	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		int bad = 0, run = 0;
		for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
			char text[64];
			double want = probes[i].want[archs[a].generation];
			snprintf(text, sizeof text, "tc:%s,in=fp16,out=fp32", archs[a].name);
			if (want != want)
				continue;
			double got = sum(text, probes[i].p, (size_t)probes[i].n, probes[i].c);
			if (got != want)
				diag("%s: %a, not %a", archs[a].name, got, want);
			bad += got != want;
			run++;
		}
		ok(!bad && run >= 2, "%s on %d architectures", probes[i].name, run);
	}
}

/* P11, P12, P18: which products meet in one block. */
static void
test_width(const char *text, int generation, int l)
{
	int p11 = 0, p12 = 0, p18 = 0, k = 2 * l;

	for (int j = 1; j < 16; j++) {
		double p[16] = { 0x1p-24 };
		p[j] = 0x1p-24;
		double want = generation == H || (generation == T && j < 8) ? 1 + ULP : 1;
		p11 += sum(text, p, 16, 1) != want;
	}
	for (int j = 1; j < k; j++) {
		double p[64] = { 1 };
		p[j] = 0x1p-23;
		p12 += sum(text, p, (size_t)k, 1 + ULP) != (j < l ? 2 + 2 * ULP : 2);
	}
	for (int i = -1; i < k; i++) /* -1: the accumulator */
		for (int j = i + 1; j < k; j++) {
			double p[64], c = i < 0 ? 0x1p14 : 0x1p-24;
			for (int m = 0; m < k; m++)
				p[m] = 0x1p-24;
			if (i >= 0)
				p[i] = 0x1p14;
			p[j] = -0x1p14;
			p18 += sum(text, p, (size_t)k, c) != (k - (j / l + 1) * l) * 0x1p-24;
		}
	ok(!p11 && !p12 && !p18, "%s: blocks of %d by P11, P12, P18 (%d, %d, %d wrong)", text, l, p11, p12, p18);
}

/* P19 to P22 with the exponents of U = 2^8 * 2^6, fp8's too. */
static void
test_depth(const char *text, int f, int keep)
{
	static const double x[] = { 0.25, 0.5, 0.75, 1.5 };
	const double u = 0x1p14, lsb = ldexp(u, -f), small = ldexp(1, 6 - f), ulp = ldexp(u, -keep);
	int p19 = 0, p20 = 0, p21 = 0, p22 = 0;

	for (int s = -1; s <= 1; s += 2)
		for (int i = 0; i < 4; i++) {
			double ab[3][2] = { { 0x1p8, 0x1p6 }, { -0x1p8, 0x1p6 }, { s * x[i] * 2, small * 0x1p7 } },
			       want = i == 3 ? s * lsb : 0;
			if (f < 20) /* the small factor must be one of fp8 */
				p19 += pairs(text, (const double(*)[2])ab, 3, 0) != want;
			p19 += pairs(text, (const double(*)[2])ab, 2, s * x[i] * lsb) != want;
			double cd[2][2] = { { 0x1p8, 0x1p6 }, { 0, 0 } },
			       got = pairs(text, (const double(*)[2])cd, 2, x[i] * ulp);
			p22 += got != u + (i == 3 ? ulp : 0);
		}
	for (int k = 5; k < 30; k++) {
		double ab[3][2] = { { 0x1p8, 0x1p6 }, { -0x1p8, 0x1p6 }, { 0x1p7, ldexp(0x1p7, -k) } };
		if (f < 20)
			ab[2][0] = 0x1p5, ab[2][1] = ldexp(0x1p9, -k);
		if (f >= 20 || k <= 14)
			p20 += (pairs(text, (const double(*)[2])ab, 3, 0) != 0) != (k <= f);
		p20 += (pairs(text, (const double(*)[2])ab, 2, ldexp(u, -k)) != 0) != (k <= f);
		double one[1][2] = { { 0x1p8, 0x1p6 } };
		p22 += (pairs(text, (const double(*)[2])one, 1, ldexp(u, -k)) != u) != (k <= keep);
	}
	for (int wide = 0; wide < 2; wide++) {
		double b = wide ? 1.5 * 0x1p6 : 0x1p6, ab[2][2] = { { 1.5 * 0x1p7, 2 * b }, { -1.5 * 0x1p7, 2 * b } };
		p21 += pairs(text, (const double(*)[2])ab, 2, lsb) != lsb;
	}
	ok(!p19 && !p20 && !p21 && !p22, "%s: F = %d and %d bits out by P19 to P22 (%d, %d, %d, %d wrong)", text, f,
		keep, p19, p20, p21, p22);
}

static void
test_half(const char *name, int f, int zero)
{
	char text[64];
	int last = 0, wrong = 0;
	static const double fraction[][2] = { { 0.5, 0 }, { 0.75, 1 }, { 1.5, 2 }, { 1, 1 } };

	snprintf(text, sizeof text, "tc:%s,in=fp16,out=fp16", name);
	for (int k = 26; k < 49; k++) {
		double p[2] = { 0x1p-25, ldexp(1, -k) };
		if (sum(text, p, 2, 0) == 0x1p-24)
			last = k;
	}
	for (size_t i = 0; i < 4; i++) {
		double p[2] = { 1, fraction[i][0] * 0x1p-10 };
		wrong += sum(text, p, 2, 0) != 1 + fraction[i][1] * 0x1p-10;
	}
	double tie[2] = { 1, 0x1p-11 }, over[3] = { 1, 0x1p-11 + 0x1p-14, 0x1p-14 }, low[1] = { 0x1p-15 };
	wrong += sum(text, tie, 2, 0) != 1;
	wrong += sum(text, over, 3, 0) != 1 + 0x1p-10;
	wrong += sum(text, low, 1, 0) != 0x1p-15;
	ok(last == f - zero && !wrong, "%s: P23 ends at k = %d, P22, P24 and P26 round to nearest (%d wrong)", text,
		last, wrong);
}

/* P23 with fp32 output: bf16 2^-149 - 2^-k is 0 while the second term survives. */
static void
test_zero(const char *text, int want)
{
	int last = 0;

	for (int k = 150; k < 180; k++) {
		double ab[2][2] = { { 0x1p-74, 0x1p-75 }, { -ldexp(1, -k / 2), ldexp(1, -(k - k / 2)) } };
		if (pairs(text, (const double(*)[2])ab, 2, 0) == 0)
			last = k;
	}
	is_int(last, want, "%s: P23, the last term that is not chopped is 2^-%d", text, want);
}

static double
one(const char *text, double a, double b, double a1, double b1, double c)
{
	double ab[2][2] = { { a, b }, { a1, b1 } };

	return pairs(text, (const double(*)[2])ab, 2, c);
}

static void
test_special(const char *name)
{
	char t[64], bf[64], half[64];
	double inf = hu_inf(0), nan = hu_nan(), big = 0x1.fep127;
	const uint32_t n = 0x7fffffff;
	int bad = 0;

	snprintf(t, sizeof t, "tc:%s,in=fp16,out=fp32", name);
	snprintf(half, sizeof half, "tc:%s,in=fp16,out=fp16", name);
	bad += word(one(t, 65504, 65504, -65504, 65504, 0)) != 0;
	bad += word(one(t, inf, 0, 1, 1, 0)) != n;
	bad += word(one(t, 0, inf, 1, 1, 0)) != n;
	bad += word(one(t, nan, 1, 1, 1, 0)) != n;
	bad += word(one(t, 1, -nan, 1, 1, 0)) != n;
	bad += word(one(t, 1, 1, 1, 1, nan)) != n;
	bad += word(one(t, nan, inf, 1, 1, inf)) != n;
	bad += word(one(t, inf, 1, -inf, 1, 0)) != n;
	bad += word(one(t, inf, 1, 1, 1, -inf)) != n;
	bad += word(one(t, inf, -1, 1, 1, 5)) != 0xff800000;
	bad += word(one(t, 1, 1, 1, 1, -inf)) != 0xff800000;
	bad += word(one(t, -0.0, 0, -0.0, 0, -0.0)) != 0;
	bad += word(one(t, 1, 1, -1, 1, 0)) != 0;
	bad += word(one(half, 256, 256, 1, 0, 0)) != 0x7f800000;
	bad += word(one(half, -65504, 1, -16, 1, 0)) != 0xff800000; /* a tie beyond the largest */
	bad += word(one(half, -65504, 1, -15.9921875, 1, 0)) != 0xc77fe000;
	if (strcmp(name, "volta") && strcmp(name, "turing")) {
		snprintf(bf, sizeof bf, "tc:%s,in=bf16,out=fp32", name);
		bad += word(one(bf, big, big, -big, big, 0)) != 0;
		bad += word(one(bf, big, big, 0, 0, 0)) != 0x7f800000; /* toward zero does not saturate */
		bad += word(one(bf, 0x1p-133, 0x1p7, 0, 0, 0)) != 0x00800000;
		snprintf(bf, sizeof bf, "tc:%s,in=tf32,out=fp32", name);
		bad += word(one(bf, 0x1p-136, 0x1p10, 0, 0, 0)) != 0x00800000;
		bad += one(bf, 1 - 0x1p-24, 1 - 0x1p-24, 0, 0, 0) != 1 - 0x1p-10 + 0x1p-22; /* P25 */
	}
	is_int(bad, 0, "%s: P24, P25, P28", name);
}

/* P27, and fp8's own. */
static void
test_others(void)
{
	hu_sum s = model("tc:ampere,in=fp64");
	double one_each[3] = { 1, 1, 1 };
	static const double rows[][4] = { { 2, 0x1p-52, 0, 2 }, { 2, 0x1.8p-52, 0, 2 + 0x1p-51 },
		{ 2 + 0x1p-51, 0x1p-52, 0, 2 + 0x1p-50 }, { 1 - 0x1p-53, 0x1p-53, 0x1p-53, 1 } };
	int bad = 0;

	for (int i = 0; i < 4; i++)
		bad += hu_model_run(rows[i], one_each, 3, s, NULL, NULL) != rows[i][3];
	ok(!bad && s.id == HU_SUM_FMA && s.acc == HU_FP64, "P27: fp64 is a chain of fused operations");
	bad = word(one("tc:hopper,in=e4m3,out=fp32,path=wgmma", hu_nan(), 1, 1, 1, 0)) != 0x7fffffff;
	bad += word(one("tc:hopper,in=e4m3,out=fp32,path=mma", hu_nan(), 1, 1, 1, 0)) != 0x7fffffff;
	bad += word(one("tc:ada,in=e5m2,out=fp32", hu_inf(0), 1, 1, 1, 0)) != 0x7f800000;
	bad += word(one("tc:hopper,in=e4m3,out=fp32,path=wgmma", 0, 0, 0, 0, 1 + 0x1.8p-13)) != word(1 + 0x1p-13);
	bad += word(one("tc:hopper,in=e4m3,out=fp32,path=mma", 0, 0, 0, 0, 1 + 0x1.8p-13)) != word(1 + 0x1.8p-13);
	bad += word(one("tc:hopper,in=e4m3,in2=e5m2,out=fp32,path=wgmma", 0x1p-9, 0x1p-16, 0, 0, 0)) != word(0x1p-25);
	is_int(bad, 0, "fp8: NaN, infinity, C chopped to 13 bits by wgmma alone, both formats in one product");
	bad = (hu_tc_tf32(0x7f800001) != 0x7f800000) + (hu_tc_tf32(0xff802000) != 0xff802000);
	is_int(bad, 0, "P28: a NaN whose payload tf32 cannot hold becomes an infinity");
}

int
main(void)
{
	test_table();
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
		char text[64];
		snprintf(text, sizeof text, "tc:%s,in=fp16,out=fp32", archs[i].name);
		test_width(text, archs[i].generation, archs[i].l);
		test_depth(text, archs[i].f, 23);
		test_half(archs[i].name, archs[i].f, archs[i].zero);
		test_special(archs[i].name);
	}
	test_width("tc:rtxblackwell,in=fp16,out=fp32", H, 16);
	test_depth("tc:ada,in=e4m3,out=fp32", 13, 13);
	test_depth("tc:hopper,in=e4m3,out=fp32,path=wgmma", 13, 13);
	test_zero("tc:ampere,in=bf16,out=fp32", 156);
	test_zero("tc:hopper,in=bf16,out=fp32", 158);
	test_zero("tc:blackwell,in=bf16,out=fp32", 158);
	test_others();
	return done_testing();
}
