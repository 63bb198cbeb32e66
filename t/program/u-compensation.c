/* SPDX-License-Identifier: Apache-2.0
   Which states keep what a rounding loses: on an update with Kahan's compensation, made here by hand, beside states
   that look like one. The factors are Kahan's own (1965): the compensation is subtracted from the next addend. */
#include "lib/base/mem.h"
#include "lib/program/compensation.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 5 };

static int
state(hu_program *p, const char *name, int trainable)
{
	int id = hu_program_tensor(p, name, HU_FP16, hu_shape1(N), HU_WEIGHT);

	p->t[id].state = 1;
	p->t[id].trainable = trainable;
	return id;
}

static int
two(hu_program *p, const char *op, int a, int b, const char *name)
{
	int in[2] = { a, b };

	return hu_program_apply(p, op, HU_UPDATE, "a", in, 2, name, HU_FP16, HU_WEIGHT, NULL, 0);
}

/* One step of an update with compensation, whose parts are computed in another way in each row. */
typedef struct {
	const char *told, *op; /* how y = dw - lost is computed: op of these two, or of its result */
	double y;              /* what w's update multiplies y by */
	double factor;         /* that of lost in w's next value; 0: it is not to be found */
	int trained;           /* what is kept is trained itself */
} way;

static int
apply(hu_program *p, const char *op, const int *in, int nin, const char *name, const hu_attr *a, int na)
{
	return hu_program_apply(p, op, HU_UPDATE, "a", in, nin, name, HU_FP16, HU_WEIGHT, a, na);
}

/* The product of X and a constant, as one call. */
static int
times(hu_program *p, int x, double factor, const char *name)
{
	hu_attr a = { "factor", factor, "" };

	return apply(p, "scale", &x, 1, name, &a, 1);
}

static void
check_way(const way *y)
{
	hu_program *p = hu_program_new("train");
	hu_compensation c;
	int dw = hu_program_tensor(p, "a.dw", HU_FP16, hu_shape1(N), HU_WGRAD);
	int v = hu_program_tensor(p, "a.v", HU_FP16, hu_shape1(N), HU_WGRAD);
	int w = state(p, "a.w", 1), lost = state(p, "a.lost", y->trained), added, of_three = 0;

	if (!strcmp(y->op, "addcdiv") || !strcmp(y->op, "addcmul")) {
		hu_attr a = { "factor", 0.1, "" };
		int in[3] = { lost, dw, v };
		added = apply(p, y->op, in, 3, "a.y", &a, 1);
		of_three = 1;
	} else if (!strcmp(y->op, "axpby")) {
		hu_attr a[2] = { { "alpha", 3, "" }, { "beta", -0.5, "" } };
		int in[2] = { dw, lost };
		added = apply(p, "axpby", in, 2, "a.y", a, 2);
	} else {
		added = two(p, "sub", dw, lost, "a.difference");
		if (!strcmp(y->op, "scale"))
			added = times(p, times(p, added, 0.1, "a.tenth"), 3, "a.y");
		else if (*y->op)
			added = apply(p, y->op, &added, 1, "a.y", NULL, 0);
	}
	int part = times(p, added, y->y, "a.part"), t = two(p, "add", w, part, "a.w_next");
	int back = two(p, "sub", t, w, "a.back");
	/* the factor is 3 * 0.1 once and 0.3 once, which differ in their last bit */
	int again = part;
	if (!strcmp(y->op, "scale"))
		again = times(p, times(p, p->c[0].out[0], 0.3, "a.other"), y->y, "a.again");
	p->t[w].next = t;
	p->t[lost].next = two(p, "sub", back, again, "a.lost_next");
	int found = hu_program_compensation(p, 0, w, &c);
	is_int(found, y->factor != 0, "%s: %s", y->told, y->factor != 0 ? "found" : "not found");
	if (found) {
		int apart = 0;
		is_int(c.rest, lost, "%s: the state that keeps what was lost", y->told);
		is_near(c.factor, y->factor, 0x1p-50 * fabs(y->factor), "%s: its factor", y->told);
		for (int i = 0; i < c.sum.n; i++)
			apart += c.sum.term[i].tensor == -1 - added;
		is_int(apart, of_three, "%s: what is added to the first operand is a value of its own", y->told);
	}
	hu_program_free(p);
}

/* A sum of more tensors than a sum has room for is one value, and so many calls that none is looked at further make
   nothing vanish. */
