/* SPDX-License-Identifier: Apache-2.0
   Deep networks in doubles against the same networks by MPFR with 212 bits: every value lies within its bound, with
   cancellation, subnormal numbers, overflow and layers of several kinds. What doubles do not serve for: shallow
   networks, jumps at values that are not exact, other formats, unknown operators. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/doubles/doubles.h"
#include "lib/judge/exact_step.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/op/element/map.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, WIDTH = 24, DEPTH = 40, NETS = 64 };

/* What is built into a network besides products, activations and sums with earlier layers. */
enum { PLAIN, CANCELS, UNDERFLOWS, OVERFLOWS, NORMS, SHARES, TWISTS };

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
apply(hu_program *p, const char *op, const int *in, int nin, const char *what, int i)
{
	char name[40];

	snprintf(name, sizeof name, "%s%d.y", what, i);
	return hu_program_apply(p, op, HU_FORWARD, name, in, nin, name, HU_FP32, HU_ACTIVATION, NULL, 0);
}

static int
apply2(hu_program *p, const char *op, int a, int b, const char *what, int i)
{
	return apply(p, op, (int[]){ a, b }, 2, what, i);
}

/* Adds to a layer what this kind of network has. */
static int
twist(hu_program *p, int kind, int x, int y, int i)
{
	static const char *const more[] = { "silu", "softplus", "mish", "elu", "sin", "hardswish" };
	int third = i == DEPTH / 3, half = i == DEPTH / 2;

	if (kind == CANCELS && i % 5 == 1) /* what is left of y is far below y */
		return apply2(p, "sub", apply2(p, "add", y, hu_program_find(p, "big.y"), "up", i),
			hu_program_find(p, "big.y"), "down", i);
	if (kind == UNDERFLOWS && (third || half))
		return apply2(p, "mul", y, hu_program_find(p, third ? "tiny.y" : "huge.y"), "scale", i);
	if (kind == OVERFLOWS && i == DEPTH - 1)
		return apply2(p, "mul", apply2(p, "mul", y, hu_program_find(p, "huge.y"), "scale", i),
			hu_program_find(p, "huge.y"), "beyond", i);
	if (kind == NORMS && i % 3 == 2)
		return apply(p, "layernorm",
			(int[]){ y, hu_program_find(p, "gamma.w"), hu_program_find(p, "beta.b") }, 3, "norm", i);
	if (kind == SHARES && i % 4 == 3)
		return apply2(p, "add", apply(p, "softmax", &y, 1, "share", i), x, "and", i);
	return kind == TWISTS ? apply(p, more[i % 6], &y, 1, "twist", i) : y;
}

static hu_program *
network(int kind, int depth)
{
	static const char *const act[] = { "relu", "tanh", "gelu", "sigmoid" };
	hu_program *p = hu_program_new("deep");
	int x = constant(p, "x.y", ROWS, WIDTH);
	char name[40];

	constant(p, "big.y", ROWS, WIDTH);
	constant(p, "tiny.y", ROWS, WIDTH);
	constant(p, "huge.y", ROWS, WIDTH);
	constant(p, "gamma.w", WIDTH, 0);
	constant(p, "beta.b", WIDTH, 0);
	for (int i = 0; i < depth; i++) {
		snprintf(name, sizeof name, "w%d.w", i);
		int w = constant(p, name, WIDTH, WIDTH), y = apply2(p, "matmul", x, w, "product", i);
		y = twist(p, kind, x, y, i);
		if (i < depth - 1)
			y = apply(p, act[(i + kind) % (kind == UNDERFLOWS ? 1 : 4)], &y, 1, "act", i);
		int alone = i == depth - 1 || (kind == UNDERFLOWS && i >= DEPTH / 3);
		x = i % 2 && !alone ? apply2(p, "add", x, y, "sum", i) : y;
	}
	return p;
}

