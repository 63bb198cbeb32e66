/* SPDX-License-Identifier: Apache-2.0
   cumsum by every kind of summation model: each element has the bits of the model's plain sum of the terms before it,
   forwards and backwards, along every axis; the chain, the blocks and the parallel scan are written once more here;
   ones stop at 2048 in fp16; and the additions that are swamped are counted. */
#include "t/op/op-case.h"

#include "lib/number/round.h"
#include "lib/op/reduce/summed.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <string.h>

static const hu_env env = { 20240229, 7 };

enum { MOST = 64 };

static const char *const models[] = { "sequential,acc=fp16", "fma,acc=bf16", "fma,acc=fp64", "sequential,acc=e5m2",
	"chunk:8,acc=fp16", "chunk:1,acc=bf16", "chunk:100,acc=fp16", "pairwise,acc=bf16", "pairwise,acc=fp32",
	"kahan,acc=fp16", "neumaier,acc=bf16", "dot2,acc=fp16", "fabsum:4,acc=bf16", "splitk:3,acc=fp16",
	"promote:16,acc=fp16", "openblas:8,acc=fp32", "sequential,acc=fp16,mode=RZ" };

/* How the lines of a case lie: element (o, k, i) is term k, or one from the end. */
static const struct { const char *attrs, *shape; size_t outer, n, inner; int exclusive, reverse; } lies[] = {
	{ "", "x:3x37", 3, 37, 1, 0, 0 },
	{ "axis=0 reverse=1", "x:37x3", 1, 37, 3, 0, 1 },
	{ "axis=1 exclusive=1", "x:2x37x3", 2, 37, 3, 1, 0 },
	{ "exclusive=1 reverse=1", "x:2x37", 2, 37, 1, 1, 1 },
};

static void
open_case(op_case *k, int lie, const char *model, int level)
{
	op_row row = { "cumsum", lies[lie].attrs, lies[lie].shape, "x" };
	hu_sum s;

	if (op_case_init(k, &row, HU_FP32, HU_FP32, HU_FP32, level, 17) != HU_OK || hu_sum_parse(model, &s) != HU_OK ||
		hu_summed_set(&k->c, s) != HU_OK || op_case_emulate(k, &env) != HU_OK)
		bail_out("%s: %s", model, hu_reason());
}

/* How many elements are not what the model's plain version makes of the terms before them. */
static size_t
differ(const op_case *k, int lie)
{
	size_t bad = 0, n = lies[lie].n, inner = lies[lie].inner;
	double x[MOST], one[MOST];

	for (size_t o = 0; o < lies[lie].outer; o++)
		for (size_t i = 0; i < inner; i++)
			for (size_t e = 0; e < n; e++) {
				size_t terms = e + 1 - (size_t)lies[lie].exclusive, at = 0;
				for (size_t t = 0; t < n; t++) {
					size_t place = (o * n + (lies[lie].reverse ? n - 1 - t : t)) * inner + i;
					x[t] = hu_get(&k->in[0], place);
					one[t] = 1;
					at = t == e ? place : at;
				}
				double sum = terms ? hu_model_run(x, one, terms, k->c.sum, NULL, NULL) : 0;
				bad += hu_bits64(hu_get(&k->out[0], at)) !=
				       hu_bits64(hu_round(sum, hu_format_of(HU_FP32), HU_RNE, 0, 0));
			}
	return bad;
}

static void
test_models(void)
{
	for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
		size_t bad = 0, all = 0;
		for (int lie = 0; lie < (int)(sizeof lies / sizeof *lies); lie++)
			for (int level = 0; level < LEVELS; level++) {
				op_case k;
				open_case(&k, lie, models[m], level);
				bad += differ(&k, lie);
				all += k.out[0].n;
				op_case_release(&k);
			}
		ok(!bad && all > 2500, "%s: %zu of %zu elements are not the model's sum of the terms before them",
			models[m], bad, all);
	}
}

static double
fp16(double x)
{
	return hu_round(x, hu_format_of(HU_FP16), HU_RNE, 0, 0);
}

/* Sklansky's scan of x[0] … x[n-1]: both halves, the first the largest power of two, then the first's sum is added to
   each element of the second. */
