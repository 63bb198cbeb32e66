/* SPDX-License-Identifier: Apache-2.0
   Rounding against MPFR (t/oracle/oracle.h): value, ternary sign and flags, in every mode and under
   every flag. Inputs: every value of a format, every midpoint, and one fp32 ulp to either side,
   both signs; doubles beside ties; the range's ends. t/number/x-number-round.c takes the wide formats' inside. */
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/oracle/oracle.h"
#include "t/oracle/some-formats.h"
#include "t/tool/tap.h"

#include <float.h>
#include <math.h>

static const int flag_sets[] = { 0, HU_SATURATE, HU_FTZ, HU_DAZ, HU_SATURATE | HU_FTZ | HU_DAZ };

enum { FLAG_SETS = sizeof flag_sets / sizeof *flag_sets };

typedef struct tally { long points, wrong; double at; hu_mode mode; int flags; } tally;

static void
check(tally *t, double x, hu_format f, int sets)
{
	oracle o;
	uint32_t rand = (uint32_t)(hu_bits64(x) >> 32) * 2654435761u;

	oracle_look_d(&o, x, f);
	for (int m = 0; m < HU_MODES; m++)
		for (int s = 0; s < sets; s++) {
			int flags =
				flag_sets[s] | (m == HU_SR && (rand & 1) ? HU_RANDOM_BITS(1 + (rand >> 1) % 31) : 0);
			hu_rounded got = hu_round_full(x, f, (hu_mode)m, flags, rand);
			t->points++;
			if (!oracle_agrees(got, oracle_round(&o, f, (hu_mode)m, flags, rand))) {
				t->wrong++;
				t->at = x;
				t->mode = (hu_mode)m;
				t->flags = flags;
			}
		}
}

/* x and its neighbours among the floats, both signs. */
static void
check_around(tally *t, double x, hu_format f, int sets)
{
	float s = (float)x, near[3] = { nextafterf(s, 0), s, nextafterf(s, INFINITY) };

	for (int i = 0; i < 3; i++) {
		check(t, near[i], f, sets);
		check(t, -(double)near[i], f, sets);
	}
}

static void
told(const tally *t, const char *what, hu_format f)
{
	if (t->wrong)
		diag("last wrong: %a %s, flags %d", t->at, hu_mode_name(t->mode), t->flags);
	is_int(t->wrong, 0, "%s: %s, %ld roundings by MPFR", hu_format_name(f.id), what, t->points);
}

static void
test_boundaries(hu_format f)
{
	tally t = { 0, 0, 0, HU_RNE, 0 };
	uint64_t n = hu_encode(f.max, f), normal = (uint64_t)1 << (f.p - 1), step = 1;
	int every = f.bits <= 12 || (f.bits <= 16 && (int)f.id < HU_FORMATS);

	for (uint64_t c = 0; c <= n; c += step) {
		int corner = c < 64 || n - c < 64 || (c + 64 > normal && c < normal + 64);
		double low = hu_decode(c, f), high = c < n ? hu_decode(c + 1, f) : f.max + hu_pow2(f.emax - f.p + 1);
		step = every || corner || n - c <= n >> 12 ? 1 : (n >> 12) + 1;
		check_around(&t, low, f, corner || c % 32 == 0 ? FLAG_SETS : 1);
		check_around(&t, low + (high - low) / 2, f, corner || c % 32 == 0 ? FLAG_SETS : 1);
		if (c == n)
			check_around(&t, high, f, FLAG_SETS);
	}
	check_around(&t, FLT_MAX, f, FLAG_SETS);
	check_around(&t, FLT_TRUE_MIN, f, FLAG_SETS);
	check(&t, INFINITY, f, FLAG_SETS);
	check(&t, -INFINITY, f, FLAG_SETS);
	check(&t, hu_from_bits64(0xfff0000000000001u), f, FLAG_SETS);
	told(&t, every ? "every boundary and its neighbours" : "boundaries and their neighbours", f);
}

