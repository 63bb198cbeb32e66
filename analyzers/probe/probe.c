/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/probe/probe.h"

#include "analyzers/probe/probe_features.h"
#include "analyzers/probe/probe_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The generations of the tables: Volta; Turing, Ampere and Ada; Hopper and later. */
static int
generation(hu_tc_arch arch)
{
	return arch == HU_TC_VOLTA ? 0 : arch <= HU_TC_ADA ? 1 : 2;
}

/* Block lengths as the papers found them, independent of tc.def. 0: none tabled. */
static int
tabled_length(hu_sum s, hu_tc t)
{
	static const int wide[] = { 4, 8, 16 }, tf32[] = { 0, 4, 8 };
	int g = generation(s.arch);

	if (t.kind != HU_TC_BLOCK)
		return 0;
	if (s.in == HU_FP16 || s.in == HU_BF16)
		return wide[g];
	if (s.in == HU_TF32)
		return tf32[g];
	return s.arch == HU_TC_ADA ? 16 : 32;
}

/* Fraction bits of the alignment and of the output. */
static int
tabled_depth(hu_sum s)
{
	static const int extra[] = { 23, 24, 25 };

	return hu_format_of(s.in).bits == 8 && s.arch <= HU_TC_HOPPER ? 13 : extra[generation(s.arch)];
}

static int
tabled_kept(hu_sum s)
{
	return s.out == HU_FP16 ? 10 : hu_format_of(s.in).bits == 8 && s.arch <= HU_TC_HOPPER ? 13 : 23;
}

/* Returns the sum of n pairs of operands from c; NaN where an operand is no value of its format or c none of the
   output's. */
static double
pairs(const hu_probe_unit *u, const double (*ab)[2], size_t n, double c)
{
	double a[64], b[64];

	for (size_t k = 0; k < n; k++) {
		a[k] = ab[k][0];
		b[k] = ab[k][1];
		if (hu_round(a[k], hu_format_of(u->s.in), HU_RNE, 0, 0) != a[k] ||
			hu_round(b[k], hu_format_of(u->s.in2), HU_RNE, 0, 0) != b[k])
			return NAN;
	}
	return hu_round(c, hu_format_of(u->s.out), HU_RNE, 0, 0) == c ? u->dot(u, a, b, n, c) : NAN;
}

/* Returns Σ of n products from c, each p[k] split into a power of two times the rest; NaN where an operand is not a
   value of u's formats. */
static double
sum_of(const hu_probe_unit *u, const double *p, size_t n, double c)
{
	double ab[64][2];

	for (size_t k = 0; k < n; k++) {
		int e = p[k] == 0 ? 0 : (int)floor(ilogb(p[k]) / 2.0);
		ab[k][0] = ldexp(1, e);
		ab[k][1] = p[k] / ab[k][0];
	}
	return pairs(u, (const double (*)[2])ab, n, c);
}

static uint32_t word(double x) { return hu_bits32((float)x); }

static void
single_sums(hu_probe_list *l, const hu_probe_unit *u, int length)
{
	static const struct { const char *name, *what; double c; int n; double p[12], want[3]; } rows[] = {
#define NONE NAN
#define LIST(...) { __VA_ARGS__ }
#define PROBE(name, what, c, n, p, volta, ampere, hopper) { name, what, c, n, p, { volta, ampere, hopper } },
#include "analyzers/probe/probe_sums.def"
#undef PROBE
#undef LIST
#undef NONE
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].n <= length)
			hu_probe_number(l, rows[i].name, rows[i].what,
				sum_of(u, rows[i].p, (size_t)rows[i].n, rows[i].c),
				rows[i].want[generation(u->s.arch)]);
}

