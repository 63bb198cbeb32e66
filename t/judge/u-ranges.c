/* SPDX-License-Identifier: Apache-2.0
   Every operator that can be cut, over the cases of op-cases.def: outputs that are judged a range of elements, or of
   columns, at a time, as tiles of analyze are, get the verdicts of the whole, as many of each kind; so do exact doubles
   and counts of swamped additions, and products in tiles of rows and columns. The operators that cannot be cut are
   listed here. */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/judge/exact.h"
#include "lib/op/contract/contract.h"
#include "lib/op/sink.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of these no case is cut: they have a value that all elements go into (a norm, a check, the sum of weights), an
   arithmetic of their own, or one element. */
static const char *const whole[] = { "matmul_pairs16", "conv2d_pairs16", "attention", "attention_dx",
	"grad_norm", "finite_check", "sigmoid_xent_dx", "scale_update", "delayed_scale", "map_cast", "adam_clock",
	"lr_schedule", NULL };

/* Products that are wide enough for tiles of some columns, with short sums and with such as are packed in two
   stretches. */
static const op_row wide[] = {
	{ "matmul", "", "x:20x30 x:30x70", "x" },
	{ "matmul", "ta=1 part=16", "x:40x30 x:40x70", "x" },
	{ "matmul", "tb=1", "x:20x30 x:70x30", "x" },
	{ "matmul", "", "x:9x4200 x:4200x70", "x" },
	{ "conv2d", "padding=1", "x:1x5x6x3 x:3x3x3x70", "x" },
	{ "conv2d_dx", "stride=2 padding=1 height=7 width=6", "x:1x4x3x4 x:3x3x70x4", "x:1x7x6x70" },
	{ "conv2d_dw", "padding=1 kh=3 kw=3", "x:1x5x6x3 x:1x5x6x70", "x:3x3x3x70" },
	{ NULL, NULL, NULL, NULL },
};

static int
is_whole(const char *name)
{
	for (int i = 0; whole[i]; i++)
		if (!strcmp(whole[i], name))
			return 1;
	return 0;
}

/* How the largest output is cut: a number of regions, each of `step` elements, or columns where row is not 0; or a
   product's tiles. */
typedef struct cutting { size_t n, step, row; hu_contract_tiles product; int count; } cutting;

/* Cuts the case into no more than about forty regions of `several` grains or more. A product's tiles have few rows and,
   where it has one batch, few columns, as if packing took long. count is 1 where the case is not cut. */
static cutting
cut_case(const op_case *k, size_t several)
{
	cutting x = { 0, 0, 0, { 0 }, 1 };
	hu_shape in[16];

	for (int i = 0; i < k->c.nout; i++)
		x.n = k->out[i].n > x.n ? k->out[i].n : x.n;
	for (int i = 0; i < k->c.nin; i++)
		in[i] = k->in[i].shape;
	size_t grain = hu_op_grain(&k->c, in, &x.row), all = x.row ? x.row : x.n;
	if (grain) {
		x.step = several * (all / 40 / grain + 1) * grain;
		x.count = all > x.step ? (int)((all + x.step - 1) / x.step) : 1;
	} else {
		hu_cost cost = { .macs = 0 };
		HU_COLUMN(k->c.op, cost)(&k->c, in, NULL, &cost);
		x.count = hu_contract_tile(
			&x.product, &k->c, in, cost.macs * (double)several / 12, several == 1 ? 1e6 : 0);
	}
	return x;
}

static hu_region
region(const cutting *x, int i)
{
	size_t all = x->row ? x->row : x->n, first = (size_t)i * x->step,
	       last = first + x->step < all ? first + x->step : all;

	if (x->product.step)
		return hu_contract_region(&x->product, i);
	return x->row ? (hu_region){ 0, x->n, x->row, first, last } : (hu_region){ first, last, 0, 0, 0 };
}

/* The share of output out that belongs to region i of the largest output (hu_analysis_part). */
static hu_region
share(const op_case *k, const cutting *x, int i, int out)
{
	size_t all = x->n, n = k->out[out].n, each = n && all % n == 0 ? all / n : 0;
	hu_region r = region(x, i);

	if (n == all)
		return r;
	if (r.row && n == r.row)
		return (hu_region){ r.left, r.right, 0, 0, 0 };
	if (each && !r.row)
		return (hu_region){ r.first / each, r.last / each, 0, 0, 0 };
	return (hu_region){ 0, i ? 0 : n, 0, 0, 0 };
}