/* Doubles that no float can stand for: a tie's last bit 2^-50 away, any exponent near the range. */
static void
test_doubles(hu_format f)
{
	tally t = { 0, 0, 0, HU_RNE, 0 };
	int range = f.emax - f.emin + f.p + 6;

	for (unsigned i = 0; i < 4000; i++) {
		hu_random r = hu_random_at(3, (uint32_t)f.id, 0, i);
		uint64_t m = ((uint64_t)r.w[0] << 32 | r.w[1]) & 0xfffffffffffffu,
			 tie = f.p < 53 ? (uint64_t)1 << (52 - f.p) : 1;
		int e = f.emin - f.p - 2 + (int)(r.w[2] % (unsigned)range);
		if (r.w[3] & 1)
			m = (m & ~(2 * tie - 1)) + tie + (r.w[3] >> 1 & 3) - 1;
		if (e <= 1023)
			check(&t, ldexp((double)(m & 0xfffffffffffffu) + 0x1p52, e - 52) * (r.w[3] & 8 ? -1 : 1), f,
				FLAG_SETS);
	}
	for (int sign = -1; sign <= 1; sign += 2) {
		check(&t, sign * DBL_MAX, f, FLAG_SETS);
		check(&t, sign * DBL_TRUE_MIN, f, FLAG_SETS);
		check(&t, sign * 0.0, f, FLAG_SETS);
		check(&t, sign * INFINITY, f, FLAG_SETS);
	}
	told(&t, "doubles beside ties, and the ends", f);
}

/* Numbers that people know by heart, against both sides. */
static void
is_full(double x, const char *format, hu_mode mode, int flags, double value, int ternary, int notes)
{
	hu_rounded want = { value, ternary, notes }, got, judge;
	hu_format_id id = HU_NO_FORMAT;
	oracle o;

	hu_format_find(format, &id);
	got = hu_round_full(x, hu_format_of(id), mode, flags, 0);
	oracle_look_d(&o, x, hu_format_of(id));
	judge = oracle_round(&o, hu_format_of(id), mode, flags, 0);
	ok(oracle_agrees(got, want) && oracle_agrees(judge, want),
		"%s %s flags %d: %g gives %g, ternary %d, flags %d (got %g %d %d)", format, hu_mode_name(mode), flags,
		x, value, ternary, notes, got.value, got.ternary, got.flags);
}

