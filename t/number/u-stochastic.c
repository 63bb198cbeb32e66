/* SPDX-License-Identifier: Apache-2.0
   The law of stochastic rounding, over many draws of Philox: the mean is unbiased within four standard
   errors, and how often the magnitude grows fits its probability, the distance cut to k bits, by chi square.
   That each single draw is right is u-round's test. The seed is fixed. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>

enum { FRACTIONS = 32, DRAWS = 6000 };

/* Chi square with 31 degrees of freedom: above with probability 0.001, with fewer less often; below, also with 28,
   0.0001. */
static const double most = 61.1, least = 7.9;

typedef struct law { double chi, bias, variance; int impossible, cells; } law;

/* Draws at base + j / FRACTIONS of its quantum; P: the probability of growing. */
static void
sample(law *l, double base, double quantum, unsigned j, double p, hu_format f, hu_mode mode, int flags, uint32_t stream)
{
	double x = base + copysign(j * quantum / FRACTIONS, base), ups = 0;

	for (unsigned i = 0; i < DRAWS; i++) {
		double r = hu_round(x, f, mode, flags, hu_random_at(6, stream, j, i).w[0]);
		ups += fabs(r) > fabs(base);
		l->impossible += r != base && fabs(r - base) != quantum;
	}
	if (p == 0 || p == 1) {
		l->impossible += ups != DRAWS * p;
		return;
	}
	l->chi += (ups - DRAWS * p) * (ups - DRAWS * p) / (DRAWS * p * (1 - p));
	l->bias += ups - DRAWS * j / FRACTIONS;
	l->variance += DRAWS * p * (1 - p);
	l->cells++;
}

static void
test_law(const char *name, double base, int k)
{
	law l = { 0, 0, 0, 0, 0 };
	hu_format_id id = HU_NO_FORMAT;
	hu_format f;
	double quantum;

	hu_format_find(name, &id);
	f = hu_format_of(id);
	quantum = hu_pow2(hu_ulp_exponent(base, f));
	for (unsigned j = 1; j < FRACTIONS; j++)
		sample(&l, base, quantum, j, floor(ldexp(j, k - 5)) / ldexp(1, k), f, HU_SR, HU_RANDOM_BITS(k),
			(uint32_t)f.id + (uint32_t)k);
	ok(l.impossible == 0 && l.chi < most && l.chi > least,
	   "%s at %a, %d bits: chi square %.1f with %d degrees of freedom", name, base, k, l.chi, l.cells);
	if (k >= 5) /* all these fractions have 5 bits: nothing is cut off */
		is_near(l.bias, 0, 4 * sqrt(l.variance), "%s at %a, %d bits: unbiased within 4 standard errors", name,
			base, k);
}

static void
test_equal(const char *name, double base)
{
	law l = { 0, 0, 0, 0, 0 };
	hu_format_id id = HU_NO_FORMAT;
	hu_format f;

	hu_format_find(name, &id);
	f = hu_format_of(id);
	for (unsigned j = 1; j < FRACTIONS; j++)
		sample(&l, base, hu_pow2(hu_ulp_exponent(base, f)), j, 0.5, f, HU_SRE, 0, (uint32_t)f.id);
	ok(l.impossible == 0 && l.chi < most && l.chi > least,
		"%s at %a, stochastic-equal: chi square %.1f with 31 degrees of freedom", name, base, l.chi);
}