static int
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static const char *engine_name = "auto";

typedef struct tally { size_t ranges, columns, values, differ, bounds, methods, swamp, doubles; } tally;

/* Compares the verdicts of one region of the whole. */
static void
compare(tally *t, const hu_judged *all, const hu_judged *some, hu_region r)
{
	for (size_t i = 0; i < some->n; i++) {
		size_t k = hu_region_element(r, i);
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
judge(const op_case *k, int out, hu_region some, hu_memo **memo, hu_judged **j)
{
	const hu_engine *engine;

	HU_TRY(hu_engine_find(engine_name, &engine));
	hu_judge_job job = { .engine = engine, .c = &k->c, .in = k->pin, .out = out, .got = &k->out[out],
		.n = k->out[out].n, .some = some, .seed = 5, .memo = memo };
	return hu_judged_new(&job, j);
}

static hu_status
swamping(const op_case *k, int out, hu_region some, const hu_env *env, hu_swamp *s)
{
	size_t n = hu_region_count(some), *element = hu_xmalloc((n + 1) * sizeof *element);

	for (size_t i = 0; i < n; i++)
		element[i] = hu_region_element(some, i);
	hu_status st = HU_COLUMN(k->c.op, swamping)
			       ? HU_COLUMN(k->c.op, swamping)(&k->c, k->pin, out, element, n, env, s)
			       : HU_OK;
	free(element);
	return st;
}

/* The regions against the whole call. */
static hu_status
cut(const op_case *k, const cutting *x, const hu_env *env, tally *t)
{
	hu_judged *all[8] = { NULL };
	hu_swamp counted[8], joined[8];
	hu_methods methods[8];
	hu_status st = HU_OK;

	memset(counted, 0, sizeof counted);
	memset(joined, 0, sizeof joined);
	memset(methods, 0, sizeof methods);
	for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
		st = judge(k, out, (hu_region){ 0, 0, 0, 0, 0 }, NULL, &all[out]);
		if (st == HU_OK)
			st = swamping(k, out, (hu_region){ 0, k->out[out].n, 0, 0, 0 }, env, &counted[out]);
	}
	for (int i = 0; i < x->count && st == HU_OK; i++) {
		hu_memo *memo = NULL;
		t->ranges++;
		t->columns += region(x, i).row != 0;
		for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
			hu_judged *some = NULL;
			hu_region mine = share(k, x, i, out);
			if (!hu_region_count(mine))
				continue;
			st = judge(k, out, mine, &memo, &some);
			if (st == HU_OK) {
				compare(t, all[out], some, mine);
				hu_methods_add(&methods[out], &some->methods);
				st = swamping(k, out, mine, env, &joined[out]);
			}
			hu_judged_free(some);
		}
		if (memo)
			memo->release(memo);
	}
	for (int out = 0; out < k->c.nout && st == HU_OK; out++) {
		t->methods += memcmp(&methods[out], &all[out]->methods, sizeof *methods) != 0;
		t->swamp += memcmp(&joined[out], &counted[out], sizeof *joined) != 0;
	}
	for (int out = 0; out < k->c.nout; out++)
		hu_judged_free(all[out]);
	return st;
}

static void
ignore(void *context, const hu_judging *some)
{
	(void)context;
	(void)some;
}

/* Exact doubles of all elements by the enclosures that a judgement of ranges kept, and those of every third element by
   a list, into `some`. */
