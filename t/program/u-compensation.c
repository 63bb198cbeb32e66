/* SPDX-License-Identifier: Apache-2.0
   Which states keep what a rounding loses: on an update with Kahan's compensation, made here by hand, beside states
   that look like one. The factors are Kahan's own (1965): the compensation is subtracted from the next addend. */
#include "lib/base/mem.h"
#include "lib/program/compensation.h"
#include "t/tool/tap.h"

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

int
main(void)
{
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
