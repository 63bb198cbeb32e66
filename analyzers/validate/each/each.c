/* SPDX-License-Identifier: Apache-2.0
   Runs of one input after another, where the program of an input follows from values that the policy itself computes:
   the program is made by what float32 had, run, and made again by what the policy had, until both are the same. */
#include "analyzers/validate/each/each.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The run of one policy. */
typedef struct each_run {
	const hu_network *net;
	const hu_variant *policy;
	const hu_evaluate_sums *sums;
	hu_judgement *row;
	const hu_onnx *onnx;
	hu_typing typing;
	char *notes, *met; /* met: by exception of the policy, whether an input's program has such a node */
	double weight_bytes;
} each_run;

void
hu_each_release(hu_each *e)
{
	for (size_t i = 0; e->value && i < e->n * e->nout; i++)
		free(e->value[i].x);
	for (size_t i = 0; e->answers && i < e->n; i++)
		hu_answers_release(&e->answers[i]);
	if (e->kept)
		hu_imported_release(e->kept);
	free(e->kept);
	free(e->value);
	free(e->answers);
	*e = (hu_each){ .n = 0 };
}

/* Makes A what the run of M gave of the values that it asked for. Returns 1 where these were A already. */
static int
take_answers(hu_answers *a, const hu_imported *m, const hu_evaluated *e)
{
	size_t first = m->nout - m->asked;
	int same = !m->stopped && a->n == m->asked;

	for (size_t i = 0; i < m->asked; i++) {
		size_t n = e->each[first + i];
		int is = i < a->n && a->v[i].n == n && !memcmp(a->v[i].x, e->out[first + i], n * sizeof(double));
		same &= is;
		if (is)
			continue;
		while (a->n <= i) {
			HU_GROW(a->v, a->n, a->cap);
			a->v[a->n++] = (hu_answer){ 0, NULL };
		}
		free(a->v[i].x);
		a->v[i] = (hu_answer){ n, hu_xmalloc((n + 1) * sizeof(double)) };
		memcpy(a->v[i].x, e->out[first + i], n * sizeof(double));
	}
	while (!m->stopped && a->n > m->asked)
		free(a->v[--a->n].x);
	return same;
}

/* Keeps the outputs of input I. */
static void
take_outputs(hu_each *to, size_t i, const hu_imported *m, const hu_evaluated *e)
{
	for (size_t k = 0; k < to->nout; k++) {
		hu_each_value *v = &to->value[i * to->nout + k];
		*v = (hu_each_value){ .rank = m->out[k].rank, .n = e->each[k], .x = e->out[k] };
		memcpy(v->d, m->out[k].d, sizeof v->d);
		e->out[k] = NULL;
	}
}

/* Puts the ports of TO into the order that FROM has, of which all have their names (against.c). */
static void
order(hu_port *to, size_t n, const hu_port *from, size_t nfrom)
{
	for (size_t i = 0; i < nfrom; i++)
		for (size_t k = i + 1; k < n && strcmp(to[i].name, from[i].name) != 0; k++)
			if (!strcmp(to[k].name, from[i].name)) {
				hu_port was = to[i];
				to[i] = to[k];
				to[k] = was;
			}
}

/* The policy's version of M, ready to run. */
static hu_status
begin(hu_evaluated *e, const each_run *r, const hu_imported *m)
{
	const hu_variant as_typed = {
		.by_node = 1, .as = m, .rest = { .name = "float32", .kind = HU_SCHEME_FLOAT, .format = HU_FP32 }
	};
	hu_variant policy = r->typing == HU_TYPING_FLOAT32 ? *r->policy : as_typed;
	hu_range *range = hu_each_ranges(r->net, m);
	size_t products = 0, quantised = 0;
	hu_version v;

	policy.some = 1;
	hu_variant_meets(r->met, &policy, m);
	hu_status st = hu_variant_version(&v, &policy, m, range, &products, &quantised);
	free(range);
	HU_TRY(st);
	v.weight_bytes = r->weight_bytes;
	r->row->products = products;
	r->row->quantised = quantised;
	return hu_evaluate_begin(e, m, v, policy.by_node ? "" : policy.policy.accumulate, r->sums, 1, 1);
}

/* Keeps E and M as the row's program where it is the first, or the first that meets what is not finite. */
static void
keep(hu_each *to, each_run *r, hu_imported *m, hu_evaluated *e)
{
	hu_evaluated *was = &r->row->e;
	size_t nonfinite = was->nonfinite;

	if (was->p && !(was->first_call < 0 && e->first_call >= 0)) {
		hu_evaluated_release(e);
		hu_imported_release(m);
		return;
	}
	if (was->p) {
		hu_evaluated_release(was);
		hu_imported_release(to->kept);
	}
	hu_evaluate_end(e);
	*was = *e;
	was->nonfinite = nonfinite;
	to->kept = to->kept ? to->kept : hu_xcalloc(1, sizeof *to->kept);
	*to->kept = *m;
}

