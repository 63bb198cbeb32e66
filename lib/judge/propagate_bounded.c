/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/propagate.h"

#include "lib/judge/agreement.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hands a kept tensor over: its leading doubles, and bounds that count the trailing parts. */
static hu_status
hand_over(hu_exact_step *x, int id, double **value, double **off)
{
	hu_tensor *t = &x->t[id];
	void *room;

	HU_TRY(hu_exact_step_own(x, id));
	HU_TRY(hu_room_get(&room, (t->n + 1) * sizeof(double), "the exact network's outputs"));
	*off = room;
	for (size_t i = 0; i < t->n; i++) {
		double l = t->low ? fabs(t->low[i]) : 0, e = x->low[id].err ? x->low[id].err[i] : 0;
		int known = hu_isfinite(((double *)t->data)[i]) && l < INFINITY && e < INFINITY;
		(*off)[i] = !known ? INFINITY : l != 0 || e != 0 ? (l + e) * (1 + 0x1p-50) : 0;
	}
	*value = t->data;
	t->data = NULL;
	hu_exact_step_drop(x, id);
	return HU_OK;
}

static hu_status
run(hu_exact_step *x, const hu_tensor *second, const char *keep, double **value, double **off, hu_bounding *how)
{
	int *last = hu_program_last_uses(x->q);
	hu_status st = hu_exact_step_begin(x);
	hu_agreement g;

	hu_agreement_init(&g, x, second, 0);
	for (int i = 0; i < x->q->nc && st == HU_OK; i++) {
		const hu_call *c = &x->q->c[i];
		st = hu_exact_step_call(x, i);
		if (st == HU_OK) {
			hu_agreement_after(&g, x, c);
			hu_agreement_round(&g, x, c);
		}
		for (int j = 0; j < c->nin + c->nout && st == HU_OK; j++) {
			int id = j < c->nin ? c->in[j] : c->out[j - c->nin];
			if (last[id] <= i && !keep[id])
				hu_exact_step_drop(x, id);
		}
	}
	for (int i = 0; i < x->q->nt && st == HU_OK; i++)
		if (keep[i] && x->known[i] && x->t[i].data)
			st = hand_over(x, i, &value[i], &off[i]);
	*how = g.how;
	hu_agreement_release(&g);
	free(last);
	return st;
}

hu_status
hu_propagate_bounded(const hu_program *p, const hu_tensor *recorded, const hu_tensor *second, const hu_engine *engine,
	uint64_t seed, const char *keep, double ***value, double ***off, hu_bounding *how)
{
	hu_program *q = hu_exact_step_program(p);
	size_t n = (size_t)p->nt + 1;
	double **v = hu_xcalloc(n, sizeof *v), **e = hu_xcalloc(n, sizeof *e);
	hu_exact_step x;

	hu_exact_step_init(&x, q, recorded, engine, seed, HU_STEP_TWO);
	hu_status st = run(&x, second, keep, v, e, how);
	how->judged = x.judged;
	how->disagreed = x.disagreed;
	hu_exact_step_release(&x);
	for (int i = 0; i < p->nt && st != HU_OK; i++) {
		hu_room_free(v[i]);
		hu_room_free(e[i]);
	}
	*value = st == HU_OK ? v : NULL;
	*off = st == HU_OK ? e : NULL;
	if (st != HU_OK) {
		free(v);
		free(e);
	}
	hu_program_free(q);
	return st;
}
