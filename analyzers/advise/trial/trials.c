/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/trial/trials.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_variant float32 = {
	.name = "float32", .by_node = 1, .rest = { .name = "float32", .kind = HU_SCHEME_FLOAT, .format = HU_FP32 }
};

hu_network
hu_trials_view(const hu_trials *t, const hu_network *n, int h)
{
	hu_network view = *n;

	view.s = t->half[h];
	return view;
}

/* float32 on half H, a program for each input. */
static hu_status
open_each(hu_trials *t, int h, double *float_bytes)
{
	hu_network view = hu_trials_view(t, t->n, h);
	hu_judgement row = { .policy = NULL };

	hu_status st = hu_each_run(&t->each[h], &row, &view, &float32, NULL, NULL, t->bar);
	if (st == HU_OK && !h)
		*float_bytes = hu_evaluate_weight_bytes(&row.e.v);
	hu_judgement_release(&row);
	return st;
}

/* What both halves decide together. */
static hu_status
decide(hu_trials *t)
{
	const hu_each *a = &t->each[0], *b = &t->each[1];
	hu_each all = { .n = a->n + b->n, .nout = a->nout };

	all.value = hu_xmalloc((all.n * all.nout + 1) * sizeof *all.value);
	memcpy(all.value, a->value, a->n * a->nout * sizeof *all.value);
	memcpy(all.value + a->n * a->nout, b->value, b->n * b->nout * sizeof *all.value);
	hu_status st = hu_each_deciding(&t->lists, t->d, &all, t->n);
	free(all.value);
	return st;
}

hu_status
hu_trials_open(hu_trials *t, double *float_bytes)
{
	if (t->n->each) {
		for (int h = 0; h < 2; h++)
			HU_TRY(open_each(t, h, float_bytes));
		return decide(t);
	}
	for (int h = 0; h < 2; h++) {
		hu_version v;
		HU_TRY(hu_variant_version(&v, &float32, &t->n->m, NULL, NULL, NULL));
		*float_bytes = hu_evaluate_weight_bytes(&v);
		HU_TRY(hu_evaluate(&t->base[h], &t->n->m, v, "", NULL, &t->half[h], t->batch, t->bar));
	}
	return HU_OK;
}

/* The name of the node of M that the layer belongs to. */
static char *
node_of(const hu_imported *m, const char *layer)
{
	for (int k = 0; k < m->p->nc; k++)
		if (!strcmp(m->p->c[k].layer, layer))
			return hu_xstrdup(m->node[k]);
	return hu_xstrdup("");
}

static hu_status
run_each(hu_effect *r, char **worst, const hu_trials *t, hu_network *n, const hu_variant *v, int h)
{
	hu_network view = hu_trials_view(t, n, h);
	hu_judgement row = { .policy = NULL };
	hu_each run = { .n = 0 };

	hu_status st = hu_each_run(&run, &row, &view, v, t->each[h].answers, NULL, t->bar);
	if (st == HU_OK) {
		hu_each_effect(r, &run, &t->each[h], &t->lists, t->d, &n->m, &t->half[h]);
		if (worst && row.e.p && row.e.first_call >= 0)
			*worst = node_of(run.kept, row.e.p->c[row.e.first_call].layer);
	}
	hu_judgement_release(&row);
	hu_each_release(&run);
	return st;
}

hu_status
hu_trials_run(hu_effect *r, char **worst, const hu_trials *t, hu_network *n, const hu_variant *v, int h)
{
	hu_evaluated run;
	hu_version is;
	char **names = NULL;

	if (worst)
		*worst = NULL;
	if (n->each)
		return run_each(r, worst, t, n, v, h);
	if (v->tool)
		HU_TRY(hu_network_tool_version(&is, n, v->tool, &names));
	else
		HU_TRY(hu_variant_version(&is, v, &n->m, n->ranges.range, NULL, NULL));
	const hu_imported *m = v->as ? v->as : &n->m;
	int calls = is.p->nc;
	hu_status st = hu_evaluate(&run, m, is, "", NULL, &t->half[h], t->batch, t->bar);
	if (st == HU_OK) {
		hu_effect_of(r, &run, &t->base[h], &n->m, t->d, &t->half[h]);
		if (worst && run.first_call >= 0)
			*worst = names ? hu_xstrdup(names[run.first_call])
				       : node_of(m, run.p->c[run.first_call].layer);
		hu_evaluated_release(&run);
	}
	for (int i = 0; i < calls && names; i++)
		free(names[i]);
	free(names);
	return st;
}

double
hu_trials_accuracy(const hu_trials *t, int h)
{
	hu_effect r;

	if (t->n->each)
		hu_each_effect(&r, &t->each[h], &t->each[h], &t->lists, t->d, &t->n->m, &t->half[h]);
	else
		hu_effect_of(&r, &t->base[h], &t->base[h], &t->n->m, t->d, &t->half[h]);
	double x = r.accuracy;
	hu_effect_release(&r);
	return x;
}

void
hu_trials_release(hu_trials *t)
{
	for (int h = 0; h < 2; h++) {
		if (t->base[h].out)
			hu_evaluated_release(&t->base[h]);
		hu_each_release(&t->each[h]);
	}
	memset(t, 0, sizeof *t);
}
