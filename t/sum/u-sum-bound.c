/* SPDX-License-Identifier: Apache-2.0
   What summation models count, of sums whose counts are known, and what their bounds are worth. */
#include "lib/sum/bound.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <math.h>

static void
test_counts(void)
{
	enum { N = 4096 };
	static const struct {
		const char *sum;
		double value;
		uint64_t additions, swamped;
		int stagnant;
	} rows[] = {
		{ "fma,acc=fp16", 2048, 4095, 2048, 1 }, /* 2048 + 1 is a tie to even */
		{ "sequential,acc=fp16", 2048, 4095, 2048, 1 },
		{ "fma,acc=bf16", 256, 4095, 3840, 1 },
		{ "chunk:64,acc=fp16", 4096, 63 * 64 + 63, 0, 0 },
		{ "pairwise,acc=fp16", 4096, 4095, 0, 0 },
		{ "kahan,acc=fp16", 4096, 4095, 0, 0 },
		{ "fma,acc=fp32", 4096, 4095, 0, 0 },
		{ "fma,acc=fp64", 4096, 4095, 0, 0 },
		{ "chunk:1,acc=fp16", 2048, 4095, 2048, 1 },
		{ "neumaier,acc=fp16", 4096, 4095, 0, 0 },
		{ "dot2,acc=fp16", 4096, 4095, 0, 0 },
		{ "fabsum:64,acc=fp16", 4096, 63 * 64 + 63, 0, 0 },
		{ "splitk:4,acc=fp16", 4096, 1023 * 4 + 3, 0, 0 },
		{ "promote:128,acc=bf16", 4096, 127 * 32 + 31, 0, 0 },
		{ "promote:1024,acc=bf16", 1024, 1023 * 4 + 3, 768 * 4, 0 },
		{ "ring:4096,acc=bf16", 256, 4095, 3840, 1 },
		{ "ring:64,acc=bf16", 4096, 4095, 0, 0 },
		{ "ring:1024,acc=fp32,wire=bf16", 1024, 3 * 1024 + 1023, 768, 1 },
		{ "tree:4096,acc=bf16", 4096, 4095, 0, 0 },
		{ "halving:4095,acc=e5m2", 4096, 4095, 0, 0 },
		{ "hier:4096:8,acc=e5m2", 4096, 4095, 0, 0 },
		{ "tc:hopper,in=fp16,out=fp32", 4096, 4096, 0, 0 },
		{ "tc:hopper,in=fp16,out=fp16", 4096, 4096, 0, 0 },
		{ "tc:hopper,in=fp16,out=fp32,promote=128", 4096, 4096 + 31, 0, 0 },
		{ "tc:hopper,in=fp16,out=fp16,promote=16,outer=bf16", 4096, 4096 + 255, 0, 0 },
		{ "tc:hopper,in=fp16,out=fp32,promote=16,outer=e5m2", 128, 4096 + 255, 248, 1 },
	};
	static double a[N], b[N];

	for (size_t k = 0; k < N; k++)
		a[k] = b[k] = 1;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_sum s;
		hu_sum_count c = { 0 };
		if (hu_sum_parse(rows[i].sum, &s) != HU_OK)
			bail_out("%s", hu_reason());
		if (hu_sum_resolve(&s, HU_FP16, HU_FP16, s.out) != HU_OK)
			bail_out("%s", hu_reason());
		double got = hu_model_run(a, b, N, s, NULL, &c);
		ok(got == rows[i].value && c.additions == rows[i].additions && c.swamped == rows[i].swamped &&
				(c.run >= HU_STAGNANT_RUN) == rows[i].stagnant,
			"4096 ones by %s: %g, %llu of %llu additions swamped, %s", rows[i].sum, got,
			(unsigned long long)c.swamped, (unsigned long long)c.additions,
			c.run >= HU_STAGNANT_RUN ? "stagnant" : "not stagnant");
	}
	hu_sum s = { .id = HU_SUM_PAIRWISE, .acc = HU_FP16, .outer = HU_NO_FORMAT };
	hu_sum_count c = { 0 };
	a[0] = 0x1p-13;
	hu_model_run(a, b, 2, s, NULL, &c);
	ok(c.additions == 1 && c.swamped == 1, "a pairwise sum counts its first operand too where that vanishes");
	a[0] = 0;
	a[1] = hu_inf(0);
	c = (hu_sum_count){ 0 };
	s.id = HU_SUM_FMA;
	hu_model_run(a, b, 100, s, NULL, &c);
	ok(c.additions == 0 && c.swamped == 0, "zeros and infinite accumulators are not counted");
}

