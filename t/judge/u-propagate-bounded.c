/* SPDX-License-Identifier: Apache-2.0
   Exact values with bounds of deep programs, against the same programs by MPFR with 212 bits, call by call: every value
   lies within its bound; the bounds stay far below float32's own error where running bounds alone lose every digit; and
   a bound that reaches over a jump is never lowered. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/propagate.h"
#include "lib/judge/exact_step.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/base/hash.h"
#include "lib/op/element/map.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 24, DEPTH = 48, BRANCHES = 4 };

static double
draw(uint64_t *state)
{
	*state = hu_mix64(*state + 0x9e3779b97f4a7c15);
	return (double)(*state >> 11) * 0x1p-52 - 1;
}

static int
constant(hu_program *p, const char *name, size_t a, size_t b)
{
	return hu_program_tensor(p, name, HU_FP32, b ? hu_shape2(a, b) : hu_shape1(a), HU_WEIGHT);
}

static int
apply(hu_program *p, const char *op, int a, int b, const char *name)
{
	int in[] = { a, b };

	return hu_program_apply(p, op, HU_FORWARD, name, in, b < 0 ? 1 : 2, name, HU_FP32, HU_ACTIVATION, NULL, 0);
}

/* DEPTH layers of a product and an activation, every other one added to what came before; before the last ones a
   division and its inverse, and if jump a rounding to whole numbers. */
static hu_program *
deep(int jump)
{
	hu_program *p = hu_program_new("deep");
	int x = constant(p, "x.y", ROWS, WIDTH);
	char name[40];

	for (int i = 0; i < DEPTH; i++) {
		snprintf(name, sizeof name, "w.%d", i);
		int w = constant(p, name, WIDTH, WIDTH);
		snprintf(name, sizeof name, "product.%d", i);
		int y = apply(p, "matmul", x, w, name);
		snprintf(name, sizeof name, "act.%d", i);
		y = apply(p, i % BRANCHES == 3 ? "tanh" : "relu", y, -1, name);
		snprintf(name, sizeof name, "sum.%d", i);
		x = i % 2 ? apply(p, "add", x, y, name) : y;
		if (jump && i == DEPTH / 2) {
			int third = constant(p, "third.y", ROWS, WIDTH), half = constant(p, "half.y", ROWS, WIDTH);
			/* half / 3 * 3 is a half exactly, and nothing but infinitely many digits tells so */
			int tie = apply(p, "mul", apply(p, "div", half, third, "div.y"), third, "tie.y");
			x = apply(p, "add", x, apply(p, "round", tie, -1, "round.y"), "jumped.y");
		}
	}
	return p;
}

/* The tensors of a float32 run, from weights whose products neither grow nor shrink. */
static void
fill(hu_exec *x, uint64_t seed)
{
	if (hu_exec_init(x, x->p))
		bail_out("%s", hu_reason());
	for (int i = 0; i < x->p->nt; i++) {
		const char *name = x->p->t[i].name;
		double size = *name == 'w' ? sqrt(3.0 * 1.6 / WIDTH) : 1;
		for (size_t k = 0; x->p->t[i].producer < 0 && k < x->t[i].n; k++)
			((float *)x->t[i].data)[k] = !strcmp(name, "third.y")  ? 3
						     : !strcmp(name, "half.y") ? (float)(0.5 + 3 * (double)(k % 5))
									       : (float)(draw(&seed) * size);
	}
	if (hu_exec_run(x, &(hu_env){ 0, 0 }))
		bail_out("%s", hu_reason());
}

typedef struct found {
	size_t values, outside, wide, unknown;
	double premise, widest;
} found;

/* Compares tensor id with MPFR's. premise: the largest error of pairs of doubles in a tensor beside float32's largest
   error in it; widest: the same of the bounds. */