static void
fill(hu_exec *x, uint64_t seed)
{
	if (hu_exec_init(x, x->p))
		bail_out("%s", hu_reason());
	for (int i = 0; i < x->p->nt; i++) {
		const char *name = x->p->t[i].name;
		double size = *name == 'w' ? sqrt(3.0 * 1.6 / WIDTH) : 1;
		for (size_t k = 0; x->p->t[i].producer < 0 && k < x->t[i].n; k++)
			((float *)x->t[i].data)[k] = !strcmp(name, "tiny.y")   ? 0x1p-130F
						     : !strcmp(name, "huge.y") ? 0x1p126F
						     : !strcmp(name, "big.y")  ? 4097.0F
									       : (float)(draw(&seed) * size);
	}
	if (hu_exec_run(x, &(hu_env){ 0, 0 }))
		bail_out("%s", hu_reason());
}

typedef struct found {
	size_t values, outside, unknown, wide;
	double premise;
} found;

/* Compares the last tensor with MPFR's. premise: the largest error of doubles beside float32's, at most. */
static void
compare(found *f, const hu_exec *run, double *const *value, double *const *off)
{
	hu_program *q = hu_exact_step_program(run->p);
	int id = run->p->nt - 1;
	const hu_engine *engine;
	hu_exact_step many;
	double most = 0, single = 0, bound = 0, largest = 0;
	mpfr_t x, d;

	mpfr_inits2(400, x, d, (mpfr_ptr)NULL);
	hu_engine_find("auto", &engine);
	hu_exact_step_init(&many, q, run->t, engine, 1, HU_STEP_FOUR);
	if (hu_exact_step_begin(&many))
		bail_out("%s", hu_reason());
	for (int i = 0; i < q->nc; i++)
		if (hu_exact_step_call(&many, i))
			bail_out("%s", hu_reason());
	for (size_t i = 0; i < run->t[id].n; i++) {
		hu_exact_get(x, &many.t[id], i);
		mpfr_sub_d(d, x, value[id][i], MPFR_RNDN);
		double away = fabs(mpfr_get_d(d, MPFR_RNDA)), e = off[id][i];
		mpfr_sub_d(d, x, hu_get(&run->t[id], i), MPFR_RNDN);
		single = fmax(single, fabs(mpfr_get_d(d, MPFR_RNDA)));
		most = fmax(most, away);
		f->values++;
		f->unknown += !(e < INFINITY);
		f->outside += !(away <= e);
		bound = e;
		largest = fmax(largest, fabs(value[id][i]));
	}
	f->wide += bound < INFINITY && bound > ldexp(1, 1 - HU_DOUBLES_AGREE) * single && bound > 0x1p-40 * largest;
	if (single < INFINITY && single > 0)
		f->premise = fmax(f->premise, most / single);
	mpfr_clears(x, d, (mpfr_ptr)NULL);
	hu_exact_step_release(&many);
	hu_program_free(q);
}

static void
done(hu_exec *run, char *keep)
{
	hu_program *p = (hu_program *)(size_t)run->p;

	hu_exec_release(run);
	hu_program_free(p);
	free(keep);
}

static char *
last(const hu_program *p)
{
	char *keep = hu_xcalloc((size_t)p->nt + 1, 1);

	keep[p->nt - 1] = 1;
	return keep;
}

/* Networks of a kind on drawn weights, each on two inputs: the second is set into the program that the first used. */
static found
networks(int kind)
{
	found f = { .values = 0 };

	for (uint64_t seed = 0; seed < NETS / 7; seed++) {
		hu_exec run = { .p = network(kind, DEPTH) };
		char *keep = last(run.p);
		hu_doubles d;
		fill(&run, seed * 16 + (uint64_t)kind);
		if (!hu_doubles_serve(run.p, keep))
			bail_out("a deep network is not served");
		if (hu_doubles_open(&d, run.p, run.t, keep))
			bail_out("%s", hu_reason());
		for (int again = 0; again < 2; again++) {
			double **value, **off;
			uint64_t state = seed + 99;
			for (size_t k = 0; again && k < run.t[0].n; k++)
				((float *)run.t[0].data)[k] = (float)draw(&state);
			if (again && hu_exec_run(&run, &(hu_env){ 0, 0 }))
				bail_out("%s", hu_reason());
			hu_doubles_set(&d, 0, &run.t[0]);
			if (hu_doubles_run(&d, run.t, &value, &off))
				bail_out("%s", hu_reason());
			compare(&f, &run, value, off);
			hu_room_free(value[run.p->nt - 1]);
			hu_room_free(off[run.p->nt - 1]);
			free(value);
			free(off);
		}
		hu_doubles_release(&d);
		done(&run, keep);
	}
	return f;
}