static void
test_known(void)
{
	enum { IN = HU_INEXACT, UN = HU_INEXACT | HU_UNDERFLOW, OV = HU_INEXACT | HU_OVERFLOW };

	is_full(INFINITY, "fp16", HU_RNE, 0, INFINITY, 0, 0);
	is_full(INFINITY, "fp16", HU_RNE, HU_SATURATE, 65504, -1, OV);
	is_full(65519.99, "fp16", HU_RNE, 0, 65504, -1, IN);
	is_full(65520, "fp16", HU_RNE, 0, INFINITY, 1, OV);
	is_full(0x1.ffffp-15, "fp16", HU_RNE, HU_FTZ, 0x1p-14, 1, UN); /* FTZ looks at the rounded value */
	is_full(0x1.ffffp-15, "fp16", HU_RNE, HU_DAZ, 0, -1, UN);      /* DAZ at the one before */
	is_full(0x1.ffffp-15, "fp16nosub", HU_RZ, 0, 0, -1, UN);
	is_full(0x1p-15, "fp16nosub", HU_RNE, 0, 0, -1, UN);           /* the middle of 0 and 2^-14 */
	is_full(0x1.001p-15, "fp16nosub", HU_RNE, 0, 0x1p-14, 1, UN);
	is_full(0x1p-20, "fp16ftz", HU_RU, 0, 0, -1, UN);
	is_full(1e9, "fp16sat", HU_RU, 0, 65504, -1, OV);
	is_full(0x1p-20, "fp16", HU_RNE, HU_FTZ, 0, -1, UN);
	is_full(-0x1p-1074, "e4m3", HU_RNE, 0, -0.0, 1, UN);
	is_full(0x1p-1074, "e4m3", HU_RU, 0, 0x1p-9, 1, UN);
	is_full(464, "e4m3", HU_RNE, 0, 448, -1, IN);
	is_full(464.001, "e4m3", HU_RNE, 0, NAN, 0, OV);
	is_full(INFINITY, "e4m3", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(-INFINITY, "e2m1", HU_RNE, 0, -6, 1, HU_INVALID);
	is_full(NAN, "e2m1", HU_RNE, 0, 6, 0, HU_INVALID);
	is_full(NAN, "e4m3fnuz", HU_RNE, 0, NAN, 0, 0);
	is_full(-0.0, "e4m3fnuz", HU_RNE, 0, 0, 0, 0);
	is_full(-0x1p-20, "e4m3fnuz", HU_RNE, 0, 0, 1, UN);
	is_full(-1e9, "e3m2", HU_RNE, 0, -28, 1, OV);
	is_full(31, "e3m2", HU_RZ, 0, 28, -1, IN);
	is_full(32, "e3m2", HU_RZ, 0, 28, -1, OV);
	is_full(0, "e8m0", HU_RNE, 0, 0x1p-127, 1, UN);
	is_full(-1, "e8m0", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(1.5, "e8m0", HU_RNE, 0, 2, 1, IN);
	is_full(3, "e8m0", HU_RNE, 0, 4, 1, IN);
	is_full(3, "e8m0", HU_RNZ, 0, 2, -1, IN);
	is_full(3, "binary8p1", HU_RNE, 0, 4, 1, IN); /* 2 has code 65, 4 has 66 */
	is_full(6, "binary8p1", HU_RNE, 0, 4, -1, IN);
	is_full(0x1.8p62, "binary8p1", HU_RZ, 0, 0x1p62, -1, IN);
	is_full(53248, "binary8p3", HU_RNE, 0, 49152, -1,
		IN); /* 57344's code is the infinity's; the middle is even below */
	is_full(60000, "binary8p3", HU_RO, 0, INFINITY, 1, OV);
	is_full(60000, "e5m2", HU_RO, 0, 57344, -1, IN);
	is_full(-3, "binary8p3u", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(-3, "binary8p3u", HU_RZ, 0, 0, 1, OV);
	is_full(-3, "binary8p3u", HU_RNE, HU_SATURATE, 0, 1, OV);
	is_full(-0x1p-60, "binary8p3u", HU_RNE, 0, 0, 1, UN);
	is_full(-0x1p-60, "binary8p3u", HU_RD, 0, NAN, 0, HU_INVALID);
	is_full(INFINITY, "binary8p3uf", HU_RNE, 0, 0x1.8p31, -1, OV);
	is_full(-INFINITY, "binary8p3uf", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(0x1p33, "binary8p3uf", HU_RU, 0, 0x1.8p31, -1, OV);
	is_full(-300, "binary8p4sf", HU_RD, 0, -240, 1, OV);
	is_full(0x1p33, "binary8p3u", HU_RO, 0, 0x1.4p31, -1, OV); /* the infinity's code is even there */
	is_full(INFINITY, "binary8p3u", HU_RNE, 0, INFINITY, 0, 0);
	is_full(0x1.fffffffffffffp1023, "fp64", HU_RNE, 0, 0x1.fffffffffffffp1023, 0, 0);
	is_full(0x1p-1060, "fp64", HU_RNE, HU_FTZ, 0, -1, UN);
	is_full(0x1.fffffffffffffp1023, "e11m40", HU_RNE, 0, INFINITY, 1, OV);
}

int
main(void)
{
	hu_format f[SOME_FORMATS];
	int n = some_formats(f, 1, 64);

	for (int i = 0; i < n; i++) {
		if (f[i].bits <= 24 && f[i].emin >= -149 && f[i].emax <= 127)
			test_boundaries(f[i]);
		test_doubles(f[i]);
	}
	test_known();
	mpfr_free_cache();
	return done_testing();
}