static void
compare(found *f, const hu_exact_step *many, const hu_exact_step *two, const hu_exec *run, int id, const double *value,
	const double *off)
{
	mpfr_t x;
	double most = 0, error = 0, own = 0;

	mpfr_init2(x, 400);
	for (size_t i = 0; i < run->t[id].n; i++) {
		hu_exact_get(x, &many->t[id], i);
		mpfr_sub_d(x, x, value[i], MPFR_RNDN);
		double d = fabs(mpfr_get_d(x, MPFR_RNDA));
		f->values++;
		f->unknown += !(off[i] < INFINITY);
		f->outside += !(d <= off[i] * (1 + 0x1p-40));
		hu_exact_get(x, &many->t[id], i);
		mpfr_sub_d(x, x, hu_get(&two->t[id], i), MPFR_RNDN);
		mpfr_sub_d(x, x, two->t[id].low ? two->t[id].low[i] : 0, MPFR_RNDN);
		own = fmax(own, fabs(mpfr_get_d(x, MPFR_RNDA)));
		most = fmax(most, off[i]);
		error = fmax(error, fabs(hu_get(&run->t[id], i) - value[i]));
	}
	f->wide += most > 0x1p-10 * error;
	f->widest = fmax(f->widest, error > 0 ? most / error : 0);
	f->premise = fmax(f->premise, error > 0 ? own / error : 0);
	mpfr_clear(x);
}

static found
against_mpfr(const hu_exec *run, const char *keep, const hu_tensor *second, hu_bounding *how)
{
	hu_program *q = hu_exact_step_program(run->p);
	found f = { .values = 0 };
	double **value, **off;
	const hu_engine *engine;
	hu_exact_step many, two;

	hu_engine_find("auto", &engine);
	hu_exact_step_init(&many, q, run->t, engine, 1, HU_STEP_FOUR);
	hu_exact_step_init(&two, q, run->t, engine, 1, HU_STEP_TWO);
	if (hu_propagate_bounded(run->p, run->t, second, engine, 1, keep, &value, &off, how) ||
		hu_exact_step_begin(&many) || hu_exact_step_begin(&two))
		bail_out("%s", hu_reason());
	for (int i = 0; i < q->nc; i++)
		if (hu_exact_step_call(&many, i) || hu_exact_step_call(&two, i))
			bail_out("%s", hu_reason());
	for (int i = 0; i < q->nt; i++) {
		if (keep[i])
			compare(&f, &many, &two, run, i, value[i], off[i]);
		hu_room_free(value[i]);
		hu_room_free(off[i]);
	}
	free(value);
	free(off);
	hu_exact_step_release(&many);
	hu_exact_step_release(&two);
	hu_program_free(q);
	return f;
}

static void
done(hu_exec *run)
{
	hu_program *p = (hu_program *)(size_t)run->p;

	hu_exec_release(run);
	hu_program_free(p);
}

/* All tensors that calls make, or the last one alone. */
static char *
kept(const hu_program *p, int last)
{
	char *keep = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nt; i++)
		keep[i] = (char)(p->t[i].producer >= 0 && (!last || i == p->nt - 1));
	return keep;
}

static void
depth(uint64_t seed)
{
	hu_exec run = { .p = deep(0) };
	char *all = kept(run.p, 0), *last = kept(run.p, 1);
	hu_bounding how, alone;

	fill(&run, seed);
	found f = against_mpfr(&run, all, run.t, &how);
	ok(!f.outside && !f.unknown && !f.wide && how.agreed > DEPTH / 2 && !how.jumps,
		"seed %d: %zu values of %d layers lie within their bounds, at most 2^%.1f of float32's error; %zu "
		"products needed the agreement",
		(int)seed, f.values, DEPTH, log2(f.widest), how.agreed);
	ok(f.premise > 0 && f.premise < ldexp(1, -HU_BOUNDED_AGREE - 20),
		"the errors of pairs of doubles are at most 2^%.1f of float32's: more than 20 bits below the bounds",
		log2(f.premise));
	found g = against_mpfr(&run, last, NULL, &alone);
	ok(!g.outside && g.wide == 1 && !alone.agreed,
		"the running bound alone, of the last layer, is right too, but 2^%.1f of float32's error",
		log2(g.widest));
	free(all);
	free(last);
	done(&run);
}

