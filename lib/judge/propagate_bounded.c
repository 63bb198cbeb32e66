/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/propagate.h"

#include "lib/judge/exact_step.h"
#include "lib/base/mem.h"
#include "lib/base/room.h"
#include "lib/base/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a tensor's values: the largest magnitude, trailing part, bound and distance from the other
   precision; Inf where one of them is not finite. */
typedef struct extent { double most, low, err, apart; } extent;

static extent
extent_of(const hu_exact_step *x, int id, const hu_tensor *second)
{
	const hu_tensor *t = &x->t[id];
	const double *h = t->data, *l = x->low[id].lo, *e = x->low[id].err;
	double most = 0, low = 0, err = 0, apart = 0;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(max : most, low, err, apart) \
	if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++) {
		double size = fabs(h[i]), off = e[i], d = second ? fabs(hu_get(second, i) - h[i]) : 0;
		low = fabs(l[i]) <= low ? low : fabs(l[i]) < INFINITY ? fabs(l[i]) : INFINITY;
		most = size <= most ? most : size < INFINITY ? size : INFINITY;
		err = off <= err ? err : off < INFINITY ? off : INFINITY;
		apart = d <= apart ? apart : d < INFINITY ? d : INFINITY;
	}
	return (extent){ most, low, err, apart };
}

/* Lowers the bounds of a tensor to at most cap; returns 1 if one was above it. */
static int
cap_bounds(hu_exact_step *x, int id, double cap)
{
	double *e = (double *)(size_t)x->low[id].err;
	int lowered = 0;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(| : lowered) if (x->t[id].n > 16384)
	for (size_t i = 0; i < x->t[id].n; i++) {
		lowered |= e[i] > cap;
		e[i] = e[i] > cap ? cap : e[i];
	}
	return lowered;
}

/* After call c: says of its outputs whether a jump is open in them, and else bounds products by the agreement with the
   other precision. */
static void
agree(hu_exact_step *x, const hu_call *c, const hu_tensor *second, char *open, hu_bounding *how)
{
	int before = 0, jumps = 0;

	for (int k = 0; k < c->nin; k++)
		before |= open[c->in[k]];
	for (int k = 0; k < c->nout; k++) {
		int id = c->out[k];
		open[id] = (char)before;
		if (before || !x->known[id] || !x->low[id].err)
			continue;
		int product = c->op->cls == HU_CLASS_GEMM && second && second[id].data;
		extent m = extent_of(x, id, product ? &second[id] : NULL);
		if (m.low == 0 && m.err == 0 && m.most < INFINITY)
			hu_exact_step_round(x, id); /* exact doubles, whose products need no bounds on trailing parts */
		double cap = fmax(ldexp(m.apart, -HU_BOUNDED_AGREE), ldexp(m.most, -HU_BOUNDED_FLOOR));
		if (product && m.most < INFINITY && m.apart < INFINITY && m.err > cap)
			how->agreed += (size_t)cap_bounds(x, id, cap);
		else if (!(m.err <= ldexp(m.most, -HU_BOUNDED_JUMP)))
			open[id] = 1;
		jumps |= open[id];
	}
	how->jumps += (size_t)jumps;
}

/* Hands a kept tensor over: its leading doubles, and bounds that count the trailing parts. */
static hu_status
hand_over(hu_exact_step *x, int id, double **value, double **off)
{
	hu_tensor *t = &x->t[id];
	void *room;

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
	char *open = hu_xcalloc((size_t)x->q->nt + 1, 1);
	hu_status st = hu_exact_step_begin(x);

	for (int i = 0; i < x->q->nc && st == HU_OK; i++) {
		const hu_call *c = &x->q->c[i];
		st = hu_exact_step_call(x, i);
		if (st == HU_OK)
			agree(x, c, second, open, how);
		for (int j = 0; j < c->nin + c->nout && st == HU_OK; j++) {
			int id = j < c->nin ? c->in[j] : c->out[j - c->nin];
			if (last[id] <= i && !keep[id])
				hu_exact_step_drop(x, id);
		}
	}
	for (int i = 0; i < x->q->nt && st == HU_OK; i++)
		if (keep[i] && x->known[i] && x->t[i].data)
			st = hand_over(x, i, &value[i], &off[i]);
	free(last);
	free(open);
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

	*how = (hu_bounding){ .judged = 0 };
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
