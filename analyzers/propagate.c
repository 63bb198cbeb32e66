/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/propagate.h"

#include "analyzers/judge.h"
#include "lib/base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* P with every tensor and every operation in fp64, to nearest. */
static hu_program *
without_formats(const hu_program *p)
{
	hu_program *q = hu_program_copy(p);

	for (int i = 0; i < q->nt; i++)
		q->t[i].format = HU_FP64;
	for (int i = 0; i < q->nc; i++) {
		hu_call *c = &q->c[i];
		c->fmt.in = c->fmt.compute = c->fmt.acc = c->fmt.out = HU_FP64;
		c->mode = HU_RNE;
		c->flags = 0;
		c->sum = hu_sum_default();
		c->sum.acc = HU_FP64;
		c->sum.outer = HU_NO_FORMAT;
	}
	return q;
}

static void
widen(hu_tensor *to, const hu_tensor *from)
{
	for (size_t i = 0; i < to->n; i++)
		((double *)to->data)[i] = hu_get(from, i);
}

/* What the run decided from its own roundings stays as it was decided: the finite check and the scale. */
static int
is_decision(const hu_call *c)
{
	return !strcmp(c->op->name, "finite_check") || !strcmp(c->op->name, "scale_update");
}

/* A cast without its rounding; in a scaled format the values keep the recorded factor. */
static void
cast_exactly(const hu_call *c, hu_tensor *t, const hu_tensor *recorded)
{
	double s = c->nout > 1 && recorded[c->out[1]].data ? hu_get(&recorded[c->out[1]], 0) : 1, *y = t[c->out[0]].data;
	const double *x = t[c->in[0]].data;

	for (size_t i = 0; i < t[c->out[0]].n; i++)
		y[i] = x[i] * s;
	if (c->nout > 1)
		((double *)t[c->out[1]].data)[0] = s;
}

typedef struct exact_step { const hu_program *q; hu_tensor *t; const hu_tensor *recorded; char *known; const hu_engine *engine; uint64_t seed; } exact_step;

/* Every value of a call by the engine, rounded to fp64 once. */
static hu_status
by_engine(const exact_step *x, const hu_call *c, hu_tensor *const *in)
{
	enum { CHUNK = 8192 };
	hu_status st = HU_OK;

	for (int k = 0; k < c->nout && st == HU_OK; k++) {
		hu_tensor *out = &x->t[c->out[k]];
		size_t chunks = (out->n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic, 1)
		for (size_t b = 0; b < chunks; b++) {
			size_t at = b * CHUNK, n = out->n - at < CHUNK ? out->n - at : CHUNK, element[CHUNK];
			mpfr_t *e = hu_xmalloc(n * sizeof *e);
			for (size_t i = 0; i < n; i++) {
				element[i] = at + i;
				mpfr_init2(e[i], 256);
			}
			hu_status mine = x->engine->exact(c, in, k, element, n, e);
			for (size_t i = 0; i < n; i++) {
				((double *)out->data)[at + i] = mpfr_get_d(e[i], MPFR_RNDN);
				mpfr_clear(e[i]);
			}
			free(e);
			if (mine != HU_OK) {
#pragma omp atomic write
				st = mine;
			}
		}
	}
	return st == HU_OK ? HU_OK : hu_fail(st, "the exact step: the reference of %s failed", c->op->name);
}

/* A sample of a call's fp64 values against its own bound in fp64. */
static hu_status
judge_call(const exact_step *x, const hu_call *c, hu_tensor *const *in)
{
	hu_memo *memo = NULL;
	hu_status st = HU_OK;
	size_t over = 0;
	int k;

	for (k = 0; k < c->nout && st == HU_OK && !over; k++) {
		hu_judged *j;
		size_t n, *element = hu_sample(x->seed, x->q->t[c->out[k]].name, 0, x->t[c->out[k]].n, HU_PROPAGATE_SAMPLE, &n);
		hu_judge_job job = { .engine = x->engine, .c = c, .in = in, .out = k, .got = &x->t[c->out[k]], .element = element, .n = n, .screen = 1, .memo = &memo };
		st = hu_judged_new(&job, &j);
		for (size_t i = 0; st == HU_OK && i < n; i++)
			over += (size_t)j->over[i];
		if (st == HU_OK)
			hu_judged_free(j);
		free(element);
	}
	if (memo)
		memo->release(memo);
	if (over)
		return hu_fail(HU_EUNABLE, "the exact step: %s leaves its fp64 bound in %s: this is a bug, please report it; --no-propagate goes on without", c->op->name, x->q->t[c->out[k - 1]].name);
	return st;
}

