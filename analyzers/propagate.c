/* SPDX-License-Identifier: Apache-2.0
   The ladder of the exact step: double-double with a running error bound, and MPFR where that is too
   wide or where it is asked for. One call of either is exact_step.c's. */
#include "analyzers/propagate.h"

#include "analyzers/exact_step.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The call after which nobody reads a tensor any more. */
static int *
last_uses(const hu_program *q)
{
	int *last = hu_xcalloc((size_t)q->nt + 1, sizeof *last);

	for (int i = 0; i < q->nc; i++) {
		for (int k = 0; k < q->c[i].nin; k++)
			last[q->c[i].in[k]] = i;
		for (int k = 0; k < q->c[i].nout; k++)
			last[q->c[i].out[k]] = i;
	}
	return last;
}

/* After call I: how far its recorded outputs are off; what is not read or kept any more goes. */
static void
settle(hu_exact_step *x, int i, const int *last, const char *keep, hu_errors_step *errors)
{
	const hu_call *c = &x->q->c[i];

	for (int k = 0; k < c->nout; k++) {
		int id = c->out[k];
		if (errors && x->known[id] && x->recorded[id].data)
			hu_errors_propagated(&errors[id], &x->recorded[id], x->t[id].data, x->t[id].low, x->low[id].err);
	}
	for (int k = 0; k < c->nin + c->nout; k++) {
		int id = k < c->nin ? c->in[k] : c->out[k - c->nin];
		if (last[id] > i)
			continue;
		if (!x->known[id] || (keep && !keep[id]))
			hu_exact_step_drop(x, id);
		else {
			if (x->recorded[id].data)
				hu_errors_zeros(&x->recorded[id], x->t[id].data, x->low[id].err);
			hu_exact_step_round(x, id);
		}
	}
}

/* The whole step on one rung. */
static hu_status
climb(hu_exact_step *x, const char *keep, hu_errors_step *errors)
{
	int *last = last_uses(x->q);
	hu_status st;

	for (int i = 0; errors && i < x->q->nt; i++)
		errors[i] = (hu_errors_step){ .known = 0 };
	st = hu_exact_step_begin(x);
	for (int i = 0; st == HU_OK && i < x->q->nc; i++) {
		st = hu_exact_step_call(x, i);
		if (st == HU_OK)
			settle(x, i, last, keep, errors);
	}
	free(last);
	return st;
}

static double
share(double off, double figure)
{
	return off == 0 ? 0 : figure > 0 ? off / figure : INFINITY;
}

/* Tensors whose bound is too wide for what they tell. */
static size_t
open_ones(const hu_program *q, const hu_errors_step *errors, hu_propagation *how)
{
	size_t open = 0;

	for (int i = 0; i < q->nt; i++) {
		const hu_errors_step *m = &errors[i];
		if (!m->known)
			continue;
		if (!m->settled) {
			open++;
			continue;
		}
		how->widest = fmax(how->widest, fmax(share(m->off_max, m->ulp_max), fmax(share(m->off_mean, m->ulp_mean), share(m->off_rel, m->rel_normwise))));
	}
	return open;
}

static int
within(double a, double b, double off)
{
	return a == b || !(fabs(a - b) > off * (1 + 0x1p-30) + 0x1p-40 * fabs(b));
}

/* MPFR's figures where the bound was too wide; the others must contain them. */
static hu_status
join(const hu_program *q, hu_errors_step *errors, const hu_errors_step *mpfr, hu_propagation *how)
{
	for (int i = 0; i < q->nt; i++) {
		hu_errors_step *m = &errors[i];
		const hu_errors_step *o = &mpfr[i];
		if (!m->known || !o->known)
			continue;
		if (m->settled && !(within(m->ulp_max, o->ulp_max, m->off_max) && within(m->ulp_mean, o->ulp_mean, m->off_mean) && within(m->rel_normwise, o->rel_normwise, m->off_rel)))
			return hu_fail(HU_EUNABLE, "the exact step: MPFR has %s %.17g ulp off at most, double-double %.17g within %.3g: this is a bug, please report it; --no-propagate goes on without", q->t[i].name, o->ulp_max, m->ulp_max, m->off_max);
		if (!m->settled) {
			*m = *o;
			how->escalated++;
		}
	}
	return HU_OK;
}

static hu_status
by_mpfr(hu_exact_step *x, const char *keep, hu_errors_step *errors, hu_propagation *how)
{
	hu_exact_step y;
	hu_errors_step *more = hu_xcalloc((size_t)x->q->nt + 1, sizeof *more);

	hu_exact_step_init(&y, x->q, x->recorded, x->engine, x->seed, HU_STEP_MPFR);
	hu_status st = climb(&y, keep, more);
	if (st == HU_OK)
		st = join(x->q, errors, more, how);
	if (st == HU_OK) { /* the kept values, too */
		hu_exact_step t = *x;
		*x = y;
		y = t;
	}
	hu_exact_step_release(&y);
	free(more);
	return st;
}

hu_status
hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed, const char *keep, hu_errors_step *errors, double ***ideal, hu_propagation *how)
{
	hu_program *q = hu_exact_step_program(p);
	hu_errors_step *mine = errors ? errors : hu_xcalloc((size_t)p->nt + 1, sizeof *mine);
	hu_propagation told = { 0 };
	hu_exact_step x;

	hu_exact_step_init(&x, q, recorded, engine, seed, engine->throughout ? HU_STEP_MPFR : HU_STEP_TWO);
	hu_status st = climb(&x, keep, mine);
	if (st == HU_OK && !engine->throughout && open_ones(q, mine, &told)) {
		told.judged = x.judged;
		told.by_mpfr = 1;
		st = by_mpfr(&x, keep, mine, &told);
	} else {
		told.judged = x.judged;
		told.by_mpfr = engine->throughout != 0;
	}
	if (st == HU_OK) {
		*ideal = hu_xcalloc((size_t)q->nt + 1, sizeof **ideal);
		for (int i = 0; i < q->nt; i++)
			if (x.known[i] && (!keep || keep[i])) {
				(*ideal)[i] = x.t[i].data;
				x.t[i].data = NULL;
			}
		for (int i = 0; i < q->nt; i++)
			if (mine[i].known) {
				told.tensors++;
				told.vanished += mine[i].vanished;
			}
	}
	if (st == HU_OK && how) {
		how->steps++;
		how->by_mpfr += told.by_mpfr;
		how->tensors += told.tensors;
		how->escalated += told.escalated;
		how->judged += told.judged;
		how->vanished += told.vanished;
		how->widest = fmax(how->widest, told.widest);
	}
	if (!errors)
		free(mine);
	hu_exact_step_release(&x);
	hu_program_free(q);
	return st;
}
