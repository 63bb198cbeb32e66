/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/evaluate.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What a parameter takes where it is read: as its cast, where only casts read it. */
static double
parameter_bytes(const hu_program *p, int t)
{
	double most = 0;
	int plain = 0;

	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++) {
			if (p->c[i].in[k] != t)
				continue;
			if (p->c[i].op->role != HU_ROLE_CAST) {
				plain = 1;
				continue;
			}
			double bytes = hu_info_bytes(&p->t[p->c[i].out[0]]);
			most = bytes > most ? bytes : most;
		}
	return plain ? hu_info_bytes(&p->t[t]) : most;
}

static void
count_bytes(hu_evaluated *e, size_t batch)
{
	const hu_program *p = e->p;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].producer < 0 && p->t[i].state)
			e->weight_bytes += parameter_bytes(p, i);
	for (int i = 0; i < p->nc; i++) {
		hu_cost k = hu_call_cost(p, &p->c[i]);
		const hu_info *in = &p->t[p->c[i].in[0]];
		if (p->c[i].op->role != HU_ROLE_CAST || in->producer >= 0 || !in->state)
			e->traffic_bytes += (k.bytes_in + k.bytes_out) / (double)batch;
	}
}

/* Looks for values that are not finite: bad by tensor, and the first call that makes such of finite ones, or -1. */
typedef struct watch {
	char *bad;
	int first;
} watch;

static void
after_call(void *with, const hu_exec *x, int i)
{
	const hu_call *c = &x->p->c[i];
	watch *w = with;
	int before = 0;

	for (int k = 0; k < c->nin; k++)
		before |= w->bad[c->in[k]];
	w->bad[c->out[0]] = hu_tensor_nonfinite(&x->t[c->out[0]]) > 0;
	if (w->first < 0 && !before && w->bad[c->out[0]])
		w->first = i;
}

/* Before the calls. */
static void
watch_inputs(watch *w, const hu_exec *x)
{
	w->first = -1;
	for (int i = 0; i < x->p->nt; i++)
		w->bad[i] = x->p->t[i].producer < 0 && hu_tensor_nonfinite(&x->t[i]) > 0;
}

static void
keep(hu_evaluated *e, const hu_imported *m, const hu_exec *x, size_t first, size_t batch)
{
	for (size_t k = 0; k < m->nout; k++) {
		int id = hu_program_find(e->p, m->p->t[m->out[k].tensor].name);
		size_t each = e->each[k], rows = first + batch <= e->n ? batch : e->n - first;
		for (size_t i = 0; i < rows * each; i++) {
			double v = hu_get(&x->t[id], i);
			e->out[k][first * each + i] = v;
			e->nonfinite += !hu_isfinite(v);
		}
	}
}

static hu_status
run(hu_evaluated *e, const hu_imported *m, const hu_samples *s, size_t batch, hu_progress *bar)
{
	char *bad = hu_xcalloc((size_t)e->p->nt + 1, 1), *outputs = hu_xcalloc((size_t)e->p->nt + 1, 1);
	watch w = { bad, -1 };
	hu_exec x;

	for (size_t k = 0; k < m->nout; k++)
		outputs[hu_program_find(e->p, m->p->t[m->out[k].tensor].name)] = 1;
	hu_status st = hu_exec_init_sharing(&x, e->p, outputs);
	free(outputs);
	if (st != HU_OK) {
		free(bad);
		return st;
	}
	x.after = after_call;
	x.with = &w;
	hu_imported_load(m, &x);
	for (size_t first = 0; first < s->n && st == HU_OK; first += batch) {
		for (size_t i = 0; i < m->nin; i++) {
			int id = m->in[i].tensor < 0 ? -1 : hu_program_find(e->p, m->p->t[m->in[i].tensor].name);
			if (id >= 0)
				hu_samples_fill(s, i, first, batch, &x.t[id]);
		}
		watch_inputs(&w, &x);
		st = hu_exec_run(&x, &(hu_env){ 0, 0 });
		if (st != HU_OK)
			break;
		keep(e, m, &x, first, batch);
		if (w.first >= 0 && (e->first_call < 0 || w.first < e->first_call))
			e->first_call = w.first;
		hu_progress_step(bar, 1);
	}
	hu_exec_release(&x);
	free(bad);
	return st;
}

hu_status
hu_evaluate(hu_evaluated *e, const hu_imported *m, const hu_policy *policy, const hu_sum *sum, const hu_samples *s,
	size_t batch, hu_progress *bar)
{
	double start = hu_now();

	*e = (hu_evaluated){ .n = s->n, .first_call = -1 };
	e->each = hu_xcalloc(m->nout + 1, sizeof *e->each);
	e->out = hu_xcalloc(m->nout + 1, sizeof *e->out);
	e->nout = m->nout;
	hu_status st = hu_pass_policy(m->p, policy, &e->p);
	for (size_t k = 0; k < m->nout && st == HU_OK; k++) {
		size_t all = hu_count(m->p->t[m->out[k].tensor].shape);
		if (all % batch)
			st = hu_fail(HU_EUNABLE,
				"output '%.120s' has %zu elements, which do not divide into the %zu inputs of a batch; "
				"give --batch 1",
				m->out[k].name, all, batch);
		e->each[k] = all / batch;
		e->out[k] = hu_xcalloc(e->each[k] * s->n + 1, sizeof **e->out);
	}
	hu_sum own;
	if (st == HU_OK && *policy->accumulate && (st = hu_sum_parse(policy->accumulate, &own)) == HU_OK)
		hu_pass_accumulate(e->p, "*", own);
	if (st == HU_OK && sum)
		hu_pass_accumulate(e->p, "*", *sum);
	if (st == HU_OK) {
		count_bytes(e, batch);
		st = run(e, m, s, batch, bar);
	}
	e->seconds = hu_now() - start;
	if (st != HU_OK)
		hu_evaluated_release(e);
	return st;
}

void
hu_evaluated_release(hu_evaluated *e)
{
	for (size_t k = 0; k < e->nout; k++)
		free(e->out[k]);
	free(e->out);
	free(e->each);
	hu_program_free(e->p);
	memset(e, 0, sizeof *e);
}