/* The sum of many small addends: without bias it follows the exact one, where rounding to nearest stands still. */
static void
test_sum(void)
{
	enum { TERMS = 4000, RUNS = 200 };
	hu_format f = hu_format_of(HU_BF16);
	double term = 0x1p-10, mean = 0, squares = 0, nearest = 1;

	for (int i = 0; i < TERMS; i++)
		nearest = hu_round(nearest + term, f, HU_RNE, 0, 0);
	for (uint32_t run = 0; run < RUNS; run++) {
		double s = 1;
		for (uint32_t i = 0; i < TERMS; i++)
			s = hu_round(s + term, f, HU_SR, 0, hu_random_at(7, run, 0, i).w[0]);
		mean += s / RUNS;
		squares += s * s / RUNS;
	}
	is_near(nearest, 1, 0, "1 + 4000 * 2^-10 in bf16 to nearest stays 1");
	is_near(mean, 1 + TERMS * term, 4 * sqrt((squares - mean * mean) / RUNS),
		"stochastically its mean over 200 runs is 4.90625 within 4 standard errors");
}

/* Arrays: half a place grows as often at each of 64 neighbouring positions, and a fraction that 16 random bits cannot
   tell from 0, or from 1, as often as it should: 24 times in 2^24 draws, where 16 bits alone would give 0 or 256. Chi
   square with 64 degrees of freedom is above 104.7 with probability 0.001, below 30 with 0.0001 (n (1 - 2/9n + z
   sqrt(2/9n))^3, Wilson and Hilferty). */
static void
test_arrays(const char *name, float base, float place)
{
	enum { N = 1 << 20, CALLS = 16, POSITIONS = 64 };
	static float x[N], y[N];
	const float rare[] = { base + 0x3p-21f * place, base + place - 0x3p-21f * place };
	double ups[POSITIONS] = { 0 }, chi = 0, each = N / POSITIONS;
	hu_format_id id = HU_NO_FORMAT;

	hu_format_find(name, &id);
	hu_stream s = { 8, (uint32_t)id, 0 };
	for (size_t i = 0; i < N; i++)
		x[i] = base + place / 2;
	hu_bulk_round(y, x, N, id, HU_SR, 0, &s, 0);
	for (size_t i = 0; i < N; i++)
		ups[i % POSITIONS] += y[i] > base;
	for (int i = 0; i < POSITIONS; i++)
		chi += (ups[i] - each / 2) * (ups[i] - each / 2) / (each / 4);
	ok(chi < 104.7 && chi > 30, "%s, an array at %a: chi square over positions %.1f with 64 degrees of freedom",
		name, (double)base, chi);
	for (int r = 0; r < 2; r++) {
		double seen = 0;
		for (uint32_t c = 0; c < CALLS; c++) {
			for (size_t i = 0; i < N; i++)
				x[i] = rare[r];
			s.step = 1 + c;
			hu_bulk_round(x, x, N, id, HU_SR, 0, &s, 5);
			for (size_t i = 0; i < N; i++)
				seen += (x[i] > base) != r;
		}
		is_near(seen, 24, 4 * sqrt(24),
			"%s, an array %s 3 x 2^-21 places from %a: as often as that, within 4 standard errors", name,
			r ? "below the neighbour" : "beyond", (double)base);
	}
}

int
main(void)
{
	static const struct { const char *name; double base;
	} at[] = { { "fp16", 1 }, { "fp16", 0x1p-24 }, { "fp16", -0x1.ffcp+3 }, { "bf16", 1 }, { "bf16", -0x1p-133 },
		{ "tf32", 0x1.004p+0 }, { "e4m3", 1 }, { "e4m3", -0x1p-9 }, { "e4m3", 240 }, { "e5m2", 1 },
		{ "e5m2", 0x1.8p-15 }, { "e2m1", 2 }, { "e4m3fnuz", -0x1p-10 }, { "binary8p3", 0x1.4p+4 },
		{ "binary8p1u", 0x1p+3 }, { "fp24", 3 } };
	static const int bits[] = { 3, 5, 8, 13, 32 };

	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
			test_law(at[i].name, at[i].base, bits[b]);
		test_equal(at[i].name, at[i].base);
	}
	test_sum();
	test_arrays("e5m2", 1, 0.25f);
	test_arrays("fp16", 0x5p-24f, 0x1p-24f);
	test_arrays("e8m0", 1, 1);
	return done_testing();
}