static void
check_room(void)
{
	hu_program *p = hu_program_new("train");
	int lost = state(p, "a.lost", 0), deep = state(p, "a.deep", 0), dw = state(p, "a.dw", 1), sum = lost, x = deep;

	for (int i = 0; i < HU_LINEAR + 1; i++) {
		char name[2][16];
		snprintf(name[0], sizeof name[0], "a.g%d", i);
		snprintf(name[1], sizeof name[1], "a.s%d", i);
		sum = two(p, "add", sum, hu_program_tensor(p, name[0], HU_FP16, hu_shape1(N), HU_WGRAD), name[1]);
	}
	for (int i = 0; i < 600; i++) {
		char name[16];
		snprintf(name, sizeof name, "a.n%d", i);
		x = apply(p, "neg", &x, 1, name, NULL, 0);
	}
	p->t[lost].next = two(p, "sub", sum, sum, "a.lost_next");
	p->t[deep].next = two(p, "sub", x, deep, "a.deep_next");
	two(p, "add", dw, lost, "a.read");
	two(p, "add", dw, deep, "a.read2");
	ok(hu_program_compensates(p, 0, lost), "a sum of %d tensors, subtracted from itself, is 0", HU_LINEAR + 2);
	ok(!hu_program_compensates(p, 0, deep), "behind 600 calls nothing is said to vanish");
	hu_program_free(p);
}

int
main(void)
{
	static const way ways[] = {
		{ "plain", "", 1, -1, 0 },
		{ "with a factor", "", 0.25, -0.25, 0 },
		{ "through a cast", "cast", 1, -1, 0 },
		{ "negated", "neg", 1, 1, 0 },
		{ "scaled twice", "scale", 1, -0.3, 0 },
		{ "by axpby", "axpby", 1, -0.5, 0 },
		{ "by addcdiv", "addcdiv", 1, 1, 0 },
		{ "by addcmul", "addcmul", -2, -2, 0 },
		{ "by an operator that is not linear", "relu", 1, 0, 0 },
		{ "kept by what is trained", "", 1, 0, 1 },
	};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		check_way(&ways[i]);
	check_room();

	hu_program *p = hu_program_new("train");
	hu_compensation c;
	int dw = hu_program_tensor(p, "a.dw", HU_FP16, hu_shape1(N), HU_WGRAD);
	int w = state(p, "a.w", 1), lost = state(p, "a.lost", 0), moment = state(p, "a.moment", 0);
	int unread = state(p, "a.unread", 0), still = state(p, "a.still", 0), twin = state(p, "a.twin", 1);

	/* y = dw - lost; t = w + y; lost = (t - w) - y; w = t */
	int y = two(p, "sub", dw, lost, "a.y"), t = two(p, "add", w, y, "a.w_next");
	int back = two(p, "sub", t, w, "a.back");
	p->t[w].next = t;
	p->t[lost].next = two(p, "sub", back, y, "a.lost_next");
	/* a sum that a call reads and that does not vanish, and two that become 0: one that no call reads, and a weight
	 */
	p->t[moment].next = two(p, "add", moment, dw, "a.moment_next");
	p->t[unread].next = two(p, "sub", dw, dw, "a.unread_next");
	p->t[twin].next = two(p, "sub", twin, twin, "a.twin_next");
	two(p, "add", still, dw, "a.read");

	ok(hu_program_compensates(p, 0, lost), "Kahan's compensation is found: read, and 0 if nothing is rounded");
	ok(!hu_program_compensates(p, 0, moment), "a state that is a sum of gradients is none");
	ok(!hu_program_compensates(p, 0, still), "nor one that keeps its value");
	ok(!hu_program_compensates(p, 0, unread), "nor one that no call reads, though it becomes 0");
	ok(!hu_program_compensates(p, 0, w) && !hu_program_compensates(p, 0, twin),
		"nor a weight, though it becomes 0");
	if (ok(hu_program_compensation(p, 0, w, &c), "the weight's compensation is found")) {
		is_int(c.rest, lost, "it is the state that keeps what was lost");
		is_int(c.after, p->t[lost].next, "and becomes the next value of that");
		is_near(c.factor, -1, 0, "which is subtracted, exactly once");
	}
	ok(!hu_program_compensation(p, 0, moment, &c), "nothing compensates a plain sum");
	ok(!hu_program_compensation(p, 0, still, &c), "nor a state that keeps its value");
	hu_program_free(p);
	return done_testing();
}
