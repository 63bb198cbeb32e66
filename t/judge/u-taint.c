/* SPDX-License-Identifier: Apache-2.0
   An opaque call taints what depends on it: no exact value and no error of the step, in double-double and by MPFR, for
   its results and all that is computed from them, however long the chain; what does not depend on it has both. */
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/judge/propagate.h"
#include "lib/program/opaque.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

enum { N = 12, CHAIN = 9 };

typedef struct made {
	hu_program *p;
	hu_tensor *t;
	int x, y, opaque, chain[CHAIN], free_of_it, mixed;
} made;

static int
apply(hu_program *p, const char *op, const int *in, int nin, const char *name)
{
	return hu_program_apply(p, op, HU_FORWARD, "l", in, nin, name, HU_FP32, HU_ACTIVATION, NULL, 0);
}

static void
build(made *m)
{
	hu_program *p = m->p = hu_program_new("train");
	char name[32];

	m->x = hu_program_tensor(p, "input.x", HU_FP32, hu_shape1(N), HU_ACTIVATION);
	m->y = hu_program_tensor(p, "input.y", HU_FP32, hu_shape1(N), HU_ACTIVATION);
	m->opaque = hu_program_tensor(p, "l.o", HU_FP32, hu_shape1(N), HU_ACTIVATION);
	hu_call *c = hu_program_call(p, "opaque", HU_FORWARD, "l", &m->x, 1, &m->opaque, 1);
	hu_program_set_opaque(p, c, "aten.sort", "halfulp has no such operator", 1);
	for (int i = 0, last = m->opaque; i < CHAIN; i++) {
		snprintf(name, sizeof name, "l.c%d", i);
		last = m->chain[i] = apply(p, "tanh", &last, 1, name);
	}
	int both[2] = { m->x, m->y }, mixed[2] = { m->y, m->chain[0] };
	m->free_of_it = apply(p, "mul", both, 2, "l.f");
	m->mixed = apply(p, "mul", mixed, 2, "l.m");
	HU_ASSERT(hu_program_validate(p) == HU_OK);
	m->t = hu_xcalloc((size_t)p->nt, sizeof *m->t);
	for (int i = 0; i < p->nt; i++) {
		m->t[i] = (hu_tensor){ .format = HU_FP32, .shape = p->t[i].shape, .n = N };
		m->t[i].data = hu_xcalloc(N, sizeof(float));
		for (int k = 0; k < N; k++) /* what was recorded is not what was computed: taint asks no values */
			((float *)m->t[i].data)[k] = (float)(i + 1) / (float)(k + 3);
	}
}

int
main(void)
{
	static const char *const engines[] = { "auto", "mpfr" };
	made m;

	build(&m);
	for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
		const hu_engine *engine;
		hu_errors_step *errors = hu_xcalloc((size_t)m.p->nt + 1, sizeof *errors);
		double **ideal = NULL;
		HU_ASSERT(hu_engine_find(engines[e], &engine) == HU_OK);
		hu_status st = hu_propagate(m.p, m.t, engine, 1, NULL, errors, &ideal, NULL);
		if (st != HU_OK)
			bail_out("%s", hu_reason());
		int tainted = 0;
		for (int i = 0; i < CHAIN; i++)
			tainted += !ideal[m.chain[i]] && !errors[m.chain[i]].known;
		is_int(tainted, CHAIN, "%s: all that is computed from an opaque result is unknown", engines[e]);
		ok(!ideal[m.opaque] && !errors[m.opaque].known, "%s: the result itself is", engines[e]);
		ok(!ideal[m.mixed] && !errors[m.mixed].known, "%s: so is a product with one tainted factor",
			engines[e]);
		ok(ideal[m.free_of_it] && errors[m.free_of_it].known, "%s: what does not depend on it is known",
			engines[e]);
		for (int i = 0; i < m.p->nt; i++)
			hu_room_free(ideal[i]);
		free(ideal);
		free(errors);
	}
	for (int i = 0; i < m.p->nt; i++)
		free(m.t[i].data);
	free(m.t);
	hu_program_free(m.p);
	return done_testing();
}
