/* SPDX-License-Identifier: Apache-2.0
   Tensor cores: errors of random sums within their bounds, promotion from its definition, and the names of models. */
#include "lib/number/philox.h"
#include "lib/sum/bound.h"
#include "t/sum/tc_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Errors stay within the bound, and the largest exceeds LEAST of it: a bound far too wide fails too. */
static void
test_bound(const char *text, double least)
{
	hu_sum s = model(text);
	hu_format f = hu_format_of(s.in);
	double a[1024], b[1024], worst = 0;
	int over = 0;

	for (int i = 0; i < 200; i++) {
		double mag = 0, exact = 0;
		int most = HU_TC_TINY;
		for (int k = 0; k < 1024; k++) {
			hu_random r = hu_random_at(7, 5, 0, (uint64_t)(i * 1024 + k));
			int32_t m, e[2];
			a[k] = hu_round((double)r.w[0] * 0x1p-32 - (i % 2 ? 0.5 : 0), f, HU_RNE, 0, 0);
			b[k] = hu_round((double)r.w[1] * 0x1p-32, f, HU_RNE, 0, 0);
			hu_tc_split(a[k], f, &m, &e[0]);
			hu_tc_split(b[k], f, &m, &e[1]);
			most = e[0] + e[1] > most ? e[0] + e[1] : most;
			exact += a[k] * b[k]; /* a multiple of 2^-48 below 2^10 for fp16; nearly so for the others */
			mag += fabs(a[k] * b[k]);
		}
		double error = fabs(hu_model_run(a, b, 1024, s, NULL, NULL) - exact),
		       bound = hu_sum_tc_bound(s, 1024, 0, most, mag);
		over += !(error <= bound);
		worst = error / bound > worst ? error / bound : worst;
	}
	ok(!over && worst > least, "%s: %d errors beyond the bound, the largest %.2f of it", text, over, worst);
}

/* Promotion, from its definition: sums of N products by the unit without it, each added in fp32 (or in bf16 by its own
   rounding) to what came before. A start value is the second accumulator's. Returns how many sums it changes. */
static int
promoted(const char *plain, const char *with, size_t length, double c)
{
	hu_sum s = model(plain), p = model(with);
	hu_format f = hu_format_of(s.in), g = hu_format_of(s.in2);
	double a[300], b[300];
	int wrong = 0, moved = 0;

	for (int i = 0; i < 300; i++) {
		double want = c, alone;
		size_t n = 1 + (size_t)i;
		for (size_t k = 0; k < n; k++) {
			hu_random r = hu_random_at(8, 6, 0, (uint64_t)(i * 1000) + k);
			a[k] = hu_round(ldexp((double)r.w[0] * 0x1p-32, (int)(r.w[2] % 8)), f, HU_RNE, 0, 0);
			b[k] = hu_round((double)r.w[1] * 0x1p-32 - (i % 3 ? 0 : 0.5), g, HU_RNE, 0, 0);
		}
		for (size_t k = 0; k < n; k += length) {
			want += hu_model_tc(a + k, b + k, n - k < length ? n - k : length, 0, s, NULL);
			want = p.outer == HU_BF16 ? hu_round(want, hu_format_of(HU_BF16), HU_RNE, 0, 0) : (float)want;
		}
		alone = hu_model_tc(a, b, n, c, s, NULL);
		wrong += hu_model_tc(a, b, n, c, p, NULL) != want;
		moved += alone != want;
	}
	ok(!wrong && moved > 100, "%s: %d of 300 sums are not those of its slices, and %d differ from those without it",
		with, wrong, moved);
	return moved;
}

static void
test_promotion(void)
{
	double big[2] = { 448, 448 }, nan[64] = { 0 };

	promoted("tc:hopper,in=e4m3,out=fp32,path=wgmma", "tc:hopper,in=e4m3,out=fp32,path=wgmma,promote=128", 128, 0);
	promoted("tc:hopper,in=e4m3,out=fp32,path=wgmma", "tc:hopper,in=e4m3,out=fp32,path=wgmma,promote=32", 32, 0.1f);
	promoted("tc:hopper,in=fp16,out=fp32", "tc:hopper,in=fp16,out=fp32,promote=16", 16, 1.0f / 3);
	promoted("tc:ada,in=e5m2,in2=e4m3,out=fp16", "tc:ada,in=e5m2,in2=e4m3,out=fp16,promote=64", 64, 0);
	promoted("tc:hopper,in=bf16,out=fp32", "tc:hopper,in=bf16,out=fp32,promote=16,outer=bf16", 16, 3);
	nan[40] = hu_nan();
	ok(word(hu_model_tc(nan, nan, 64, 0, model("tc:hopper,in=fp16,out=fp32,promote=32"), NULL)) == 0x7fffffff,
		"a NaN in one slice is the hardware's NaN of the sum");
	ok(hu_model_tc(big, big, 2, 0, model("tc:hopper,in=e4m3,out=fp16,path=wgmma,promote=32"), NULL) == hu_inf(0) &&
			hu_model_tc(big, big, 2, 0, model("tc:hopper,in=e4m3,out=fp32,path=wgmma,promote=32"), NULL) ==
				401408,
		"a slice overflows in the unit's own accumulator");
}