/* A tie that pairs of doubles cannot see is left open up to the end, although float32 and they agree on it. */
static void
jump(uint64_t seed)
{
	hu_exec run = { .p = deep(1) };
	int round = hu_program_find(run.p, "round.y"), end = run.p->nt - 1;
	char *keep = hu_xcalloc((size_t)run.p->nt + 1, 1);
	const hu_engine *engine;
	double **value, **off;
	hu_bounding how;
	size_t open = 0, agree = 0, after = 0;

	fill(&run, seed);
	keep[round] = keep[end] = 1;
	hu_engine_find("auto", &engine);
	if (hu_propagate_bounded(run.p, run.t, run.t, engine, 1, keep, &value, &off, &how))
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < run.t[round].n; i++) {
		open += off[round][i] >= 1;
		agree += value[round][i] == hu_get(&run.t[round], i);
	}
	for (size_t i = 0; i < run.t[end].n; i++)
		after += off[end][i] >= 0x1p-3;
	ok(open == run.t[round].n && agree > 0, "seed %d: %zu of %zu ties are left open, %zu of them agree by chance",
		(int)seed, open, run.t[round].n, agree);
	ok(after == run.t[end].n && how.jumps == 1 && how.agreed > 0,
		"and whatever depends on them keeps a bound that counts the jump: %zu of %zu values", after,
		run.t[end].n);
	for (int i = 0; i < run.p->nt; i++) {
		hu_room_free(value[i]);
		hu_room_free(off[i]);
	}
	free(value);
	free(off);
	free(keep);
	done(&run);
}

/* Products that say that they are as many operations as a step may have that MPFR computes as well. */
static void
costly(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost)
{
	HU_COLUMN(&hu_op_matmul, cost)(c, in, out, cost);
	cost->flops += HU_PROPAGATE_OPERATIONS;
}

static void
told(hu_exec *run, const char *engine_name, hu_errors_step *m, hu_propagation *how)
{
	const hu_engine *engine;
	double **ideal;

	hu_engine_find(engine_name, &engine);
	if (hu_propagate(run->p, run->t, engine, 1, NULL, m, &ideal, how))
		bail_out("%s", hu_reason());
	for (int i = 0; i < run->p->nt; i++)
		hu_room_free(ideal[i]);
	free(ideal);
}

static double
apart(double a, double b)
{
	return a == b ? 0 : fabs(a - b) / fmax(fabs(a), fabs(b));
}

/* The recorded step itself is the second precision: figures of a deep step that is too large for MPFR are MPFR's, and
   where a jump is undecided none are told of what depends on it. */
static void
recorded(uint64_t seed, int jumps)
{
	hu_exec run = { .p = deep(jumps) };
	size_t n = (size_t)run.p->nt, known = 0, all = 0, after = 0;
	hu_errors_step *m = hu_xcalloc(n, sizeof *m), *x = hu_xcalloc(n, sizeof *x);
	int jumped = jumps ? hu_program_find(run.p, "jumped.y") : (int)n;
	hu_propagation how = { 0 }, mpfr = { 0 };
	hu_op many = hu_op_matmul;
	double worst = 0;

	fill(&run, seed);
	told(&run, "mpfr", x, &mpfr);
	many.own.cost = costly;
	for (int i = 0; i < run.p->nc; i++)
		if (run.p->c[i].op == &hu_op_matmul)
			run.p->c[i].op = &many;
	told(&run, "auto", m, &how);
	for (size_t i = 0; i < n; i++) {
		all += run.p->t[i].producer >= 0 && (int)i < jumped && x[i].known;
		after += (int)i >= jumped && m[i].known;
		if (!m[i].known)
			continue;
		known += (int)i < jumped;
		worst = fmax(worst, apart(m[i].rel_normwise, x[i].rel_normwise));
		worst = fmax(worst, apart(m[i].ulp_mean, x[i].ulp_mean));
	}
	/* before the jump stand a division and a product whose ties are open */
	int few = known >= all - (jumps ? 2 : 0) && !after && how.agreed > 10 && !how.by_mpfr;
	ok(few && !(worst > HU_STEP_SETTLED),
		"seed %d: %zu of %zu tensors of a deep recorded step have figures, %zu by agreement, at most %.2g of "
		"themselves off MPFR's; %zu behind an open jump",
		(int)seed, known, all, how.agreed, worst, after);
	free(m);
	free(x);
	done(&run);
}

int
main(void)
{
	depth(1);
	jump(2);
	recorded(1, 0);
	recorded(2, 1);
	return done_testing();
}