static void
sklansky(double *x, size_t n)
{
	size_t half = 1;

	if (n < 2)
		return;
	while (2 * half < n)
		half *= 2;
	sklansky(x, half);
	sklansky(x + half, n - half);
	for (size_t i = half; i < n; i++)
		x[i] = fp16(x[half - 1] + x[i]);
}

static void
chain(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
		x[i] = fp16(x[i - 1] + x[i]);
}

/* Each block of 8 by itself; then the last element of the block before is added to those of each. */
static void
blocks(double *x, size_t n)
{
	for (size_t b = 0; b < n; b += 8)
		chain(x + b, n - b < 8 ? n - b : 8);
	for (size_t b = 8; b < n; b += 8)
		for (size_t i = b; i < n && i < b + 8; i++)
			x[i] = fp16(x[b - 1] + x[i]);
}

static void
test_orders(void)
{
	static const struct { const char *model; void (*scan)(double *, size_t); } orders[] = {
		{ "sequential,acc=fp16", chain }, { "chunk:8,acc=fp16", blocks }, { "pairwise,acc=fp16", sklansky } };
	double last[3] = { 0, 0, 0 };

	for (int m = 0; m < 3; m++) {
		op_case k;
		size_t bad = 0;
		double x[37];
		open_case(&k, 0, orders[m].model, LEVEL_MILD);
		for (size_t i = 0; i < k.in[0].n; i++) /* terms of fp16: the chunks' fma rounds no term by itself */
			hu_put(&k.in[0], i, fp16(hu_get(&k.in[0], i)));
		op_case_emulate(&k, &env);
		for (size_t r = 0; r < 3; r++) {
			for (size_t i = 0; i < 37; i++)
				x[i] = fp16(hu_get(&k.in[0], r * 37 + i));
			orders[m].scan(x, 37);
			for (size_t i = 0; i < 37; i++)
				bad += x[i] != hu_get(&k.out[0], r * 37 + i);
			last[m] += x[36];
		}
		is_int((long long)bad, 0, "%s is the scan that is written out here", orders[m].model);
		op_case_release(&k);
	}
	ok(last[0] != last[1] && last[1] != last[2] && last[0] != last[2], "no two of these scans end alike");
}

/* fp16 has no odd numbers above 2048. */
static void
test_ones(const char *model, double stop, uint64_t swamped)
{
	op_row row = { "cumsum", "", "x:1x3000", "x" };
	op_case k;
	hu_sum s;
	hu_swamp count = { 0, 0, 0, 0 };
	size_t all[3000], bad = 0;

	if (op_case_init(&k, &row, HU_FP16, model ? HU_FP32 : HU_FP16, HU_FP16, LEVEL_MILD, 1) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < 3000; i++) {
		hu_put(&k.in[0], i, 1);
		all[i] = i;
	}
	if (model && (hu_sum_parse(model, &s) != HU_OK || hu_summed_set(&k.c, s) != HU_OK))
		bail_out("%s", hu_reason());
	if (op_case_emulate(&k, &env) != HU_OK ||
		HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, all, 3000, &env, &count) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < 3000; i++) {
		double want = (double)(i + 1) < stop ? (double)(i + 1) : stop;
		bad += hu_get(&k.out[0], i) != fp16(want);
	}
	ok(!bad, "%s: ones are counted up to %g (%zu elements are not)", model ? model : "compute fp16", stop, bad);
	ok(count.swamped == swamped && count.additions == 2999 && count.outputs == 3000 &&
			count.stagnated == (swamped ? swamped - HU_STAGNANT_RUN + 1 : 0),
		"%s: of %llu additions %llu are swamped", model ? model : "compute fp16",
		(unsigned long long)count.additions, (unsigned long long)count.swamped);
	op_case_release(&k);
}

int
main(void)
{
	test_models();
	test_orders();
	test_ones(NULL, 2048, 952);
	test_ones("sequential,acc=fp16", 2048, 952);
	test_ones("fma,acc=fp32", 3000, 0);
	test_ones("sequential,acc=bf16", 256, 2744);
	done_testing();
}