/* Input I, by answers that are guesses at first. */
static hu_status
one(hu_each *to, each_run *r, size_t i)
{
	hu_answers *a = &to->answers[i];
	hu_progress none = { .on = 0 };
	hu_samples s;
	hu_status st = HU_OK;

	hu_samples_part(&s, &r->net->s, i, 1);
	for (int done = 0; !done && st == HU_OK;) {
		hu_evaluated e = { .p = NULL };
		hu_imported m;
		st = hu_network_answered(r->net, &m, a, r->onnx, r->typing);
		if (st != HU_OK)
			break;
		order(m.in, m.nin, r->net->m.in, r->net->m.nin);
		if (!m.stopped)
			order(m.out, m.nout - m.asked, r->net->m.out, r->net->m.nout);
		if ((st = begin(&e, r, &m)) == HU_OK) {
			st = hu_evaluate_rows(&e, &m, &s, 1, 0, 1, &none);
			done = st == HU_OK && take_answers(a, &m, &e);
		}
		if (done) {
			take_outputs(to, i, &m, &e);
			keep(to, r, &m, &e);
		} else {
			if (e.p)
				hu_evaluated_release(&e);
			hu_imported_release(&m);
		}
	}
	hu_samples_part_free(&s);
	return st;
}

static void
copy(hu_answers *to, const hu_answers *from)
{
	for (size_t i = 0; i < from->n; i++) {
		hu_answer a = { from->v[i].n, hu_xmalloc((from->v[i].n + 1) * sizeof(double)) };
		memcpy(a.x, from->v[i].x, a.n * sizeof(double));
		HU_GROW(to->v, to->n, to->cap);
		to->v[to->n++] = a;
	}
}

/* The answers to begin with: float32's, or of a file those that it gives as it is. */
static hu_status
guess(hu_answers *a, const each_run *r, const hu_answers *float32, size_t i)
{
	hu_imported all;

	if (float32 && r->typing == HU_TYPING_FLOAT32) {
		copy(a, &float32[i]);
		return HU_OK;
	}
	HU_TRY(hu_network_computed(r->net, &all, a, i, r->onnx, r->typing));
	hu_imported_release(&all);
	return HU_OK;
}

static hu_status
run_all(hu_each *e, each_run *r, const hu_answers *answers, hu_progress *bar)
{
	const hu_network *net = r->net;

	*e = (hu_each){ .n = net->s.n, .nout = net->m.nout };
	e->value = hu_xcalloc(e->n * e->nout + 1, sizeof *e->value);
	e->answers = hu_xcalloc(e->n + 1, sizeof *e->answers);
	for (size_t i = 0; i < e->n; i++) {
		HU_TRY(guess(&e->answers[i], r, answers, i));
		HU_TRY(one(e, r, i));
		for (size_t k = 0; k < e->nout; k++)
			for (size_t j = 0; j < e->value[i * e->nout + k].n; j++)
				r->row->e.nonfinite += !hu_isfinite(e->value[i * e->nout + k].x[j]);
		hu_progress_step(bar, 1);
	}
	for (size_t k = 0; k < r->policy->n; k++)
		if (!r->met[k])
			return hu_variant_unmet(r->policy, k);
	return HU_OK;
}

/* What the floating-point constants and codes of the file take. */
static double
bytes_of(const hu_onnx_graph *g)
{
	double bytes = 0;

	for (size_t i = 0; i < g->ninit; i++)
		if (strcmp(g->init[i].dtype, "I64") && strcmp(g->init[i].dtype, "BOOL"))
			bytes += (double)g->init[i].bytes;
	return bytes;
}

hu_status
hu_each_run(hu_each *e, hu_judgement *row, const hu_network *net, const hu_variant *policy, const hu_answers *answers,
	const hu_evaluate_sums *sums, hu_progress *bar)
{
	each_run r = { net, policy, sums, row, &net->onnx, HU_TYPING_FLOAT32, NULL, NULL, 0 };
	hu_onnx onnx;

	row->policy = policy->name;
	hu_progress_note(bar, "%.60s", policy->name);
	if (policy->file) {
		r.onnx = policy->file;
		r.typing = policy->typing;
		r.weight_bytes = bytes_of(policy->file->graph);
	}
	if (!policy->tool) {
		r.met = hu_xcalloc(policy->n + 1, 1);
		hu_status st = run_all(e, &r, answers, bar);
		free(r.met);
		return st;
	}
	HU_TRY(hu_tool_rewrite(&onnx, &r.notes, policy->tool, &net->onnx, &net->m, hu_calibrated_tool(&net->ranges)));
	r.onnx = &onnx;
	r.typing = HU_TYPING_STRICT;
	r.weight_bytes = bytes_of(onnx.graph);
	hu_status st = run_all(e, &r, answers, bar);
	if (row->e.p)
		row->e.v.notes = r.notes;
	else
		free(r.notes);
	hu_onnx_release(&onnx);
	return st;
}