static void
test_bounds(void)
{
	enum { N = 2000 };
	double a[N], b[N];
	hu_sum s = { .id = HU_SUM_FMA, .acc = HU_FP16, .outer = HU_NO_FORMAT };

	/* 1 and then terms of just below half an ulp: all are lost. */
	for (size_t k = 0; k < N; k++) {
		a[k] = k ? 0x1.ffcp-12 : 1;
		b[k] = 1;
	}
	double exact = 1 + (N - 1) * 0x1.ffcp-12, error = exact - hu_model_run(a, b, N, s, NULL, NULL);
	hu_sum_bound x = hu_sum_apriori(s, N, 0);
	double bound = x.relative * exact + x.absolute;
	ok(error <= bound && error >= bound / 2.1, "an fma sum in fp16 that loses every term: error %g, bound %g",
		error, bound);
	s.id = HU_SUM_KAHAN;
	x = hu_sum_apriori(s, N, 0);
	error = fabs(exact - hu_model_run(a, b, N, s, NULL, NULL));
	ok(error <= x.relative * exact && x.relative < 9 * 0x1p-11, "Kahan's sum of the same: error %g, bound %g",
		error, x.relative * exact);
	s.id = HU_SUM_PAIRWISE;
	x = hu_sum_apriori(s, 1024, 0);
	is_near(x.relative, 11 * 0x1p-11, 11 * 11 * 0x1p-22, "pairwise over 2^10: 10 levels and the product");
	s = (hu_sum){ .id = HU_SUM_CHUNK, .n = 64, .acc = HU_FP64, .outer = HU_NO_FORMAT };
	x = hu_sum_apriori(s, 640, 0);
	is_near(x.relative * 0x1p53, 64 + 9, 1e-9, "chunks of 64 over 640 in fp64");
	x = hu_sum_apriori((hu_sum){ .id = HU_SUM_FMA, .acc = HU_FP64, .outer = HU_NO_FORMAT }, 640, 64);
	ok(x.relative * 0x1p53 >= 64 + 5, "a tree's additions count in fp64 too: %g u", x.relative * 0x1p53);
	s = (hu_sum){ .id = HU_SUM_RING, .n = N, .acc = HU_FP16, .outer = HU_NO_FORMAT };
	x = hu_sum_apriori(s, N, 0);
	error = exact - hu_model_run(a, b, N, s, NULL, NULL);
	ok(error <= x.relative * exact && error >= x.relative * exact / 2.1,
		"a ring that loses every term: error %g, bound %g", error, x.relative * exact);
	s.id = HU_SUM_TREE;
	s.n = 1024;
	is_near(hu_sum_apriori(s, 1024, 0).relative, 11 * 0x1p-11, 11 * 11 * 0x1p-22, "a tree of 2^10 ranks: 10 hops");
	is_near(hu_bound_hops((hu_sum){ .id = HU_SUM_HIER, .n = 100, .node = 8 }, 1e9), 7 + 3 + 1, 0,
		"13 nodes of 8 ranks: 7 hops inside, 3 between eight of them, and one before for the other five");
	s = (hu_sum){ .id = HU_SUM_KAHAN, .acc = HU_E4M3, .outer = HU_NO_FORMAT };
	x = hu_sum_apriori(s, 4096, 0);
	ok(!(x.peak < 1e300), "where Kahan's induction breaks down there is no bound");
}

int
main(void)
{
	test_counts();
	test_bounds();
	return done_testing();
}