/* Whether doubles serve for a deep network to which an operator of one or two operands is added in the middle: of a
   computed tensor, or of an input. */
static int
serves(const char *op, int two, int exact, hu_format_id format)
{
	hu_program *p = network(PLAIN, DEPTH);
	int x = hu_program_find(p, exact ? "x.y" : "product9.y"), y = p->nt - 1;

	p->t[hu_program_find(p, "product5.y")].format = format;
	if (op) {
		x = two ? apply2(p, op, x, hu_program_find(p, "big.y"), "odd", 0) : apply(p, op, &x, 1, "odd", 0);
		y = apply2(p, "add", x, y, "end", 0);
	}
	char *keep = last(p);
	int served = hu_doubles_serve(p, keep);
	free(keep);
	hu_program_free(p);
	return served;
}

/* The same where a mask chooses between two tensors. */
static int
chooses(int exact, int compared)
{
	hu_program *p = network(PLAIN, DEPTH);
	int m = hu_program_find(p, exact ? "x.y" : "product9.y"), y = p->nt - 1;

	if (compared)
		m = apply2(p, "less", m, hu_program_find(p, "big.y"), "mask", 0);
	apply(p, "where", (int[]){ m, y, hu_program_find(p, "product8.y") }, 3, "end", 0);
	char *keep = last(p);
	int served = hu_doubles_serve(p, keep);
	free(keep);
	hu_program_free(p);
	return served;
}

int
main(void)
{
	static const char *const kind[] = { "activations", "cancellation", "subnormal numbers", "overflow",
		"layer norms", "softmax", "other functions" };
	hu_program *shallow = network(PLAIN, 8), *deep = network(PLAIN, DEPTH);
	char *keep = last(shallow);

	plan(15);
	for (int k = PLAIN; k <= TWISTS; k++) {
		found f = networks(k);
		int all_known = k == OVERFLOWS ? f.unknown > 0 : !f.unknown;
		ok(!f.outside && all_known && !f.wide && f.premise < ldexp(1, -HU_DOUBLES_AGREE - 6),
			"%s: %zu values in doubles, %zu without a bound, %zu outside; errors at most 2^%.1f of "
			"float32's",
			kind[k], f.values, f.unknown, f.outside, log2(f.premise));
	}
	ok(!hu_doubles_serve(shallow, keep), "doubles do not serve for a network of 8 layers");
	free(keep);
	keep = hu_xcalloc((size_t)deep->nt + 1, 1);
	keep[deep->nt - 1] = keep[hu_program_find(deep, "product2.y")] = 1;
	ok(!hu_doubles_serve(deep, keep), "nor for one of which an output is shallow");
	free(keep);
	hu_program_free(shallow);
	hu_program_free(deep);
	ok(serves(NULL, 0, 0, HU_FP32) && !serves(NULL, 0, 0, HU_FP16) && !serves(NULL, 0, 0, HU_FP64),
		"nor where a tensor has another format than float32");
	ok(serves("round", 0, 1, HU_FP32) && !serves("round", 0, 0, HU_FP32), "nor for rounding what is not exact");
	ok(serves("less", 1, 1, HU_FP32) && !serves("less", 1, 0, HU_FP32), "nor for comparing it");
	ok(serves("sqrt", 0, 1, HU_FP32) && !serves("sqrt", 0, 0, HU_FP32) && !serves("log", 0, 0, HU_FP32) &&
			serves("div", 1, 0, HU_FP32),
		"nor for roots and logarithms of it, but for its quotients by constants");
	ok(!serves("atan2", 1, 1, HU_FP32), "nor where an operator is not known to be continuous");
	ok(chooses(1, 1) && !chooses(0, 1) && !chooses(0, 0), "nor for choosing by it");
	return done_testing();
}
