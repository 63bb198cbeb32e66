/* SPDX-License-Identifier: Apache-2.0
   Shares that no double holds: verdicts on rows of softmax with masked scores, with and without MPFR, are the same,
   and only MPFR's engine asks its reference for them. Scores at the limit, a share that was not recorded as 0, and rows
   with infinities are asked for. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/judge.h"
#include "lib/base/mem.h"
#include "lib/judge/verdict/vanishing.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 40, SIZE = 16, N = ROWS * SIZE };

/* Scores of which a third are masked, and their shares as a format has them. */
static void
fill(float *x, void *y, hu_format f)
{
	for (uint32_t i = 0; i < N; i++) {
		uint32_t w = hu_random_at(3, 1, 0, i).w[0];
		x[i] = w % 3 ? (float)(w % 4096) / 512 - 4 : w % 2 ? -1e9f : w % 4 ? -65504 : -7.44e8f;
	}
	for (int r = 0; r < ROWS; r++) {
		double top = -INFINITY, sum = 0;
		for (int i = 0; i < SIZE; i++)
			top = fmax(top, x[r * SIZE + i]);
		for (int i = 0; i < SIZE; i++)
			sum += exp(x[r * SIZE + i] - top);
		for (int i = 0; i < SIZE; i++) {
			double v = hu_round(exp(x[r * SIZE + i] - top) / sum, f, HU_RNE, 0, 0);
			if (f.id == HU_FP64)
				((double *)y)[r * SIZE + i] = v;
			else
				((float *)y)[r * SIZE + i] = (float)v;
		}
	}
}

static hu_judged *
judged(const char *name, const hu_call *c, hu_tensor *const *in, const hu_tensor *got)
{
	const hu_engine *engine;
	hu_judged *j;
	size_t n, *element = hu_sample(1, "y", 0, got->n, 0, &n);

	if (hu_engine_find(name, &engine) != HU_OK ||
		hu_judge(engine, c, in, 0, got, element, n, 0, &j) != HU_OK)
		bail_out("%s", hu_reason());
	return j;
}

static void
rows(hu_format_id id)
{
	static float x[N];
	static double y[N];
	hu_tensor tx = { .format = HU_FP32, .shape = hu_shape2(ROWS, SIZE), .n = N, .data = x },
		  ty = { .format = id, .shape = hu_shape2(ROWS, SIZE), .n = N, .data = y }, *in[1] = { &tx };
	hu_call c = { .op = &hu_op_softmax, .nin = 1, .nout = 1,
		.fmt = { HU_FP32, HU_FP32, HU_FP32, id }, .sum = hu_sum_default() };
	size_t masked = 0, differ = 0;

	fill(x, y, hu_format_of(id));
	x[3] = -2047.9f, x[4] = -2048.1f, x[5] = 4; /* on both sides of the limit below 4, or near it */
	if (id != HU_FP64)
		((float *)y)[4] = 0x1p-24f; /* not a 0 */
	hu_judged *a = judged("auto", &c, in, &ty), *m = judged("mpfr", &c, in, &ty);
	for (size_t i = 0; i < N; i++) {
		hu_ziv v;
		masked += (size_t)hu_ziv_vanishing(&v, &c, in, 0, i);
		differ += a->exact[i] != m->exact[i] || a->error[i] != m->error[i] || a->ulps[i] != m->ulps[i] ||
			  a->over[i] != m->over[i] || a->magnitude[i] != m->magnitude[i];
	}
	is_int((long long)differ, 0, "%s: verdicts are those of MPFR", hu_format_name(id));
	ok(masked > N / 5 && a->methods.oracle + masked <= N + 1 && m->methods.oracle == N,
		"%s: %zu of %d shares vanish, and MPFR is asked for %zu", hu_format_name(id), masked, N,
		a->methods.oracle);
	hu_judged_free(a);
	hu_judged_free(m);
}

int
main(void)
{
	float x[5] = { 0, -2048, -2049, -1e9f, -7.44e8f }, odd[5] = { INFINITY, -1e9f, NAN, -INFINITY, 3 };
	hu_tensor t = { .format = HU_FP32, .shape = hu_shape2(1, 5), .n = 5, .data = x }, *in[1] = { &t };
	hu_call c = { .op = &hu_op_softmax, .nin = 1, .nout = 1 },
		other = { .op = &hu_op_log_softmax, .nin = 1, .nout = 1 };
	int seen = 0, odds = 0, others = 0;
	hu_ziv v;

	for (size_t i = 0; i < 5; i++) {
		seen |= hu_ziv_vanishing(&v, &c, in, 0, i) << i;
		others |= hu_ziv_vanishing(&v, &other, in, 0, i);
	}
	t.data = odd;
	for (size_t i = 0; i < 5; i++)
		odds |= hu_ziv_vanishing(&v, &c, in, 0, i);
	is_int(seen, 12, "shares of scores more than 2048 below the largest vanish where MPFR goes on or says 0");
	ok(!odds && !others, "none does in a row with infinities, or of another operator");
	rows(HU_FP16);
	rows(HU_FP32);
	rows(HU_FP64);
	return done_testing();
}
