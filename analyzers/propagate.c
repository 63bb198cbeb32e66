/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/propagate.h"

#include "analyzers/judge.h"
#include "lib/base/mem.h"

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
	for (int k = 0; k < c->nout; k++) {
		hu_judged *j;
		size_t n, over = 0, *element = hu_sample(x->seed, x->q->t[c->out[k]].name, 0, x->t[c->out[k]].n, HU_PROPAGATE_SAMPLE, &n);
		HU_TRY(hu_judge(x->engine, c, in, k, &x->t[c->out[k]], element, n, 0, &j));
		for (size_t i = 0; i < n; i++)
			over += (size_t)j->over[i];
		hu_judged_free(j);
		if (over)
			return hu_fail(HU_EUNABLE, "the exact step: %s leaves its fp64 bound in %s: this is a bug, please report it; --no-propagate goes on without", c->op->name, x->q->t[c->out[k]].name);
	}
	return HU_OK;
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

hu_status
hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed, double ***ideal)
{
	hu_program *q = without_formats(p);
	char *known = hu_xcalloc((size_t)q->nt + 1, 1);
	hu_exec x;
	hu_status st = hu_exec_init(&x, q);
	int ready = st == HU_OK;

	for (int i = 0; st == HU_OK && i < q->nt; i++)
		if (q->t[i].producer < 0 && (known[i] = recorded[i].data != NULL) != 0)
			widen(&x.t[i], &recorded[i]);
	exact_step e = { q, x.t, recorded, known, engine, seed };
	for (int i = 0; st == HU_OK && i < q->nc; i++)
		st = one_call(&e, i);
	if (st == HU_OK) {
		*ideal = hu_xcalloc((size_t)q->nt + 1, sizeof **ideal);
		for (int i = 0; i < q->nt; i++)
			if (known[i]) {
				(*ideal)[i] = x.t[i].data;
				x.t[i].data = NULL;
			}
	}
	if (ready)
		hu_exec_release(&x);
	free(known);
	hu_program_free(q);
	return st;
}
