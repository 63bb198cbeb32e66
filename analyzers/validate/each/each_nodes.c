/* SPDX-License-Identifier: Apache-2.0
   Which node a policy's damage comes from, of models whose inputs have a program each: every program is that of
   float32's values, so that outputs have float32's shapes and what is compared are values. */
#include "analyzers/validate/each/each.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What the inputs share. */
typedef struct nodes {
	const hu_network *net;
	hu_variant policy;
	const hu_answers *answers;
	const hu_evaluate_sums *sums;
	hu_deciding d;
	int low_only;
} nodes;

/* The program of an input, and its run of nodes. */
typedef struct one {
	hu_imported m;
	hu_samples s;
	hu_range *range;
	hu_sensitivity_run *w;
} one;

static void
close_one(one *o)
{
	hu_sensitivity_run_close(o->w);
	free(o->range);
	hu_samples_part_free(&o->s);
	if (o->m.p)
		hu_imported_release(&o->m);
}

/* Where no output has numbers in floating point the values that choices follow from are compared instead. */
static void
compare_outputs(hu_imported *m)
{
	for (size_t k = 0; k < m->nout - m->asked; k++)
		if (m->p->t[m->out[k].tensor].cls != HU_OTHER) {
			hu_imported_asked_release(m);
			return;
		}
}

static hu_status
open_one(one *o, const nodes *n, size_t i)
{
	*o = (one){ .w = NULL };
	hu_samples_part(&o->s, &n->net->s, i, 1);
	HU_TRY(hu_network_answered(n->net, &o->m, &n->answers[i], &n->net->onnx, HU_TYPING_FLOAT32));
	compare_outputs(&o->m);
	o->range = hu_each_ranges(n->net, &o->m);
	return hu_sensitivity_run_open(
		&o->w, &n->policy, &o->m, o->range, &o->s, &n->d, n->sums, 1, 1, n->low_only);
}

/* Adds the nodes of the inputs' programs. Each is then measured on all inputs: on one whose program lacks it, it does
   nothing. */
static hu_status
list(hu_sensitivity *r, const nodes *n, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		hu_sensitivity own;
		hu_imported m;
		HU_TRY(hu_network_answered(n->net, &m, &n->answers[i], &n->net->onnx, HU_TYPING_FLOAT32));
		hu_status st = hu_sensitivity_list(&own, &n->policy, &m);
		if (st == HU_OK) {
			hu_sensitivity_add(r, &own);
			hu_sensitivity_release(&own);
		}
		hu_imported_release(&m);
		HU_TRY(st);
	}
	return HU_OK;
}

static nodes
shared(const hu_network *net, const hu_variant *policy, const hu_answers *answers, const hu_evaluate_sums *sums,
	const hu_deciding *d)
{
	nodes n = { net, *policy, answers, sums, *d, 0 };

	n.policy.some = 1;
	if (d->kind == HU_DECISION_LISTS)
		n.d.classes = 0;
	return n;
}

hu_status
hu_each_low(hu_sensitivity *r, const hu_network *net, const hu_variant *policy, const hu_answers *answers,
	const hu_deciding *d, size_t first, size_t last)
{
	nodes n = shared(net, policy, answers, NULL, d);

	*r = (hu_sensitivity){ .policy = policy->name, .inputs = last - first, .held = 1 };
	n.low_only = 1;
	hu_status st = list(r, &n, first, last);
	for (size_t i = first; i < last && st == HU_OK; i++) {
		one o;
		if ((st = open_one(&o, &n, i)) == HU_OK)
			st = hu_sensitivity_run_alone(o.w, r, 0, 0, r->n);
		close_one(&o);
	}
	return st;
}

hu_status
hu_each_sensitivity(hu_sensitivity *r, const hu_network *net, const hu_variant *policy, const hu_answers *answers,
	const hu_evaluate_sums *sums, const hu_deciding *d, size_t inputs, hu_progress *bar)
{
	nodes n = shared(net, policy, answers, sums, d);

	*r = (hu_sensitivity){ .policy = policy->name, .inputs = inputs, .held = 1 };
	hu_progress_note(bar, "nodes of %.60s", policy->name);
	hu_status st = list(r, &n, 0, inputs);
	for (int counting = 0; counting < 2; counting++)
		for (size_t i = 0; i < inputs && st == HU_OK; i++) {
			one o;
			if ((st = open_one(&o, &n, i)) == HU_OK)
				st = hu_sensitivity_run_pass(o.w, r, counting);
			if (st == HU_OK && !counting)
				st = hu_sensitivity_run_alone(o.w, r, 0, 0, r->n);
			close_one(&o);
		}
	for (size_t k = 0; k < r->n; k++)
		hu_sensitivity_finish(&r->node[k]);
	hu_sensitivity_sort(r);
	return st;
}
