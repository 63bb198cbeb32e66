/* SPDX-License-Identifier: Apache-2.0
   all_reduce under every model of a collective operation: the loops over blocks against the sum of one element, the
   order and the roundings against a second writing of them, the bound, a library's bound for any order, and what is
   refused. */
#include "t/op/op-judge.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_env env = { 20240229, 7 };

/* Operands of 13 and 7 ranks: neither number is a power of two. */
static const op_row thirteen = { "all_reduce", "",
	"x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 x:57x11 "
	"x:57x11", "x" },
		    seven = { "all_reduce", "", "x:60 x:60 x:60 x:60 x:60 x:60 x:60", "x" },
		    eight = { "all_reduce", "", "x:60 x:60 x:60 x:60 x:60 x:60 x:60 x:60", "x" };

static void
open_case(op_case *k, const op_row *row, const char *model, const char *in, const char *out, int level, uint64_t seed)
{
	hu_format_id fi, fo;

	if (hu_format_find(in, &fi) != HU_OK || hu_format_find(out, &fo) != HU_OK ||
		op_case_init(k, row, fi, HU_FP32, fo, level, seed) != HU_OK || hu_sum_parse(model, &k->c.sum) != HU_OK)
		bail_out("%s", hu_reason());
}

static const char *const models[] = { "ring:13", "ring:13,wire=bf16", "ring:13,wire=fp16", "ring:13,wire=e4m3",
	"ring:13,acc=fp64", "ring:13,acc=fp64,wire=fp32", "ring:13,wire=fp16,mode=SR", "tree:13", "tree:13,wire=bf16",
	"halving:13,wire=bf16", "halving:13,wire=e5m2", "hier:13:4,wire=bf16", "hier:13:13,wire=fp16", "hier:13:1",
	"hier:13:5,acc=bf16", "tree:13,acc=fp16", "ring:13,acc=fp32,wire=tf32,mode=RZ" };
static const struct { const char *in, *out; } formats[] = { { "fp32", "fp32" }, { "fp16", "fp16" }, { "fp64", "fp32" },
	{ "bf16", "fp32" }, { "fp64", "fp64" } };

/* Element i by the model's plain version. */
static double
plain(const op_case *k, size_t i)
{
	double x[13], one[13];
	hu_draw draw = { env.seed, hu_draw_stream(k->c.seed_name), env.step, i * 13, 0 };

	for (int r = 0; r < 13; r++) {
		x[r] = hu_get(&k->in[r], i);
		one[r] = 1;
	}
	return hu_round(hu_model_run(x, one, 13, k->c.sum, &draw, NULL), hu_format_of(k->c.fmt.out), HU_RNE, 0, 0);
}

/* Every element as the plain version of the model has it, and within the bound. */
static void
test_models(void)
{
	size_t ones = sizeof models / sizeof *models;

	for (size_t m = 0; m < ones; m++) {
		size_t differ = 0, judged = 0;
		verdict v = { .judged = 0 };
		mpfr_init2(v.exact, 64);
		for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
			for (int level = 0; level < LEVELS; level++) {
				op_case k;
				open_case(&k, &thirteen, models[m], formats[f].in, formats[f].out, level, m + 1);
				if (op_case_emulate(&k, &env) != HU_OK || judge_output(&k, 0, &v) != HU_OK)
					bail_out("%s: %s", models[m], hu_reason());
				for (size_t i = 0; i < k.out[0].n; i++)
					differ += hu_bits64(hu_get(&k.out[0], i)) != hu_bits64(plain(&k, i));
				judged += k.out[0].n;
				op_case_release(&k);
			}
		ok(!differ && !v.over && v.judged > v.infinite,
			"%s: %zu of %zu elements differ from the plain sum; %zu of %zu beyond the bound (worst %.3f)",
			models[m], differ, judged, v.over, v.judged - v.infinite, v.worst);
		mpfr_clear(v.exact);
	}
}

/* fp32 + fp32 sent as bf16. */
static float
hop(float x, float y)
{
	return (float)hu_round((double)(x + y), hu_format_of(HU_BF16), HU_RNE, 0, 0);
}

static float
sent(const op_case *k, int r, size_t i)
{
	return hop(0, ((const float *)k->in[r].data)[i]);
}

/* The orders of eight ranks, written out. */
static float
order(const op_case *k, const char *name, size_t i)
{
	float x[8];

	for (int r = 0; r < 8; r++)
		x[r] = sent(k, r, i);
	if (!strcmp(name, "tree:8,wire=bf16"))
		return hop(hop(hop(x[0], x[1]), hop(x[2], x[3])), hop(hop(x[4], x[5]), hop(x[6], x[7])));
	if (!strcmp(name, "halving:8,wire=bf16"))
		return hop(hop(hop(x[0], x[4]), hop(x[2], x[6])), hop(hop(x[1], x[5]), hop(x[3], x[7])));
	if (!strcmp(name, "hier:8:4,wire=bf16"))
		return hop(hop(hop(hop(x[0], x[1]), x[2]), x[3]), hop(hop(hop(x[4], x[5]), x[6]), x[7]));
	for (int r = 1; r < 8; r++)
		x[0] = hop(x[0], x[r]);
	return x[0];
}