static hu_status
other_ways(const op_case *k, const hu_tensor *by, const hu_engine *engine, size_t step, const double *all, double *some,
	tally *t)
{
	size_t n = k->out[0].n, *third = hu_xmalloc((n + 1) * sizeof *third), count = 0;
	hu_methods l = { 0, 0, 0, 0 };
	hu_status st = HU_OK;

	for (size_t i = 1; i < n; i += 3)
		third[count++] = i;
	if (count)
		st = hu_exact_doubles_of(some, engine, &k->c, k->pin, 0, by, third, count, &l);
	for (size_t i = 0; i < count && st == HU_OK; i++)
		t->doubles += !same(all[third[i]], some[i]);
	for (size_t first = 0; first < n && st == HU_OK && HU_COLUMN(k->c.op, updates); first += step) {
		hu_region range = { first, n - first < step ? n : first + step, 0, 0, 0 };
		hu_enclosed *kept = hu_enclosed_new(first, hu_region_count(range));
		hu_judge_job job = { .engine = engine, .c = &k->c, .in = k->pin, .got = &k->out[0], .n = n,
			.some = range, .seed = 5, .enclosed = kept, .take = ignore };
		st = hu_judge_each(&job, &l);
		if (st == HU_OK)
			st = hu_exact_doubles_enclosed(some, engine, &k->c, k->pin, 0, by, kept, &l);
		for (size_t i = 0; i < kept->n && st == HU_OK; i++)
			t->doubles += !same(all[first + i], some[i]);
		free(kept);
	}
	free(third);
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
		hu_methods l = { 0, 0, 0, 0 };
		st = hu_exact_doubles(all, engine, &k->c, k->pin, 0, by, 0, n, &l);
		for (size_t first = 0; first < n && st == HU_OK; first += step)
			st = hu_exact_doubles(some + first, engine, &k->c, k->pin, 0, by, first,
				n - first < step ? n - first : step, &l);
		for (size_t i = 0; i < n && st == HU_OK; i++)
			t->doubles += !same(all[i], some[i]);
		if (st == HU_OK)
			st = other_ways(k, by, engine, step, all, some, t);
	}
	free(all);
	return st;
}

/* A range of several grains, so that most calls have more than one range and an incomplete last one. columns: some are
   expected to be of columns. */
static int
walk(const op_row *row, int columns)
{
	static const hu_format_id formats[][3] = { { HU_FP32, HU_FP32, HU_FP32 }, { HU_FP16, HU_FP32, HU_BF16 } };
	tally t = { 0 };
	hu_env env = { 7, 3 };
	hu_status st = HU_OK;
	int can = 0;

	for (int level = 0; level < 2 * LEVELS && st == HU_OK; level++) {
		const hu_format_id *f = formats[level % 2];
		op_case k;
		st = op_case_init(&k, row, f[0], f[1], f[2], level / 2, 40 + (uint64_t)level);
		cutting x = { .count = 1 };
		if (st == HU_OK)
			x = cut_case(&k, level / 2 % 2 ? 3 : 1);
		if (x.count > 1 && (level < 2 || k.in[0].n < 4000)) {
			can = 1;
			st = op_case_emulate(&k, &env);
			if (st == HU_OK)
				st = cut(&k, &x, &env, &t);
			if (st == HU_OK && level < 4 && x.step && !x.row)
				st = doubles(&k, x.step, &t);
		}
		op_case_release(&k);
	}
	if (can || st != HU_OK)
		if (!ok(st == HU_OK && !t.differ && !t.bounds && !t.methods && !t.swamp && !t.doubles && t.ranges > 1 &&
				!(columns && !t.columns),
			    "%s (%s): %zu ranges, %zu of columns, %zu values as of the whole by --engine %s", row->op,
			    row->attrs, t.ranges, t.columns, t.values, engine_name))
			diag("%s; %zu verdicts differ, %zu bounds, %zu methods, %zu counts of swamped additions, %zu "
			     "exact doubles",
				st == HU_OK ? "judged" : hu_reason(), t.differ, t.bounds, t.methods, t.swamp,
				t.doubles);
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
				can |= walk(op_row_at(r), 0);
		for (const op_row *w = wide; w->op; w++)
			if (!strcmp(w->op, name)) {
				can |= walk(w, 1);
				engine_name = "exact";
				walk(w, 1);
				engine_name = "auto";
			}
		if (can == is_whole(name) && hu_op_at(i)->role != HU_ROLE_OPAQUE)
			hu_str_addf(&wrong, " %s", name);
	}
	is_text(wrong.s, "", "operators are cut, but for those that are listed here");
	hu_str_release(&wrong);
	return done_testing();
}
