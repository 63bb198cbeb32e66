/* SPDX-License-Identifier: Apache-2.0
   Reductions that add by a summation model: every operator that says it takes one adds by it, and no other does; what
   is emulated lies within the proven bound of the exact reference, over the cases of op-cases.def and several models;
   and the bits do not depend on the number of threads. */
#include "t/op/op-judge.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/reduce/summed.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_env env = { 20240229, 7 };

static hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK)
		bail_out("%s: %s", text, hu_reason());
	return s;
}

/* Sets the model as hu_summed_set does, also of an operator that takes none. */
static void
force(hu_call *c, hu_sum s)
{
	c->sum = s;
	hu_attr_set(c, "summed", 1);
}

static int
equal(const op_case *a, const op_case *b)
{
	int same = 1;

	for (int j = 0; j < a->c.nout; j++)
		same &= !memcmp(a->out[j].data, b->out[j].data, a->out[j].n * hu_element_size(a->out[j].format));
	return same;
}

/* Returns 1 where the outputs of the case are other bits by the model than by the fixed tree, which adds in fp32. */
static int
moves(const op_row *row, const char *text)
{
	op_case a, b;
	int differ = 0;

	if (op_case_init(&a, row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 5) == HU_OK &&
		op_case_init(&b, row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 5) == HU_OK) {
		force(&b.c, model(text));
		if (op_case_emulate(&a, &env) == HU_OK && op_case_emulate(&b, &env) == HU_OK)
			differ = !equal(&a, &b);
	}
	op_case_release(&a);
	op_case_release(&b);
	return differ;
}

static void
test_takes(void)
{
	const hu_op *op;
	const op_row *row;

	for (int i = 0; (op = hu_op_at(i)); i++) {
		int takes = hu_summed_takes(op), moved = 0;
		/* Products, all-reduces and attention in blocks read their model without the attribute. */
		if (hu_op_takes_sum(op) || hu_op_takes(op, "block"))
			continue;
		for (int r = 0; (row = op_row_at(r)); r++)
			moved += !strcmp(row->op, op->name) && moves(row, "sequential,acc=e5m2");
		if (!ok(takes == (moved > 0), "%s %s", op->name,
			    takes ? "adds by the model" : "adds nothing that a model could order"))
			diag("%d of its cases have other bits by sequential,acc=e5m2", moved);
	}
}

static void
test_bounds(void)
{
	static const char *const models[] = { "sequential,acc=bf16", "fma,acc=fp16", "chunk:8,acc=bf16",
		"pairwise,acc=fp16", "kahan,acc=bf16", "neumaier,acc=fp16", "dot2,acc=fp16", "fabsum:4,acc=bf16",
		"splitk:3,acc=fp16", "promote:16,acc=fp16", "fma,acc=fp64", "sequential,acc=fp16,mode=RZ",
		"ring:5,acc=fp32,wire=bf16" };
	const op_row *row;

	for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
		verdict v;
		hu_status st = HU_OK;
		int calls = 0;
		memset(&v, 0, sizeof v);
		mpfr_init2(v.exact, 256);
		for (int r = 0; (row = op_row_at(r)) && st == HU_OK && !v.over; r++) {
			if (!hu_summed_takes(hu_op_find(row->op)))
				continue;
			for (int level = 0; level < LEVELS && st == HU_OK && !v.over; level++, calls++) {
				op_case k;
				st = op_case_init(&k, row, HU_FP32, m % 3 == 2 ? HU_BF16 : HU_FP32, HU_FP32, level,
					m * 100 + (uint64_t)level);
				if (st == HU_OK)
					st = hu_summed_set(&k.c, model(models[m]));
				if (st == HU_OK)
					st = op_case_emulate(&k, &env);
				for (int j = 0; j < k.c.nout && st == HU_OK && !v.over; j++) {
					st = judge_output(&k, j, &v);
					if (v.over)
						snprintf(v.what, sizeof v.what, "%s (%s), level %d, output %d", row->op,
							row->attrs, level, j);
				}
				op_case_release(&k);
			}
		}
		if (!ok(st == HU_OK && !v.over && v.infinite * 2 < v.judged,
			    "%s: %zu elements of %d reductions within their bounds (worst %.3f, %zu without one)",
			    models[m], v.judged, calls, v.worst, v.infinite))
			diag("%s; element %zu is %a, bound %a; %s", v.what, v.at, v.got, v.bound,
				st == HU_OK ? "" : hu_reason());
		mpfr_clear(v.exact);
	}
}

