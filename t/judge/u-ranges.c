/* SPDX-License-Identifier: Apache-2.0
   Every operator that can be cut, over the cases of op-cases.def: outputs that are judged a range at a time, as tiles
   of analyze are, get the verdicts of the whole, as many of each kind; so do exact doubles and counts of swamped
   additions. The operators that cannot be cut are listed here. */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/judge/exact.h"
#include "lib/op/sink.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of these no case is cut. Products are cut by hu_contract_cut; the others have a value that all elements go into (a
   norm, a check, a loss, a channel's statistics, a scale), sums whose terms are only found by going through all, or one
   element. */
static const char *const whole[] = { "matmul", "matmul_pairs16", "conv2d", "conv2d_dx", "conv2d_dw", "conv2d_pairs16",
	"batchnorm", "batchnorm_dx", "grad_norm", "finite_check", "softmax_xent", "sigmoid_xent", "sigmoid_xent_dx",
	"scale_update", "adam_clock", "lr_schedule", NULL };

static int
is_whole(const char *name)
{
	for (int i = 0; whole[i]; i++)
		if (!strcmp(whole[i], name))
			return 1;
	return 0;
}

static size_t
grain_of(const op_case *k)
{
	hu_shape in[16];

	for (int i = 0; i < k->c.nin; i++)
		in[i] = k->in[i].shape;
	return HU_COLUMN(k->c.op, grain) ? HU_COLUMN(k->c.op, grain)(&k->c, in) : 0;
}

/* The share of output out that belongs to elements first to last-1 of output 0 (hu_analysis_part). */
static void
share(const op_case *k, int out, size_t first, size_t last, size_t *from, size_t *to)
{
	size_t all = k->out[0].n, n = k->out[out].n, each = n && all % n == 0 ? all / n : 0;

	*from = each ? first / each : 0;
	*to = each ? last / each : first ? 0 : n;
}

static int
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

typedef struct tally { size_t ranges, values, differ, bounds, ladder, swamp, doubles; } tally;

/* Compares the verdicts of one range, which begins at element `first` of the whole. */
static void
compare(tally *t, const hu_judged *all, const hu_judged *some, size_t first)
{
	for (size_t i = 0; i < some->n; i++) {
		size_t k = first + i;
		t->values++;
		t->differ += some->element[i] != k || !same(some->got[i], all->got[k]) ||
			     !same(some->exact[i], all->exact[k]) || !same(some->error[i], all->error[k]) ||
			     !same(some->ulps[i], all->ulps[k]) || some->over[i] != all->over[k] ||
			     !same(some->magnitude[i], all->magnitude[k]);
		/* a sum over some columns adds its magnitudes in other blocks */
		double a = some->bound[i], b = all->bound[k];
		t->bounds += !(same(a, b) || fabs(a - b) <= 0x1p-40 * fabs(b));
	}
}

static hu_status
judge(const op_case *k, int out, size_t first, size_t last, hu_memo **memo, hu_judged **j)
{
	const hu_engine *engine;

	HU_TRY(hu_engine_find("auto", &engine));
	hu_judge_job job = { .engine = engine, .c = &k->c, .in = k->pin, .out = out, .got = &k->out[out],
		.n = k->out[out].n, .first = first, .last = last, .seed = 5, .memo = memo };
	return hu_judged_new(&job, j);
}

static hu_status
swamping(const op_case *k, int out, size_t first, size_t last, const hu_env *env, hu_swamp *s)
{
	size_t *element = hu_xmalloc((last - first + 1) * sizeof *element);

	for (size_t i = first; i < last; i++)
		element[i - first] = i;
	hu_status st = HU_COLUMN(k->c.op, swamping)
			       ? HU_COLUMN(k->c.op, swamping)(&k->c, k->pin, out, element, last - first, env, s)
			       : HU_OK;
	free(element);
	return st;
}