static void
test_orders(void)
{
	static const char *const names[] = { "ring:8,wire=bf16", "tree:8,wire=bf16", "halving:8,wire=bf16",
		"hier:8:4,wire=bf16" };
	float all[4][60];
	int apart = 1;

	for (size_t m = 0; m < 4; m++) {
		op_case k;
		size_t differ = 0;
		open_case(&k, &eight, names[m], "fp32", "fp32", LEVEL_SPREAD, 11);
		if (op_case_emulate(&k, &env) != HU_OK)
			bail_out("%s", hu_reason());
		for (size_t i = 0; i < k.out[0].n; i++)
			differ += (all[m][i] = ((const float *)k.out[0].data)[i]) != order(&k, names[m], i);
		for (size_t j = 0; j < m; j++)
			apart &= memcmp(all[m], all[j], sizeof all[m]) != 0;
		is_int((long long)differ, 0, "%s adds in its order, rounded to the wire at every hop", names[m]);
		op_case_release(&k);
	}
	ok(apart, "no two of these orders have the same results");
}

/* What a library computes in any order, here backwards and in pairs of ends, stays within its bound, which is no wider
   than a ring's; a sum that is off by one in a thousand does not. */
static void
test_library(void)
{
	size_t over = 0, caught = 0, all = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		op_case k;
		double bound[60], ring[60];
		size_t element[60];
		mpfr_t exact[60];
		open_case(&k, &seven, "halving:7,wire=bf16", "fp32", "fp32", LEVEL_SPREAD, seed);
		for (size_t i = 0; i < 60; i++) {
			element[i] = i;
			mpfr_init2(exact[i], 64);
		}
		hu_attr_set(&k.c, "library", 1);
		HU_COLUMN(k.c.op, bound)(&k.c, k.pin, 0, element, 60, bound);
		HU_COLUMN(k.c.op, reference)(&k.c, k.pin, 0, element, 60, exact);
		k.c.nattr = 0;
		if (hu_sum_parse("ring:7,wire=bf16", &k.c.sum) != HU_OK)
			bail_out("%s", hu_reason());
		HU_COLUMN(k.c.op, bound)(&k.c, k.pin, 0, element, 60, ring);
		for (size_t i = 0; i < 60; i++) {
			float down = sent(&k, 6, i), ends = 0;
			for (int r = 5; r >= 0; r--)
				down = hop(down, sent(&k, r, i));
			for (int r = 0; r < 3; r++)
				ends = hop(hop(sent(&k, r, i), sent(&k, 6 - r, i)), ends);
			ends = hop(ends, sent(&k, 3, i));
			double x = mpfr_get_d(exact[i], MPFR_RNDN), mag = 0;
			for (int r = 0; r < 7; r++)
				mag += fabs(hu_get(&k.in[r], i));
			over += !(fabs(down - x) <= bound[i]) + !(fabs(ends - x) <= bound[i]) + (bound[i] != ring[i]);
			caught += fabs(x + mag * 0.06 - x) > bound[i];
			all++;
			mpfr_clear(exact[i]);
		}
		op_case_release(&k);
	}
	ok(!over && caught == all,
		"a library's sums in bf16: %zu beyond the bound; %zu of %zu that are off by 6 %% of the terms are",
		over, caught, all);
}

static int
refused(const char *model, const char *word)
{
	op_case k;
	hu_shape in[16], out[1] = { { 0, { 0, 1, 1, 1 } } };

	open_case(&k, &seven, model, "fp32", "fp32", LEVEL_MILD, 1);
	for (int r = 0; r < 7; r++)
		in[r] = k.in[r].shape;
	hu_status st = HU_COLUMN(k.c.op, shape)(&k.c, in, out);
	op_case_release(&k);
	return st == HU_EINVAL && strstr(hu_reason(), word);
}

static void
test_refusals(void)
{
	op_case k;

	ok(refused("ring:8", "of 8 ranks, and there are 7"), "a model of another number of ranks: %s", hu_reason());
	ok(refused("tc:hopper", "ring:7"), "a tensor core: %s", hu_reason());
	open_case(&k, &seven, "ring:7", "fp32", "fp32", LEVEL_MILD, 1);
	k.in[3].format = HU_FP16;
	ok(op_case_emulate(&k, &env) == HU_EINVAL && strstr(hu_reason(), "operand 3 is fp16"),
		"operands of two formats: %s", hu_reason());
	op_case_release(&k);
}

/* In bf16, 256 swamps what is below 1. */
static void
test_swamping(void)
{
	op_case k;
	hu_swamp s = { 0, 0, 0, 0 };
	size_t element = 5;

	open_case(&k, &seven, "ring:7,wire=bf16", "fp32", "fp32", LEVEL_MILD, 1);
	for (int r = 0; r < 7; r++)
		hu_put(&k.in[r], element, r ? r == 6 ? 2 : 0.5 : 256);
	HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, &element, 1, &env, &s);
	ok(s.additions == 6 && s.swamped == 5 && s.outputs == 1, "of %llu additions %llu are swamped",
		(unsigned long long)s.additions, (unsigned long long)s.swamped);
	op_case_release(&k);
}

/* An element stagnates where the last 8 of its ranks or more are swamped. */
static void
test_stagnation(void)
{
	size_t element = 5;
	op_case k;

	open_case(&k, &thirteen, "ring:13,wire=bf16", "fp32", "fp32", LEVEL_MILD, 1);
	for (size_t last = 7; last <= 9; last++) {
		hu_swamp s = { 0, 0, 0, 0 };
		for (size_t r = 0; r < 13; r++)
			hu_put(&k.in[r], element, r + last >= 13 ? 0.5 : r ? 0 : 256);
		HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, &element, 1, &env, &s);
		ok(s.swamped == last && s.stagnated == (last >= 8), "%zu ranks at the end are swamped: %s", last,
			s.stagnated ? "stagnation" : "no stagnation");
	}
	op_case_release(&k);
}

int
main(void)
{
	test_models();
	test_orders();
	test_library();
	test_refusals();
	test_swamping();
	test_stagnation();
	return done_testing();
}