/* P11, P12, P18: how many products are added in one block. */
static void
widths(hu_probe_list *l, const hu_probe_unit *u, int length, int f, int keep)
{
	const double ulp = ldexp(1, -keep), tiny = u->s.in == HU_E4M3 ? 0x1p-18 : 0x1p-24,
		     big = u->s.in == HU_E4M3 ? 0x1p16 : 0x1p14; /* all tiny products together are cut off beside big */
	int k = 2 * length, reach = 1, right = 0, all = 0;
	double p[64] = { 0 };

	if (f > keep && f - keep < 3) {
		for (; reach < k; reach++) {
			memset(p, 0, sizeof p);
			p[0] = p[reach] = ulp / 2;
			if (sum_of(u, p, (size_t)k, 1) != 1 + ulp)
				break;
		}
		if (!isnan(sum_of(u, p, (size_t)k, 1)))
			hu_probe_count(l, "P11", "products of half an ulp that add up beside 1, from the first on",
				reach,
				length);
	}
	for (reach = 1; reach < k; reach++) {
		memset(p, 0, sizeof p);
		p[0] = 1;
		p[reach] = ulp;
		if (sum_of(u, p, (size_t)k, 1 + ulp) != 2 + 2 * ulp)
			break;
	}
	if (!isnan(sum_of(u, p, (size_t)k, 1 + ulp)))
		hu_probe_count(l, "P12", "C = 1 + ulp, p = 1, p_k = ulp: the block ends at k", reach, length);
	if (u->s.out != HU_FP32)
		return;
	for (int i = -1; i < k; i++) /* -1: the accumulator */
		for (int j = i + 1; j < k; j++) {
			for (int m = 0; m < k; m++)
				p[m] = tiny;
			if (i >= 0)
				p[i] = big;
			p[j] = -big;
			double got = sum_of(u, p, (size_t)k, i < 0 ? big : tiny);
			if (isnan(got))
				return;
			/* products added with the pair are cut off, those of later blocks survive */
			right += got == (k - (j / length + 1) * length) * tiny;
			all++;
		}
	hu_probe_count(l, "P18", "pairs U, -U that leave just the later blocks' products", right, all);
}

/* P19 to P22 with u = 2^8 * 2^6. */
static void
depths(hu_probe_list *l, const hu_probe_unit *u, int f, int keep)
{
	static const double x[] = { 0.25, 0.5, 0.75, 1.5 };
	const double big = 0x1p14, lsb = ldexp(big, -f), ulp = ldexp(big, -keep);
	int right = 0, all = 0, deep_c = 0, deep_p = 0, kept = 0, round = 0;

	for (int i = 0; i < 8; i++) {
		double sign = i < 4 ? 1 : -1, cancel[2][2] = { { 0x1p8, 0x1p6 }, { -0x1p8, 0x1p6 } };
		double got = pairs(u, (const double(*)[2])cancel, 2, sign * x[i % 4] * lsb),
		       one = pairs(u, (const double(*)[2])cancel, 1, x[i % 4] * ulp);
		right += got == (i % 4 == 3 ? sign * lsb : 0);
		round += i < 4 && one == big + (i % 4 == 3 ? ulp : 0);
		all++;
	}
	hu_probe_count(l, "P19", "U - U + C of 1/4, 1/2, 3/4 and 3/2 of the last bit, both signs: chopped", right, all);
	for (int k = 1; k < 40; k++) {
		double cancel[3][2] = { { 0x1p8, 0x1p6 }, { -0x1p8, 0x1p6 },
			{ ldexp(1, (14 - k) / 2), ldexp(1, 14 - k - (14 - k) / 2) } };
		if (deep_c == k - 1 && pairs(u, (const double (*)[2])cancel, 2, ldexp(big, -k)) != 0)
			deep_c = k;
		double got = pairs(u, (const double (*)[2])cancel, 3, 0);
		if (deep_p == k - 1 && got != 0 && !isnan(got))
			deep_p = k;
		if (kept == k - 1 && pairs(u, (const double (*)[2])cancel, 1, ldexp(big, -k)) != big)
			kept = k;
	}
	hu_probe_count(l, "P20", "U - U + C, the last bit of C that survives", deep_c, f);
	hu_probe_count(l, "P20 product", "the same of a product", deep_p, f);
	double wide[2][2] = { { 1.5 * 0x1p7, 1.5 * 0x1p7 }, { -1.5 * 0x1p7, 1.5 * 0x1p7 } };
	hu_probe_number(l, "P21", "2.25 U - 2.25 U + the last bit: products are not renormalised",
		pairs(u, (const double(*)[2])wide, 2, lsb), lsb);
	hu_probe_count(l, "P22", "bits of U + eps in the output", kept, keep);
	hu_probe_count(l, "P22 rounding", "U + 1/4, 1/2, 3/4, 3/2 ulp toward zero", round, 4);
}