static void
make(hu_tensor *t)
{
	if (!t->data && !(t->data = hu_alloc((t->n + 1) * sizeof(double))))
		t->data = hu_xmalloc(SIZE_MAX / 2); /* says so and ends */
}

static hu_status
one_call(const exact_step *x, int i)
{
	const hu_call *c = &x->q->c[i];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_env env = { 0, 0 };
	int all = 1;
	hu_status st = HU_OK;

	for (int k = 0; k < c->nin; k++) {
		all &= x->known[c->in[k]];
		in[k] = &x->t[c->in[k]];
	}
	for (int k = 0; k < c->nout; k++)
		make(&x->t[c->out[k]]);
	if (is_decision(c)) {
		for (int k = 0; k < c->nout; k++)
			if ((x->known[c->out[k]] = x->recorded[c->out[k]].data != NULL) != 0)
				widen(&x->t[c->out[k]], &x->recorded[c->out[k]]);
	} else if (all) {
		if (!strcmp(c->op->name, "cast"))
			cast_exactly(c, x->t, x->recorded);
		else if (x->engine->throughout)
			st = by_engine(x, c, in);
		else if ((st = hu_exec_call(x->q, i, x->t, &env)) == HU_OK)
			st = judge_call(x, c, in);
		for (int k = 0; k < c->nout; k++)
			x->known[c->out[k]] = 1;
	}
	free(in);
	return st;
}

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

/* Tensors of the step that are there from the start. */
static void
begin(const exact_step *x)
{
	for (int i = 0; i < x->q->nt; i++) {
		hu_tensor *t = &x->t[i];
		t->format = HU_FP64;
		t->shape = x->q->t[i].shape;
		t->n = hu_count(t->shape);
		if (x->q->t[i].producer >= 0 || (x->known[i] = x->recorded[i].data != NULL) == 0)
			continue;
		make(t);
		widen(t, &x->recorded[i]);
	}
}

/* After call I: how far its recorded outputs are off; what is not read or kept any more goes. */
static void
settle(const exact_step *x, int i, const int *last, const char *keep, hu_errors_step *errors)
{
	const hu_call *c = &x->q->c[i];

	for (int k = 0; k < c->nout; k++) {
		int id = c->out[k];
		if (errors && x->known[id] && x->recorded[id].data)
			hu_errors_propagated(&errors[id], &x->recorded[id], x->t[id].data);
	}
	for (int k = 0; k < c->nin + c->nout; k++) {
		int id = k < c->nin ? c->in[k] : c->out[k - c->nin];
		if (last[id] <= i && (!x->known[id] || (keep && !keep[id]))) {
			free(x->t[id].data);
			x->t[id].data = NULL;
		}
	}
}

hu_status
hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed, const char *keep, hu_errors_step *errors, double ***ideal)
{
	hu_program *q = without_formats(p);
	exact_step x = { q, hu_xcalloc((size_t)q->nt + 1, sizeof(hu_tensor)), recorded, hu_xcalloc((size_t)q->nt + 1, 1), engine, seed };
	int *last = last_uses(q);
	hu_status st = HU_OK;

	for (int i = 0; errors && i < p->nt; i++)
		errors[i] = (hu_errors_step){ 0, 0, 0, 0 };
	begin(&x);
	for (int i = 0; st == HU_OK && i < q->nc; i++) {
		st = one_call(&x, i);
		if (st == HU_OK)
			settle(&x, i, last, keep, errors);
	}
	if (st == HU_OK)
		*ideal = hu_xcalloc((size_t)q->nt + 1, sizeof **ideal);
	for (int i = 0; i < q->nt; i++) {
		if (st == HU_OK && x.known[i] && (!keep || keep[i]))
			(*ideal)[i] = x.t[i].data;
		else
			free(x.t[i].data);
	}
	free(x.t);
	free(x.known);
	free(last);
	hu_program_free(q);
	return st;
}
