/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/weights/next_step.h"

#include "lib/base/mem.h"
#include "lib/judge/exact_step.h"
#include "lib/number/round.h"
#include "lib/program/compensation.h"
#include "lib/program/exec.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FINE = 16,          /* a state is as good as exact to 2^-FINE of itself or of its value before */
	ELEMENTS = 1 << 25, /* most elements of all tensors that a step is taken with, 8 bytes each */
	AGAIN = 4           /* how often a call may run because several weights depend on it */
};

/* What a tensor is to the next step: made of states, a gradient or made of gradients alone, or neither. */
enum { OTHER, OF_STATES, OF_GRADIENTS };

typedef struct next {
	const hu_program *p;
	hu_program *q; /* in doubles */
	hu_trace *t;
	char *what, *varies; /* by tensor id; varies: a state whose exact value is another one */
	char *need;          /* by tensor id: the tensors of the weights at hand */
	char *runs;          /* by call: what makes them */
} next;

/* Whether the exact value of a state counts: states of other analyzers, and what keeps the rounding errors of a weight,
   have verdicts of their own. */
static int
is_judged(const next *x, int i, int after)
{
	const hu_info *s = &x->p->t[i];
	const hu_call *c = x->p->t[after].producer >= 0 ? &x->p->c[x->p->t[after].producer] : NULL;
	hu_compensation pair;

	return !s->trainable && c && x->t->ideal && x->t->ideal[after] && !c->op->moments &&
	       c->op->cls != HU_CLASS_NORM && c->op->role != HU_ROLE_SCALE_UPDATE &&
	       !hu_program_compensates(x->p, x->t->step, i) && !hu_program_compensation(x->p, x->t->step, i, &pair);
}

static int
is_other(const hu_tensor *before, const hu_tensor *after, const double *exact)
{
	for (size_t k = 0; k < after->n; k++) {
		double off = fabs(hu_get(after, k) - exact[k]), size = fmax(fabs(exact[k]), fabs(hu_get(before, k)));
		if (isfinite(exact[k]) && !(ldexp(off, FINE) <= size))
			return 1;
	}
	return 0;
}

/* Says what each tensor is. Returns 1 where some state's exact value is another one. */
static int
look(next *x)
{
	const hu_program *p = x->p;
	const hu_trace *t = x->t;
	int some = 0;

	for (int i = 0; i < p->nt; i++) {
		int after = p->t[i].state ? hu_program_next(p, t->step, i) : -1,
		    grad = p->t[i].trainable ? hu_program_grad(p, t->step, i) : -1;
		if (grad >= 0)
			x->what[grad] = OF_GRADIENTS;
		if (after < 0 || after == i || p->t[i].trainable || !t->t[after].data || !t->t[i].data)
			continue;
		x->what[i] = OF_STATES;
		if (is_judged(x, i, after))
			x->varies[i] = (char)is_other(&t->t[i], &t->t[after], t->ideal[after]);
		some |= x->varies[i];
	}
	for (int i = 0; i < p->nc && some; i++) {
		const hu_call *c = &p->c[i];
		int made = OTHER;
		for (int k = 0; k < c->nin && c->phase == HU_UPDATE && made != OF_STATES; k++)
			made = x->what[c->in[k]] ? x->what[c->in[k]] : made;
		for (int k = 0; k < c->nout && made; k++)
			x->what[c->out[k]] = (char)made;
	}
	return some;
}

static int
runs(const next *x, int id)
{
	return x->what[id] == OF_STATES && x->p->t[id].producer >= 0;
}

/* Marks the calls and tensors that make tensor id. Returns how many calls are new, -1 where one cannot run. */
static int
reach(next *x, int id)
{
	int calls = 0;

	memset(x->need, 0, (size_t)x->p->nt);
	memset(x->runs, 0, (size_t)x->p->nc);
	x->need[id] = 1;
	for (int i = x->p->t[id].producer; i >= 0; i--) {
		const hu_call *c = &x->p->c[i];
		for (int k = 0; k < c->nout && !x->runs[i]; k++)
			x->runs[i] = (char)(x->need[c->out[k]] && runs(x, c->out[k]));
		if (!x->runs[i])
			continue;
		calls++;
		if (!HU_COLUMN(c->op, emulate) || !strcmp(c->op->name, "opaque"))
			return -1;
		for (int k = 0; k < c->nin + c->nout; k++)
			x->need[k < c->nin ? c->in[k] : c->out[k - c->nin]] = 1;
	}
	return calls;
}

/* Gives tensor id what it has when the next step begins; exact: the states have exact values. Returns 0 where that was
   not recorded. */