/* P22, P23, P24, P26 with fp16 output. */
static void
half(hu_probe_list *l, const hu_probe_unit *u)
{
	static const int last_of[] = { 42, 44, 46 };
	static const double x[] = { 0.5, 0.75, 1, 1.5 }, want[] = { 0, 1, 1, 2 };
	int last = 0, right = 0;

	if (u->s.in != HU_FP16)
		return;
	for (int k = 26; k < 49; k++) {
		double p[2] = { 0x1p-25, ldexp(1, -k) };
		last = sum_of(u, p, 2, 0) == 0x1p-24 ? k : last;
	}
	for (int i = 0; i < 4; i++) {
		double p[2] = { 1, x[i] * 0x1p-10 };
		right += sum_of(u, p, 2, 0) == 1 + want[i] * 0x1p-10;
	}
	hu_probe_count(l, "P22", "1 + 1/2, 3/4, 1, 3/2 ulp to nearest even", right, 4);
	hu_probe_count(l, "P23", "p = 2^-25, 2^-k: the last k that rounds up", last, last_of[generation(u->s.arch)]);
	double low[1] = { 0x1p-15 }, over[3] = { 1, 0x1p-11 + 0x1p-14, 0x1p-14 }, both[2] = { 1, 0x1p-11 };
	hu_probe_number(l, "P24", "2^-14 * 0.5", sum_of(u, low, 1, 0), 0x1p-15);
	hu_probe_number(l, "P26", "1 + 2^-11", sum_of(u, both, 2, 0), 1);
	hu_probe_number(l, "P26 inner", "1 + (2^-11 + 2^-14) + 2^-14", sum_of(u, over, 3, 0), 1 + 0x1p-10);
}

/* P23 to P25 with fp32 output: the exponent of a zero term, subnormals, tf32's chop. */
static void
small(hu_probe_list *l, const hu_probe_unit *u)
{
	int last = 0, g = generation(u->s.arch);

	if (u->s.in == HU_BF16) {
		for (int k = 150; k < 180; k++) {
			double ab[2][2] = { { 0x1p-74, 0x1p-75 }, { -ldexp(1, -k / 2), ldexp(1, -(k - k / 2)) } };
			last = pairs(u, (const double (*)[2])ab, 2, 0) == 0 ? k : last;
		}
		hu_probe_count(l, "P23", "2^-149 - 2^-k: the last k that is not chopped", last, g == 2 ? 158 : 156);
		double ab[1][2] = { { 0x1p-133, 0x1p7 } };
		hu_probe_number(l, "P24", "2^-133 * 2^7", pairs(u, (const double (*)[2])ab, 1, 0), 0x1p-126);
	}
	if (u->s.in == HU_FP16) {
		double ab[1][2] = { { 0x1p-24, 4 } };
		hu_probe_number(l, "P24", "fp16's smallest number * 4", pairs(u, (const double (*)[2])ab, 1, 0),
			0x1p-22);
	}
	if (u->s.in == HU_TF32) {
		double ab[1][2] = { { 0x1p-136, 0x1p10 } }, raw = 1 - 0x1p-24;
		hu_probe_number(l, "P24", "2^-136 * 2^10", pairs(u, (const double (*)[2])ab, 1, 0), 0x1p-126);
		hu_probe_number(l, "P25", "(1 - 2^-24)^2 of words of fp32: chopped", u->dot(u, &raw, &raw, 1, 0),
			1 - 0x1p-10 + 0x1p-22);
	}
	double zero[1] = { 0 };
	if (tabled_kept(u->s) == 23)
		hu_probe_number(l, "P24 C", "C = 2^-149", sum_of(u, zero, 1, 0x1p-149), 0x1p-149);
}

