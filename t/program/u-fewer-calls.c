/* SPDX-License-Identifier: Apache-2.0
   lib/program: calls are taken out of a program, and what is left of it is one. */
#include "lib/program/program.h"
#include "t/tool/tap.h"

enum { CALLS = 4 };

/* y1 = relu(x), y2 = relu(y1) and so on. */
static hu_program *
chain(void)
{
	hu_program *p = hu_program_new("train");
	int x = hu_program_tensor(p, "input.x", HU_FP32, hu_shape2(3, 5), HU_ACTIVATION);

	for (int i = 1; i <= CALLS; i++) {
		char layer[16], y[24];
		snprintf(layer, sizeof layer, "relu%d", i);
		snprintf(y, sizeof y, "relu%d.y", i);
		x = hu_program_apply(p, "relu", HU_FORWARD, layer, &x, 1, y, HU_FP32, HU_ACTIVATION, NULL, 0);
	}
	return p;
}

/* Producers are the calls' positions, whichever calls were taken out. */
static int
producers_hold(const hu_program *p)
{
	int made = 0, named = 0;

	for (int i = 0; i < p->nc; i++) {
		if (p->c[i].id != i)
			return 0;
		for (int k = 0; k < p->c[i].nout; k++, made++)
			if (p->t[p->c[i].out[k]].producer != i)
				return 0;
	}
	for (int i = 0; i < p->nt; i++)
		named += p->t[i].producer >= 0;
	return made == named;
}

int
main(void)
{
	hu_program *p = chain();
	int first = hu_program_find(p, "relu2.y"), last = hu_program_find(p, "relu4.y");

	hu_program_remove_call(p, p->t[first].producer);
	ok(p->nc == CALLS - 1 && p->t[first].producer == -1 && p->t[last].producer == 2 && producers_hold(p),
		"a call is taken out, and the others name their outputs");
	ok(hu_program_validate(p) == HU_OK, "what it made is an input now: %s", hu_reason());
	hu_program_truncate(p, 2);
	ok(p->nc == 2 && p->t[last].producer == -1 && producers_hold(p), "all calls from the third on are taken out");
	ok(hu_program_validate(p) == HU_OK, "the first two calls are a program: %s", hu_reason());
	hu_program_free(p);
	return done_testing();
}
