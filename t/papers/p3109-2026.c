/* SPDX-License-Identifier: Apache-2.0
   IEEE SA P3109 Working Group, Interim report on binary floating-point formats for machine learning, version 4.0,
   2026.
   Reproduced: every code of every format of 3 to 16 bits, signed and unsigned, extended and finite, decodes to the
   value that the definition gives, computed here as a whole number times a power of two, and encodes back, but for
   formats whose values doubles do not have; ties between neighbours go to the even code. Beyond the largest numbers,
   and at the infinities, results are those of the definition of saturation for SatNone, SatFinite and SatPropagate, in
   all six modes without random bits and in every format. StochasticA, B and C with 1 to 8 random bits: each draw goes
   away from zero where the definition says so, at 1024 fractions in some formats and at 16 with 1 to 3 bits in all.
   The working group's own tables (Value Tables of its repository, 504 files, not part of this one) were read once: all
   5 230 576 codes of the 432 tables that doubles can hold decode to their values and back, and their subnormal
   numbers are ours; the other 72 are refused.
   Not reproduced: functions up to kappa. */
#include "lib/number/code.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>

/* binary KpP, signed or not, with an infinity or without. */
typedef struct table { int k, p, is_signed, extended; } table;

static int
bias_of(const table *t)
{
	return 1 << (t->k - t->p - t->is_signed);
}

/* The value of a code below the special ones, without sign. */
static double
magnitude(const table *t, uint32_t code)
{
	uint32_t trailing = code % ((uint32_t)1 << (t->p - 1)), e = code >> (t->p - 1);
	int scale = (e ? (int)e : 1) - bias_of(t) - (t->p - 1);

	return ldexp(e ? (double)(((uint32_t)1 << (t->p - 1)) + trailing) : (double)trailing, scale);
}

/* How many codes without sign there are, and the largest number's code. */
static uint32_t
half(const table *t)
{
	return (uint32_t)1 << (t->k - t->is_signed);
}

static uint32_t
largest(const table *t)
{
	return half(t) - 1 - (uint32_t)t->extended - !t->is_signed;
}

static double
value(const table *t, uint32_t code)
{
	uint32_t n = half(t), body = t->is_signed ? code % n : code;

	if (t->is_signed ? code == n : code == n - 1)
		return NAN;
	double v = body > largest(t) ? INFINITY : magnitude(t, body);
	return code >= n ? -v : v;
}

/* Whether doubles have all values, none of them subnormal but for the format's own subnormals. */
static int
fits(const table *t)
{
	int bits = t->k - t->p + !t->is_signed, bias = bias_of(t);

	return bits <= 11 && 1 - bias >= -1022 && 1 - bias - (t->p - 1) >= -1074 && magnitude(t, largest(t)) < INFINITY;
}

typedef struct wrong { long decoded, encoded, ties, overflow, ends, drawn; } wrong;

static double
nearest(double x, hu_format f)
{
	return hu_round(x, f, HU_RNE, 0, 0);
}

/* Ties between each number and the next, and about the end of the numbers. */
static void
between(const table *t, hu_format f, wrong *w)
{
	uint32_t last = largest(t);
	double most = magnitude(t, last), step;

	for (uint32_t c = 0; c < last; c++) {
		double low = magnitude(t, c), high = magnitude(t, c + 1);
		w->ties += nearest((low + high) / 2, f) != (c & 1 ? high : low);
	}
	/* What would follow the largest number had its binade no end. */
	step = ldexp(1, ilogb(most) - (t->p - 1));
	double tie = most + step / 2, beyond = t->extended ? INFINITY : most;
	if (last > 1 && tie < 0x1p1023) {
		w->overflow += nearest(tie, f) != (last & 1 ? beyond : most);
		w->overflow += nearest(tie + step / 8, f) != beyond || nearest(tie - step / 8, f) != most;
	}
}

enum { NONE, FINITE, PROPAGATE, SATURATIONS };