static void
test_names(void)
{
	static const char *const good[][2] = { { "tc:hopper", "tc:hopper" },
		{ "tc:ada,in=e4m3,out=half", "tc:ada,in=e4m3,out=fp16" },
		{ "tc:hopper,path=wgmma,in2=e5m2,in=e4m3", "tc:hopper,in=e4m3,in2=e5m2,path=wgmma" },
		{ "tc:hopper,promote=128", "tc:hopper,promote=128" },
		{ "tc:hopper,outer=bf16,promote=64,path=mma,in=e4m3",
			"tc:hopper,in=e4m3,path=mma,promote=64,outer=bf16" } };
	static const char *const bad[] = { "tc", "tc:hoper", "tc:volta,in=bf16", "tc:hopper,in=e4m3",
		"tc:hopper,in=e4m3,path=tcgen05", "tc:ampere,in=bf16,out=fp16", "tc:ampere,acc=fp32",
		"tc:ampere,mode=RZ", "tc:ampere,in=fp16,in2=bf16", "fma,in=fp16", "tc:ampere,in2=bf16", "tc:ada,path=x",
		"tc:hopper,promote=0", "tc:hopper,promote=x", "tc:hopper,in=fp16,promote=24",
		"tc:hopper,in=e4m3,path=mma,promote=16", "tc:ampere,in=fp64,promote=8",
		"tc:blackwell,in=mxfp8,promote=128", "fma,promote=128" };
	char text[96];
	hu_sum s;
	int wrong = 0, taken = 0;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		wrong += hu_sum_parse(good[i][0], &s) != HU_OK;
		hu_sum_print(s, text, sizeof text);
		wrong += strcmp(text, good[i][1]) != 0;
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		taken += hu_sum_parse(bad[i], &s) == HU_OK;
	ok(!wrong && !taken, "models are printed as they are read, %d wrong, and wrong ones refused, %d taken", wrong,
		taken);
	hu_sum_parse("tc:hopr", &s);
	ok(strstr(hu_reason(), "did you mean hopper") != NULL, "%s", hu_reason());
	if (hu_sum_parse("tc:hopper", &s) != HU_OK)
		bail_out("%s", hu_reason());
	hu_sum u = s, v = s, w = s;
	ok(hu_sum_resolve(&s, HU_FP16, HU_FP16, HU_FP16) == HU_OK && s.acc == HU_FP16 &&
			hu_sum_resolve(&u, HU_FP32, HU_FP32, HU_FP32) == HU_OK && u.in == HU_TF32 && u.acc == HU_FP32,
		"formats come from the call");
	ok(hu_sum_resolve(&v, HU_E4M3, HU_E5M2, HU_BF16) == HU_EINVAL &&
			hu_sum_resolve(&w, HU_FP16, HU_FP32, HU_FP32) == HU_EINVAL,
		"where they decide nothing, that is said: %s", hu_reason());
}

int
main(void)
{
	test_names();
	test_bound("tc:volta,in=fp16,out=fp32", 0.1);
	test_bound("tc:hopper,in=fp16,out=fp32", 0.1);
	test_bound("tc:hopper,in=fp16,out=fp16", 0.02);
	test_bound("tc:hopper,in=e5m2,out=fp32,path=wgmma", 0.04);
	test_bound("tc:hopper,in=e4m3,out=fp16,path=mma", 0.02);
	test_promotion();
	test_bound("tc:hopper,in=e5m2,out=fp32,path=wgmma,promote=128", 0.005);
	test_bound("tc:hopper,in=e4m3,out=fp32,path=wgmma,promote=32", 0.003);
	test_bound("tc:hopper,in=fp16,out=fp32,promote=16", 0.002);
	return done_testing();
}