/* The sums of 30000 ones and of the columns of ones: 256 in bf16 in sequence, whatever the number of threads. */
static void
test_known(void)
{
	static const op_row rows[] = { { "reduce_sum", "", "x:3x30000", "x" }, { "bias_db", "", "x:30000x3", "x" } };

	for (int r = 0; r < 2; r++)
		for (int threads = 1; threads <= 3; threads++) {
			op_case k;
			int good = op_case_init(&k, &rows[r], HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) == HU_OK;
			hu_threads_set(threads);
			for (size_t i = 0; i < k.in[0].n; i++)
				hu_put(&k.in[0], i, 1);
			good = good && hu_summed_set(&k.c, model("sequential,acc=bf16")) == HU_OK &&
			       op_case_emulate(&k, &env) == HU_OK && k.out[0].n;
			for (size_t i = 0; i < k.out[0].n; i++)
				good &= hu_get(&k.out[0], i) == 256;
			ok(good, "%s of ones stops at 256 in a bf16 accumulator, with %d threads", rows[r].op, threads);
			op_case_release(&k);
		}
	hu_threads_set(0);
}

/* The sum of column I of x, of rows of that many COLUMNS, by the model's own arithmetic, one term after another. */
static double
column(const op_case *k, size_t image, size_t rows, size_t columns, size_t i)
{
	double *x = hu_xmalloc(rows * sizeof *x), *one = hu_xmalloc(rows * sizeof *one);

	for (size_t r = 0; r < rows; r++) {
		x[r] = hu_get(&k->in[0], (image * rows + r) * columns + i);
		one[r] = 1;
	}
	double sum = hu_model_run(x, one, rows, k->c.sum, NULL, NULL);
	free(x);
	free(one);
	return sum;
}

/* Accumulators of float32, whose columns are added all at once: the bits of each column by itself. */
static void
test_columns(void)
{
	static const op_row rows[] = { { "reduce_sum", "axis=1", "x:3x700x8", "f" },
		{ "reduce_sum", "axis=1", "x:2x3x600", "f" }, { "reduce_sum", "axis=1", "x:5x77x1", "f" } };
	static const size_t size[][3] = { { 3, 700, 8 }, { 2, 3, 600 }, { 5, 77, 1 } };
	static const char *const models[] = { "fma", "sequential" };

	for (int i = 0; i < 3 * 2 * 2; i++) {
		hu_format_id f = i % 2 ? HU_FP64 : HU_FP32;
		const char *by = models[i / 2 % 2];
		int r = i / 4, differ = 0;
		for (int level = 0; level < LEVELS; level++) {
			op_case k;
			hu_status st = op_case_init(&k, &rows[r], f, f, HU_FP32, level, (uint64_t)(i * 10 + level));
			if (st == HU_OK)
				st = hu_summed_set(&k.c, model(by));
			/* 1 and a little more than half an ulp, which a double beside 1 does not hold. */
			for (size_t j = 0; st == HU_OK && j < 2 * size[r][2] && level == LEVEL_MILD; j++)
				hu_put(&k.in[0], j, j < size[r][2] ? 1 : 0x1p-24 + 0x1p-76);
			if (st != HU_OK || op_case_emulate(&k, &env) != HU_OK)
				bail_out("%s", hu_reason());
			for (size_t at = 0; at < k.out[0].n; at++) {
				size_t c = size[r][2];
				float want = (float)column(&k, at / c, size[r][1], c, at % c),
				      got = (float)hu_get(&k.out[0], at);
				differ += memcmp(&want, &got, sizeof want) && (want == want || got == got);
			}
			op_case_release(&k);
		}
		if (!ok(!differ, "%s of %s, %s: all columns at once have the bits of each alone", by, rows[r].in,
			    hu_format_name(f)))
			diag("%d elements differ", differ);
	}
}

static void
test_refuses(void)
{
	op_row row = { "reduce_sum", "", "x:3x5", "x" }, other = { "relu", "", "x:3x5", "x" };
	op_case k;

	op_case_init(&k, &row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1);
	ok(hu_summed_set(&k.c, model("tc:ampere,in=fp16")) == HU_EINVAL && strstr(hu_reason(), "tensor cores"),
		"tensor cores are refused: %s", hu_reason());
	ok(hu_summed_set(&k.c, model("fma,acc=bf16,mode=SR")) == HU_EINVAL && strstr(hu_reason(), "random bits"),
		"stochastic rounding is refused: %s", hu_reason());
	op_case_release(&k);
	op_case_init(&k, &other, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1);
	ok(hu_summed_set(&k.c, model("fma")) == HU_EINVAL && strstr(hu_reason(), "relu adds nothing"),
		"what adds nothing is refused: %s", hu_reason());
	op_case_release(&k);
}

int
main(void)
{
	test_takes();
	test_known();
	test_columns();
	test_refuses();
	test_bounds();
	done_testing();
}
