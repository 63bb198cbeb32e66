/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/propagate.h"

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

static hu_status
one_call(const hu_program *q, int i, hu_tensor *t, const hu_tensor *recorded, char *known)
{
	const hu_call *c = &q->c[i];
	hu_env env = { 0, 0 };
	int all = 1;
	hu_status st = HU_OK;

	for (int k = 0; k < c->nin; k++)
		all &= known[c->in[k]];
	if (is_decision(c)) {
		for (int k = 0; k < c->nout; k++)
			if ((known[c->out[k]] = recorded[c->out[k]].data != NULL) != 0)
				widen(&t[c->out[k]], &recorded[c->out[k]]);
		return HU_OK;
	}
	if (!all)
		return HU_OK;
	if (!strcmp(c->op->name, "cast"))
		cast_exactly(c, t, recorded);
	else
		st = hu_exec_call(q, i, t, &env);
	for (int k = 0; k < c->nout; k++)
		known[c->out[k]] = 1;
	return st;
}

hu_status
hu_propagate(const hu_program *p, hu_tensor *recorded, double ***ideal)
{
	hu_program *q = without_formats(p);
	char *known = hu_xcalloc((size_t)q->nt + 1, 1);
	hu_exec x;
	hu_status st = hu_exec_init(&x, q);

	for (int i = 0; st == HU_OK && i < q->nt; i++)
		if (q->t[i].producer < 0 && (known[i] = recorded[i].data != NULL) != 0)
			widen(&x.t[i], &recorded[i]);
	for (int i = 0; st == HU_OK && i < q->nc; i++)
		st = one_call(q, i, x.t, recorded, known);
	if (st == HU_OK) {
		*ideal = hu_xcalloc((size_t)q->nt + 1, sizeof **ideal);
		for (int i = 0; i < q->nt; i++)
			if (known[i]) {
				(*ideal)[i] = x.t[i].data;
				x.t[i].data = NULL;
			}
		hu_exec_release(&x);
	}
	free(known);
	hu_program_free(q);
	return st;
}
