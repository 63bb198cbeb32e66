/* SPDX-License-Identifier: Apache-2.0
   The probabilistic bound of sums: lambda and gamma against the formulas of Higham and Mary 2019 in another form, and
   random sums by every model: none leaves its bound, and the errors grow as the bound does, with sqrt(n). */
#include "lib/sum/table/model.h"
#include "lib/sum/roundings.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { N = 2048, TRIALS = 200 };

static hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK || hu_sum_resolve(&s, HU_FP32, HU_FP32, HU_NO_FORMAT) != HU_OK)
		bail_out("%s: %s", text, hu_reason());
	return s;
}

static double
uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 40) * 0x1p-24;
}

static void
formulas(void)
{
	static const struct {
		size_t n;
		double confidence, results;
	} rows[] = { { 1, 0.5, 1 }, { 100, 0.99, 1 }, { 4096, 0.999999, 1048576 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_roundings r = hu_roundings_of_sum(model("fma,acc=bf16"), rows[i].n, 0);
		double u = 0x1p-8, n = (double)rows[i].n,
		       lambda = hu_roundings_lambda(&r, rows[i].confidence, rows[i].results),
		       gamma = hu_roundings_gamma(&r, lambda);
		double miss = 2 * rows[i].results * n * exp(-lambda * lambda * (1 - u) * (1 - u) / 2);
		ok(fabs(miss / (1 - rows[i].confidence) - 1) < 1e-8,
			"n = %zu, %.0f results: lambda %.6g misses with probability %.6g", rows[i].n, rows[i].results,
			lambda, miss);
		double want = exp(lambda * sqrt(n) * u + n * u * u / (1 - u)) - 1;
		ok(fabs(gamma / want - 1) < 1e-10 && r.count == n, "and gamma is %.6g", want);
	}
	hu_roundings parts = hu_roundings_of_sum(model("fma,acc=bf16,outer=fp32"), 1000, 100);
	ok(parts.count == 100 + 6 && fabs(parts.squares - (100 * 0x1p-16 + 6 * 0x1p-48)) < 1e-18 &&
			parts.most == 0x1p-8,
		"ten parts: a hundred roundings in bf16 and the tree's six in fp32");
	hu_roundings sr = hu_roundings_of_sum(model("fma,acc=bf16,mode=SR,bits=4"), 10, 0);
	ok(!sr.none && sr.most == 0x1p-7 && fabs(sr.drift - 10 * (0x1p-14 / (1 - 0x1p-7) + 0x1p-11)) < 1e-18,
		"stochastic rounding: twice the unit, and the bias of its four bits");
}

/* The largest error over the bound at lambda 1, and how many of the sums leave the bound of confidence 0.99 for all. */
static double
trials(hu_sum s, size_t n, int positive, uint64_t seed, int *over)
{
	hu_roundings r = hu_roundings_of_sum(s, n, 0);
	double a[N], b[N], most = 0, lambda = hu_roundings_lambda(&r, 0.99, TRIALS);

	for (int t = 0; t < TRIALS; t++) {
		double exact = 0, mag = 0;
		hu_draw draw = { seed, hu_draw_stream("u-roundings"), (uint32_t)t, 0, s.bits };
		for (size_t k = 0; k < n; k++) {
			a[k] = ldexp(floor(4096 * (positive ? 1 + uniform(&seed) : 2 * uniform(&seed) - 1)),
				-12); /* sums are exact in doubles */
			b[k] = 1 + ldexp(floor(256 * uniform(&seed)), -8);
			exact += a[k] * b[k];
			mag += fabs(a[k] * b[k]);
		}
		double e = fabs(hu_model_run(a, b, n, s, &draw, NULL) - exact),
		       ratio = e / hu_roundings_bound(&r, 1, mag, fabs(exact));
		*over += !(e <= hu_roundings_bound(&r, lambda, mag, fabs(exact)));
		most = ratio > most ? ratio : most;
	}
	return most;
}

static void
random_sums(void)
{
	static const struct { const char *text; int positive;
	} rows[] = {
		{ "fma,acc=fp16", 0 },
		{ "fma,acc=bf16", 0 },
		{ "sequential,acc=fp16", 0 },
		{ "pairwise,acc=bf16", 0 },
		{ "pairwise,acc=bf16", 1 },
		{ "chunk:32,acc=fp16", 0 },
		{ "splitk:4,acc=fp16", 0 },
		{ "promote:64,acc=bf16", 1 },
		{ "promote:64,acc=bf16", 0 },
		{ "fabsum:32,acc=bf16", 1 },
		{ "fma,acc=bf16,mode=SR", 1 },
		{ "fma,acc=bf16,mode=SR,bits=8", 1 },
		{ "fma,acc=fp32", 1 },
		{ "ring:2048,acc=bf16", 1 },
		{ "ring:512,acc=fp32,wire=bf16", 0 },
		{ "tree:2048,acc=bf16", 1 },
		{ "halving:100,acc=fp16", 0 },
		{ "hier:2048:8,acc=fp32,wire=fp16", 1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int over = 0;
		double ratio = trials(model(rows[i].text), N, rows[i].positive, 11 + i, &over);
		ok(over == 0 && ratio > 1e-3 && ratio < 4,
			"%s, %s terms: no sum of %d leaves its bound, the largest error is %.3g of that of lambda 1",
			rows[i].text, rows[i].positive ? "positive" : "signed", TRIALS, ratio);
	}
}

/* Of ones in fp16 none counts from the 2049th on: rounding errors that all have one sign, for which the bound does not
   hold. */
static void
stagnant_sum(void)
{
	static double ones[8192];
	hu_sum s = model("fma,acc=fp16");
	hu_roundings r = hu_roundings_of_sum(s, 8192, 0);

	for (size_t k = 0; k < 8192; k++)
		ones[k] = 1;
	double sum = hu_model_run(ones, ones, 8192, s, NULL, NULL),
	       bound = hu_roundings_bound(&r, hu_roundings_lambda(&r, 0.99, 1), 8192, 8192);
	ok(sum == 2048 && 8192 - sum > bound, "8192 ones are %.0f, off by more than the bound of %.0f", sum, bound);
}

static void
meaningless(void)
{
	static const char *const none[] = { "fma,mode=RZ", "pairwise,mode=RU", "fma,acc=bf16,mode=SRE", "kahan",
		"neumaier", "dot2", "tc:ampere,in=fp16" };

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		hu_sum s;
		if (hu_sum_parse(none[i], &s) != HU_OK)
			bail_out("%s", hu_reason());
		if (s.id != HU_SUM_TC)
			s = model(none[i]);
		hu_roundings r = hu_roundings_of_sum(s, 100, 0);
		ok(r.none && isnan(hu_roundings_bound(&r, 5, 1, 1)), "%s has none: %s", none[i], r.none ? r.none : "");
	}
}

int
main(void)
{
	formulas();
	random_sums();
	stagnant_sum();
	meaningless();
	return done_testing();
}