static double
two(const hu_probe_unit *u, double a, double b, double a1, double b1, double c)
{
	double x[2] = { a, a1 }, y[2] = { b, b1 };

	return u->dot(u, x, y, 2, c);
}

/* P28 to P31. An H200 has answered what was open; its answers stand for no other generation. */
static void
specials(hu_probe_list *l, const hu_probe_unit *u, hu_tc t)
{
	const double inf = hu_inf(0), nan = hu_nan(), top = hu_format_of(u->s.in).max;
	const char *n = "0x7fffffff"; /* for fp16 the upper half, widened */
	int asked = u->s.arch == HU_TC_HOPPER;

	if (hu_has_nan(hu_format_of(u->s.in)))
		hu_probe_code(l, "P28 a", "a = NaN", word(two(u, nan, 1, 1, 1, 0)), n);
	if (hu_has_nan(hu_format_of(u->s.in2)))
		hu_probe_code(l, "P28 b", "b = NaN", word(two(u, 1, -nan, 1, 1, 0)), n);
	hu_probe_code(l, "P28 C", "C = NaN", word(two(u, 1, 1, 1, 1, nan)), n);
	if (hu_has_inf(hu_format_of(u->s.in))) {
		hu_probe_code(l, "P28 Inf*0", "Inf * 0", word(two(u, inf, 0, 1, 1, 0)), n);
		hu_probe_code(l, "P28 Inf-Inf", "Inf - Inf", word(two(u, inf, 1, -inf, 1, 0)), n);
		hu_probe_code(l, "P28 Inf", "-Inf and finite terms", word(two(u, -inf, 1, 1, 1, 5)), "0xff800000");
	}
	hu_probe_code(l, "P28 cancel", "max * max - max * max", word(two(u, top, top, -top, top, 0)), "0x00000000");
	hu_probe_code(l, "P28 zero", "-0 * 0 + -0", word(two(u, -0.0, 0, 0, 0, -0.0)), "0x00000000");
	if (u->s.in == HU_TF32)
		hu_probe_code(l, "P28 payload", "the word 0x7f800001 times 1", word(u->payload(u)),
			asked ? "0x7f800000" : NULL);
	if (u->s.out == HU_FP32 && u->s.in == HU_BF16)
		hu_probe_code(l, "P29", "-2^-75 * 2^-75", word(two(u, -0x1p-75, 0x1p-75, 0, 0, 0)),
			asked ? "0x00000000" : NULL);
	if (u->s.out == HU_FP16 && u->s.in == HU_FP16)
		hu_probe_code(l, "P29", "-2^-13 * 2^-13", word(two(u, -0x1p-13, 0x1p-13, 0, 0, 0)),
			asked ? "0x00000000" : NULL);
	if (t.kind == HU_TC_BLOCK && tabled_kept(u->s) == 13)
		hu_probe_number(l, "P30", "a = b = 0, C = 1 + 3/2 2^-13: chopped to 13 bits",
			two(u, 0, 0, 0, 0, 1 + 0x1.8p-13),
			1 + 0x1p-13);
	if (t.kind == HU_TC_HALVES) {
		hu_probe_code(l, "P31 Inf", "C = -Inf beside 1", word(two(u, 1, 1, 0, 0, -inf)),
			asked ? "0xff800000" : NULL);
		hu_probe_code(l, "P31 zero", "-0 * 0, C = -0", word(two(u, -0.0, 0, 0, 0, -0.0)),
			asked ? "0x00000000" : NULL);
	}
}