/* The ranges of `step` elements of output 0 against the whole call. */
static hu_status
cut(const op_case *k, size_t step, const hu_env *env, tally *t)
{
	hu_judged *all[8] = { NULL };
	hu_swamp counted[8], joined[8];
	hu_ladder ladder[8];
	hu_status st = HU_OK;

	memset(counted, 0, sizeof counted);
	memset(joined, 0, sizeof joined);
	memset(ladder, 0, sizeof ladder);
	for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
		st = judge(k, out, 0, 0, NULL, &all[out]);
		if (st == HU_OK)
			st = swamping(k, out, 0, k->out[out].n, env, &counted[out]);
	}
	for (size_t first = 0; first < k->out[0].n && st == HU_OK; first += step) {
		size_t last = k->out[0].n - first < step ? k->out[0].n : first + step, from, to;
		hu_memo *memo = NULL;
		t->ranges++;
		for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
			hu_judged *some = NULL;
			share(k, out, first, last, &from, &to);
			if (from == to)
				continue;
			st = judge(k, out, from, to, &memo, &some);
			if (st == HU_OK) {
				compare(t, all[out], some, from);
				hu_ladder_add(&ladder[out], &some->ladder);
				st = swamping(k, out, from, to, env, &joined[out]);
			}
			hu_judged_free(some);
		}
		if (memo)
			memo->release(memo);
	}
	for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
		t->ladder += memcmp(&ladder[out], &all[out]->ladder, sizeof *ladder) != 0;
		t->swamp += memcmp(&joined[out], &counted[out], sizeof *joined) != 0;
	}
	for (int out = 0; out < k->c.nout; out++)
		hu_judged_free(all[out]);
	return st;
}

/* Exact doubles of output 0 in ranges, and of updates the exact steps. */
static hu_status
doubles(const op_case *k, size_t step, tally *t)
{
	size_t n = k->out[0].n;
	double *all = hu_xcalloc(2 * n + 1, sizeof *all), *some = all + n;
	hu_status st = HU_OK;
	const hu_engine *engine;

	hu_engine_find("auto", &engine);
	for (int minus = 0; minus < 1 + (HU_COLUMN(k->c.op, updates) != NULL) && st == HU_OK; minus++) {
		const hu_tensor *by = minus ? &k->in[0] : NULL;
		hu_ladder l = { 0, 0, 0, 0 };
		st = hu_exact_doubles(all, engine, &k->c, k->pin, 0, by, 0, n, &l);
		for (size_t first = 0; first < n && st == HU_OK; first += step)
			st = hu_exact_doubles(some + first, engine, &k->c, k->pin, 0, by, first,
				n - first < step ? n - first : step, &l);
		for (size_t i = 0; i < n && st == HU_OK; i++)
			t->doubles += !same(all[i], some[i]);
	}
	free(all);
	return st;
}

/* A range of several grains, so that most calls have more than one range and an incomplete last one. */
static int
walk(const op_row *row)
{
	static const hu_format_id formats[][3] = { { HU_FP32, HU_FP32, HU_FP32 }, { HU_FP16, HU_FP32, HU_BF16 } };
	static const size_t grains[] = { 1, 3 };
	tally t = { 0 };
	hu_env env = { 7, 3 };
	hu_status st = HU_OK;
	int can = 0;

	for (int level = 0; level < 2 * LEVELS && st == HU_OK; level++) {
		const hu_format_id *f = formats[level % 2];
		op_case k;
		st = op_case_init(&k, row, f[0], f[1], f[2], level / 2, 40 + (uint64_t)level);
		size_t grain = st == HU_OK ? grain_of(&k) : 0, n = k.out[0].n;
		if (st == HU_OK && grain && grain < n && (level < 2 || k.in[0].n < 4000)) {
			can = 1;
			size_t least = n / 40 / grain + 1;   /* no more than forty ranges */
			st = op_case_emulate(&k, &env);
			if (st == HU_OK)
				st = cut(&k, grains[level / 2 % 2] * least * grain, &env, &t);
			if (st == HU_OK && level < 4)
				st = doubles(&k, 2 * least * grain, &t);
		}
		op_case_release(&k);
	}
	if (can || st != HU_OK)
		if (!ok(st == HU_OK && !t.differ && !t.bounds && !t.ladder && !t.swamp && !t.doubles && t.ranges > 1,
			    "%s (%s): %zu ranges, %zu values as of the whole", row->op, row->attrs, t.ranges, t.values))
			diag("%s; %zu verdicts differ, %zu bounds, %zu ladders, %zu counts of swamped additions, %zu "
			     "exact doubles",
				st == HU_OK ? "judged" : hu_reason(), t.differ, t.bounds, t.ladder, t.swamp, t.doubles);
	return can;
}

int
main(int argc, char **argv)
{
	hu_str wrong;

	hu_str_init(&wrong);
	for (int i = 0; hu_op_at(i); i++) {
		const char *name = hu_op_at(i)->name;
		int can = 0;
		if (argc > 1 && strcmp(argv[1], name))
			continue;
		for (int r = 0; op_row_at(r); r++)
			if (!strcmp(op_row_at(r)->op, name))
				can |= walk(op_row_at(r));
		if (can == is_whole(name))
			hu_str_addf(&wrong, " %s", name);
	}
	is_text(wrong.s, "", "operators are cut, but for those that are listed here");
	hu_str_release(&wrong);
	return done_testing();
}