static int
give(const next *x, hu_exec *run, int id, int exact)
{
	const hu_program *p = x->p;
	int after = p->t[id].state ? hu_program_next(p, x->t->step, id) : -1, from = after >= 0 ? after : id;
	const hu_tensor *value = &x->t->t[from];
	hu_tensor *to = &run->t[id];
	size_t n = to->n, away = x->what[id] == OF_GRADIENTS && n > 1 ? n / 2 : 0;

	if (!value->data || value->n != n)
		return 0;
	for (size_t k = 0; k < n; k++)
		((double *)to->data)[k] =
			exact && x->varies[id] ? x->t->ideal[from][k] : hu_get(value, (k + away) % n);
	return 1;
}

/* Runs what makes tensor id. Returns 0 where it does not run. */
static int
step_once(const next *x, hu_exec *run, int exact)
{
	for (int i = 0; i < x->p->nt; i++)
		if (x->need[i] && !runs(x, i) && !give(x, run, i, exact))
			return 0;
	for (int i = 0; i < x->p->nc; i++)
		if (x->runs[i] && hu_exec_one(run, i, &(hu_env){ 0, 0 }) != HU_OK)
			return 0;
	return 1;
}

/* Adds the steps from the weights w to those that were got and to the exact ones. */
static void
compare(hu_next_step *s, const hu_tensor *w, const double *got, const double *exact)
{
	for (size_t k = 0; k < w->n; k++) {
		double from = hu_get(w, k), a = got[k] - from, b = exact[k] - from;
		if (isfinite(b) && isfinite(a))
			hu_harm_add(&s->harm, a, b, 0);
		s->dead += isfinite(b) && !isfinite(a);
	}
	s->n += w->n;
}

static size_t
elements(const next *x)
{
	size_t n = 0;

	for (int i = 0; i < x->p->nt; i++)
		n += x->need[i] ? x->t->t[i].n : 0;
	return n;
}

/* Steps with the parameter whose next value is tensor id, which reach() found the calls of. */
static hu_status
step_with(next *x, int id, hu_next_step *s)
{
	const hu_tensor *w = &x->t->t[id];
	int other = 0;
	hu_exec run;
	hu_status st = hu_exec_init_some(&run, x->q, x->need);
	double *got = hu_xmalloc((w->n + 1) * sizeof *got);

	for (int i = 0; i < x->p->nt && !other; i++)
		other = x->need[i] && x->varies[i];
	if (st == HU_OK && step_once(x, &run, 0)) {
		memcpy(got, run.t[id].data, w->n * sizeof *got);
		if (!other || step_once(x, &run, 1))
			compare(s, w, got, run.t[id].data);
	}
	free(got);
	hu_exec_release(&run);
	return st;
}

/* All parameters whose next value depends on states, one by one: an elementwise update needs the tensors of one. */
static hu_status
step_with_all(next *x, hu_next_step *s)
{
	const hu_program *p = x->p;
	long long left = 0;
	hu_status st = HU_OK;

	for (int i = 0; i < p->nt; i++)
		left += AGAIN * runs(x, i);
	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		int id = p->t[i].trainable ? hu_program_next(p, x->t->step, i) : -1;
		if (id < 0 || id == i || !runs(x, id) || !x->t->t[id].data)
			continue;
		int calls = reach(x, id);
		left -= calls;
		if (calls < 0 || left < 0 || elements(x) > ELEMENTS) {
			memset(s, 0, sizeof *s);
			break;
		}
		st = step_with(x, id, s);
	}
	return st;
}

hu_status
hu_next_step_take(hu_next_step *s, hu_analysis *a, hu_trace *t)
{
	const hu_program *p = a->run->train;
	size_t n = (size_t)p->nt + 1;
	next x = { .p = p, .t = t };
	hu_status st = HU_OK;

	memset(s, 0, sizeof *s);
	if (!t->ideal || t->skipped)
		return HU_OK;
	HU_TRY(hu_analysis_need(t, p, -1));
	x.what = hu_xcalloc(n, 1);
	x.varies = hu_xcalloc(n, 1);
	x.need = hu_xcalloc(n, 1);
	x.runs = hu_xcalloc((size_t)p->nc + 1, 1);
	if (look(&x)) {
		x.q = hu_exact_step_program(p);
		for (int i = 0; i < p->nt; i++)
			x.q->t[i].format = HU_FP64;
		st = step_with_all(&x, s);
		hu_program_free(x.q);
		if (!(s->harm.exact2 > 0) && !s->dead)
			memset(s, 0, sizeof *s);
	}
	free(x.what);
	free(x.varies);
	free(x.need);
	free(x.runs);
	return st;
}

const char *
hu_next_step_verdict(const hu_next_step *s)
{
	double cosine = hu_harm_cosine(&s->harm), length = hu_harm_length(&s->harm);

	if (!s->n || (isnan(cosine) && !s->dead))
		return "-";
	return s->dead || !(cosine >= 0.99) || !(fabs(length - 1) <= 0.1) ? "costs" : "harmless";
}