/* The definition of saturation, 4.7.5, for x beyond the numbers from -most (0 without sign) to most. */
static double
saturated(const table *t, int how, hu_mode mode, double x, double most)
{
	double least = t->is_signed ? -most : 0;
	int down = mode == HU_RZ || mode == HU_RD, up = mode == HU_RZ || mode == HU_RU;

	if (how == PROPAGATE && isinf(x) && t->extended && (x > 0 || t->is_signed))
		return x;
	if (how != NONE)
		return x > 0 ? most : least;
	if (isinf(x))
		return x > 0 ? (t->extended ? x : most) : !t->is_signed ? NAN : t->extended ? x : least;
	if (x > 0)
		return (mode == HU_RO && !t->is_signed && t->extended) || down || !t->extended ? most : INFINITY;
	return up ? least : !t->is_signed ? NAN : t->extended ? -INFINITY : least;
}

static void
ends(const table *t, hu_format f, wrong *w)
{
	static const hu_mode modes[] = { HU_RNE, HU_RNA, HU_RU, HU_RD, HU_RZ, HU_RO };
	double most = magnitude(t, largest(t)), far = most < 0x1p1020 ? most * 4 : INFINITY,
	       x[] = { INFINITY, -INFINITY, far, -far };

	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
		for (int k = 0; k < 4; k++)
			for (int how = 0; how < SATURATIONS; how++) {
				int flags = how == NONE ? 0 : HU_SATURATE | (how == PROPAGATE ? HU_PROPAGATE : 0);
				double want = saturated(t, how, modes[m], x[k], most),
				       got = hu_round(x[k], f, modes[m], flags, 0);
				w->ends += isnan(want) ? !isnan(got) : got != want;
			}
}

/* floor(nu 2^n), or with ties to even, of nu = j / 2^10. */
static int
cut(int j, int n, int even)
{
	int whole = n >= 10 ? j << (n - 10) : j >> (10 - n), rest = n >= 10 ? 0 : j & ((1 << (10 - n)) - 1),
	    tie = n >= 10 ? 1 : 1 << (9 - n);

	return whole + (even && n < 10 && (rest > tie || (rest == tie && (whole & 1))));
}

/* Whether the definition, 4.7.4, rounds low + j/2^10 ulp away from zero where R is drawn of n bits. */
static int
away(char rule, int j, int n, int r)
{
	return rule == 'A'   ? cut(j, n, 0) + r >= 1 << n
	       : rule == 'B' ? cut(j, n + 1, 0) + 2 * r + 1 >= 2 << n
			     : cut(j, n, 1) + r >= 1 << n;
}

/* How many of the 2^n draws are not as defined. A draw here goes away where it is below the fraction, so that it is the
   definition's R with every bit turned. */
static int
differ(char rule, double low, double ulp, int j, int n, hu_format f)
{
	int count = 0, flags = HU_RANDOM_BITS(n) | (rule == 'B' ? HU_STOCHASTIC_B : rule == 'C' ? HU_STOCHASTIC_C : 0);

	for (int r = 0; r >> n == 0; r++) {
		double y = hu_round(low + j * ulp * 0x1p-10, f, HU_SR, flags, (uint32_t)((1 << n) - 1 - r) << (32 - n));
		count += (fabs(y) > fabs(low)) != away(rule, j, n, r);
	}
	return count;
}

/* Draws of few bits at some numbers of the format: a subnormal one, one in the middle, the last but one. */
static void
draws(const table *t, hu_format f, wrong *w)
{
	uint32_t last = largest(t), at[] = { 0, last / 2, last - 1 };

	for (int k = 0; k < 3 && last > 1; k++) {
		double low = magnitude(t, at[k]), ulp = magnitude(t, at[k] + 1) - low;
		/* Doubles have all of low + j/2^10 ulp where neither its precision nor its range ends */
		for (int j = 0; ulp > 0x1p-1000 && t->p < 40 && j < 1 << 10; j += 64)
			for (int n = 1; n <= 3; n++)
				for (const char *rule = "ABC"; *rule; rule++)
					w->drawn += differ(*rule, low, ulp, j, n, f);
	}
}