/* P32: the same operands in other places, and repeated. */
static void
repeated(hu_probe_list *l, const hu_probe_unit *u, int length)
{
	double a[32], b[32], first = 0;
	int same = 0, n = length < 32 ? length : 32;

	for (int i = 0; i < 32; i++) {
		for (int k = 0; k < n; k++) { /* a block's products rotated by i places */
			int m = (k + i) % n;
			a[k] = hu_round((m % 5 - 2) * (1 + m * 0.25), hu_format_of(u->s.in), HU_RZ, HU_SATURATE, 0);
			b[k] = hu_round(
				ldexp(1 + m % 3 * 0.5, -(m % 4)), hu_format_of(u->s.in2), HU_RZ, HU_SATURATE, 0);
		}
		double got = u->dot(u, a, b, (size_t)n, 1);
		first = i ? first : got;
		same += hu_bits64(got) == hu_bits64(first);
	}
	hu_probe_count(l, "P32", "a block's products in 32 orders give one result", same, 32);
}

/* P11, P20 and P22 with operands below 8 bits, as far as their few values allow. The values are from one source (arXiv
   2511.10909); for 6 bits there is none. */
static void
narrow(hu_probe_list *l, const hu_probe_unit *u, hu_tc t)
{
	int decided = (u->s.out == HU_FP16 ? t.status16 : t.status) != HU_TC_U, groups = t.kind == HU_TC_GROUPS;

	hu_probe_found(l, "P11",
		u->s.out == HU_FP16 ? "two products of 3/8 ulp of C that move it, from the first on"
				    : "two products of half an ulp of C that move it, from the first on",
		hu_probe_narrow_length(u->s),
		!decided    ? -1
		: groups ? 64
			 : 32);
	hu_probe_found(l, "P20", "1 - 1 + C, the last bit of C that survives", hu_probe_narrow_depth(u->s),
		!decided    ? -1
		: groups ? 35
			 : 25);
	hu_probe_found(l, "P22", "bits of 1 + eps in the output", hu_probe_narrow_kept(u->s),
		u->s.out == HU_FP16 ? 10 : 23);
}

static void
chain(hu_probe_list *l, const hu_probe_unit *u)
{
	static const double rows[][3] = { { 2, 0x1p-52, 0 }, { 2, 0x1.8p-52, 0 }, { 2 + 0x1p-51, 0x1p-52, 0 },
		{ 1 - 0x1p-53, 0x1p-53, 0x1p-53 } },
			    want[] = { 2, 2 + 0x1p-51, 2 + 0x1p-50, 1 }, ones[3] = { 1, 1, 1 };
	static const char *const what[] = { "2 + 2^-52", "2 + (2^-52 + 2^-53)", "(2 + 2^-51) + 2^-52",
		"1 - 2^-53 and two 2^-53" };

	for (int i = 0; i < 4; i++)
		hu_probe_number(l, "P27", what[i], hu_model_run(rows[i], ones, 3, u->s, NULL, NULL), want[i]);
}

size_t
hu_probe_table(const hu_probe_unit *u, hu_tc t, hu_probe *out)
{
	hu_probe_list l = { out, 0 };
	int length = tabled_length(u->s, t), f = tabled_depth(u->s), keep = tabled_kept(u->s);

	if (u->most && length > u->most)
		length = u->most;
	if (t.kind == HU_TC_CHAIN) {
		chain(&l, u);
		return l.n;
	}
	if (hu_probe_is_narrow(u->s) && !u->of) { /* no kernel has such an instruction */
		narrow(&l, u, t);
	} else if (length) {
		if (u->s.out == HU_FP32 && keep == 23)
			single_sums(&l, u, length);
		widths(&l, u, length, f, keep);
		if (u->s.out == HU_FP32) {
			depths(&l, u, f, keep);
			small(&l, u);
		} else {
			half(&l, u);
		}
		repeated(&l, u, length);
	}
	specials(&l, u, t);
	return l.n;
}