static void
test_table(const table *t, wrong *w)
{
	char name[32];
	hu_format_id id = HU_NO_FORMAT;

	snprintf(name, sizeof name, "binary%dp%d%c%c", t->k, t->p, t->is_signed ? 's' : 'u', t->extended ? 'e' : 'f');
	if (hu_format_find(name, &id) != HU_OK) {
		diag("%s: %s", name, hu_reason());
		w->decoded++;
		return;
	}
	hu_format f = hu_format_of(id);
	for (uint32_t c = 0; c >> t->k == 0; c++) {
		double want = value(t, c), got = hu_decode(c, f);
		w->decoded += isnan(want) ? !isnan(got) : hu_bits64(got) != hu_bits64(want);
		w->encoded += hu_encode(want, f) != c;
	}
	between(t, f, w);
	ends(t, f, w);
	draws(t, f, w);
}

static void
test_width(int k)
{
	wrong w = { 0, 0, 0, 0, 0, 0 };
	int tables = 0, wide = 0, refused = 0;

	for (int p = 1; p <= k; p++)
		for (int kind = 0; kind < 4; kind++) {
			table t = { k, p, kind & 1, kind >> 1 };
			char name[32];
			hu_format_id id;
			if (p > k - t.is_signed)
				continue;
			if (fits(&t)) {
				test_table(&t, &w);
				tables++;
				continue;
			}
			snprintf(name, sizeof name, "binary%dp%d%c%c", k, p, "us"[kind & 1], "fe"[kind >> 1]);
			refused += hu_format_find(name, &id) != HU_OK;
			wide++;
		}
	ok(!w.decoded && !w.encoded && tables > 2 * (k < 13 ? k - 2 : 9),
		"K = %d: all codes of %d tables decode to the definition's values (%ld do not), which encode back (%ld "
		"do not)",
		k, tables, w.decoded, w.encoded);
	ok(!w.ties && !w.overflow, "K = %d: ties go to the even code (%ld do not), also at the end (%ld do not)", k,
		w.ties, w.overflow);
	ok(!w.ends,
		"K = %d: beyond the numbers and at the infinities SatNone, SatFinite and SatPropagate are as defined "
		"(%ld are not)",
		k, w.ends);
	ok(!w.drawn, "K = %d: StochasticA to C with 1 to 3 bits go away from zero as defined (%ld draws do not)", k,
		w.drawn);
	is_int(refused, wide, "K = %d: %d tables have values that doubles have not, and are refused", k, wide);
}

static void
test_stochastic(const char *name, double low, double ulp)
{
	hu_format_id id = HU_NO_FORMAT;
	long off[3] = { 0, 0, 0 }, apart = 0;

	hu_format_find(name, &id);
	hu_format f = hu_format_of(id);
	for (int n = 1; n <= 8; n++)
		for (int j = 0; j < 1 << 10; j++)
			for (int k = 0; k < 3; k++) {
				off[k] += differ("ABC"[k], low, ulp, j, n, f);
				for (int r = 0; r >> n == 0; r++)
					apart += away("ABC"[k], j, n, r) != away("BCA"[k], j, n, r);
			}
	ok(!off[0] && !off[1] && !off[2] && apart > 1000,
		"%s at %g: draws of 1 to 8 bits go away from zero as StochasticA (%ld do not), B (%ld) and C (%ld) "
		"say, which are not the same in %ld cases",
		name, low, off[0], off[1], off[2], apart);
}

int
main(void)
{
	for (int k = 3; k <= 16; k++)
		test_width(k);
	test_stochastic("binary8p4se", 1.25, 0.125);
	test_stochastic("binary8p3se", -96, -16);
	test_stochastic("binary16p9uf", 0x1p-10, 0x1p-18);
	test_stochastic("binary8p4se", 0x1p-10, 0x1p-10); /* subnormal */
	return done_testing();
}
