/* SPDX-License-Identifier: Apache-2.0
   What analyzers share of a traced step. */
#include "analyzers/run/analyzer.h"

#include "lib/judge/propagate.h"
#include "lib/base/mem.h"
#include "lib/judge/exact.h"
#include "lib/base/memory/room.h"
#include "lib/program/links.h"

#include <stdlib.h>
#include <string.h>

static int
wanted(const char *steps, size_t step, int *bad)
{
	int hit = 0;

	if (!steps || !strcmp(steps, "all"))
		return 1;
	for (const char *s = steps; *s;) {
		char *end;
		unsigned long long a = strtoull(s, &end, 10), b = a;
		*bad |= end == s;
		if (*end == '-') {
			s = end + 1;
			b = strtoull(s, &end, 10);
			*bad |= end == s;
		}
		if (*bad || (*end && *end != ',')) {
			*bad = 1;
			return 0;
		}
		hit |= step >= a && step <= b;
		s = *end ? end + 1 : end;
	}
	return hit;
}

hu_status
hu_analysis_init(hu_analysis *a, const hu_run *run, const hu_analysis_options *opt, const char *steps)
{
	size_t *take = hu_xcalloc((size_t)run->nstep + 1, sizeof *take);
	int n = 0, bad = 0;

	memset(a, 0, sizeof *a);
	for (int i = 0; i < run->nstep; i++)
		if (wanted(steps, run->step[i], &bad))
			take[n++] = run->step[i];
	if (bad || !n) {
		free(take);
		if (bad)
			return hu_fail(
				HU_EINVAL, "--steps %s: numbers and ranges are needed, as in 100,200-400", steps);
		if (!run->nstep)
			return hu_fail(HU_EFILE,
				"%s: no step was traced; train again with --trace steps=, as in --trace steps=100,200",
				run->dir);
		return hu_fail(HU_EABSENT, "--steps %s: none of them was traced; %s/trace has %zu to %zu", steps,
			run->dir, run->step[0], run->step[run->nstep - 1]);
	}
	a->run = run;
	hu_room_in(run->dir);
	a->opt = *opt;
	a->step = take;
	a->nstep = n;
	a->present = -1;
	hu_str_init(&a->said);
	return HU_OK;
}

static void
drop(hu_analysis *a, hu_trace *t)
{
	int nt = a->run->train->nt;

	a->present = -1;
	for (int k = 0; k < nt; k++) {
		if (t->judged)
			hu_judged_free(t->judged[k]);
		if (t->enclosed)
			free(t->enclosed[k]);
		if (t->ideal)
			hu_room_free(t->ideal[k]);
	}
	free(t->judged);
	free(t->enclosed);
	free(t->ideal);
	free(t->propagated);
	if (t->t)
		hu_run_unmap_trace(&t->file);
	memset(t, 0, sizeof *t);
}

void
hu_analysis_release(hu_analysis *a)
{
	drop(a, &a->trace);
	free((size_t *)(size_t)a->step);
	hu_room_in(NULL);
	hu_str_release(&a->said);
	memset(a, 0, sizeof *a);
}

double
hu_trace_scalar(const hu_analysis *a, const hu_trace *t, const char *name, double otherwise)
{
	int id = hu_program_find(a->run->train, name);

	return id >= 0 && t->t[id].data && t->t[id].n == 1 ? hu_get(&t->t[id], 0) : otherwise;
}

/* Reads the first output of the finite check, wherever it is in the program. */
static hu_status
was_skipped(const hu_analysis *a, hu_trace *t)
{
	const hu_program *p = a->run->train;

	for (int i = 0; i < p->nc; i++)
		if (p->c[i].op->role == HU_ROLE_CHECK && t->t[p->c[i].out[0]].data) {
			HU_TRY(hu_run_trace_need(&t->file, p->c[i].out[0]));
			t->skipped = hu_get(&t->t[p->c[i].out[0]], 0) != 0;
			return HU_OK;
		}
	return HU_OK;
}

hu_status
hu_analysis_trace(hu_analysis *a, int i, hu_trace **t)
{
	hu_trace *w = &a->trace;
	const hu_program *p = a->run->train;

	*t = w;
	if (a->present == i)
		return HU_OK;
	drop(a, w);
	HU_TRY(hu_run_map_trace(a->run, a->step[i], HU_RUN_TRACE_IN_MEMORY, &w->file));
	w->t = w->file.t;
	w->step = a->step[i];
	w->judged = hu_xcalloc((size_t)p->nt, sizeof *w->judged);
	w->enclosed = hu_xcalloc((size_t)p->nt, sizeof *w->enclosed);
	a->present = i;
	return was_skipped(a, w);
}

hu_status
hu_analysis_need(hu_trace *t, const hu_program *p, int c)
{
	for (int k = 0; c < 0 && k < p->nt; k++)
		HU_TRY(hu_run_trace_need(&t->file, k));
	for (int k = 0; c >= 0 && k < p->c[c].nin; k++)
		HU_TRY(hu_run_trace_need(&t->file, p->c[c].in[k]));
	for (int k = 0; c >= 0 && k < p->c[c].nout; k++)
		HU_TRY(hu_run_trace_need(&t->file, p->c[c].out[k]));
	return HU_OK;
}

int
hu_analysis_largest(const hu_analysis *a, int call)
{
	const hu_program *p = a->run->train;
	const hu_call *c = &p->c[call];
	int most = 0;

	for (int k = 1; k < c->nout; k++)
		if (hu_count(p->t[c->out[k]].shape) > hu_count(p->t[c->out[most]].shape))
			most = k;
	return most;
}

hu_region
hu_analysis_part(const hu_analysis *a, const hu_work_unit *u, int k)
{
	const hu_program *p = a->run->train;
	const hu_call *c = &p->c[u->call];
	size_t all = hu_count(p->t[c->out[hu_analysis_largest(a, u->call)]].shape), n = hu_count(p->t[c->out[k]].shape);
	hu_region r = { 0, n, 0, 0, 0 };

	if (u->tiles == 1)
		return r;
	if (u->some.row && n == all)
		return u->some;
	if (u->some.row && n == u->some.row)
		return (hu_region){ u->some.left, u->some.right, 0, 0, 0 };
	if (!u->some.row && n && all % n == 0)
		return (hu_region){ u->some.first / (all / n), u->some.last / (all / n), 0, 0, 0 };
	r.last = u->tile ? 0 : n;
	return r;
}

static int
output_number(const hu_call *c, int id)
{
	for (int k = 0; k < c->nout; k++)
		if (c->out[k] == id)
			return k;
	return -1;
}

int
hu_analysis_job(const hu_analysis *a, const hu_trace *t, int id, hu_tensor **in, size_t **element, hu_judge_job *job)
{
	const hu_program *p = a->run->train;
	size_t n;

	*element = NULL;
	if (p->t[id].producer < 0 || !t->t[id].data)
		return 0;
	const hu_call *c = &p->c[p->t[id].producer];
	if (!HU_COLUMN(c->op, reference))
		return 0;
	for (int k = 0; k < c->nin; k++) {
		in[k] = &t->t[c->in[k]];
		if (!in[k]->data)
			return 0;
	}
	n = t->t[id].n;
	if (a->opt.sample)
		*element = hu_sample(a->opt.seed, p->t[id].name, t->step, n, a->opt.sample, &n);
	*job = (hu_judge_job){ .engine = a->opt.engine,
		.c = c,
		.in = in,
		.out = output_number(c, id),
		.got = &t->t[id],
		.element = *element,
		.n = n,
		.hex = a->opt.elements != NULL,
		.seed = a->opt.seed ^ t->step };
	return 1;
}

int
hu_analysis_narrows(const hu_program *p, const hu_call *c, int k)
{
	hu_format to = hu_format_of(p->t[c->out[k]].format), from = hu_format_of(c->fmt.compute);

	return c->op->role != HU_ROLE_CAST && (to.p < from.p || to.emin > from.emin);
}

hu_status
hu_analysis_judge(hu_analysis *a, hu_trace *t, int id, hu_memo **memo, const hu_judged **result)
{
	const hu_program *p = a->run->train;
	hu_judge_job job;
	size_t *element;

	*result = t->judged[id];
	if (*result || p->t[id].producer < 0)
		return HU_OK;
	for (int k = 0; !a->opt.sample && k < p->nt; k++) {
		hu_judged_free(t->judged[k]);
		t->judged[k] = NULL;
	}
	hu_tensor **in = hu_xmalloc(((size_t)p->c[p->t[id].producer].nin + 1) * sizeof *in);
	hu_status st = HU_OK;
	if (hu_analysis_job(a, t, id, in, &element, &job)) {
		job.memo = memo;
		st = hu_judged_new(&job, &t->judged[id]);
		*result = t->judged[id];
	}
	free(element);
	free(in);
	return st;
}

hu_status
hu_analysis_doubles(double *v, hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, size_t first, size_t n, hu_methods *methods)
{
	const hu_enclosed *e = t->enclosed[c->out[out]];

	if (e && e->first == first && e->n == n)
		return hu_exact_doubles_enclosed(v, a->opt.engine, c, in, out, minus, e, methods);
	return hu_exact_doubles(v, a->opt.engine, c, in, out, minus, first, n, methods);
}

void
hu_analysis_forget(hu_analysis *a, hu_trace *t, int c)
{
	const hu_program *p = a->run->train;

	for (int k = 0; c >= 0 && k < p->c[c].nout; k++) {
		int id = p->c[c].out[k];
		hu_judged_free(t->judged[id]);
		t->judged[id] = NULL;
		free(t->enclosed[id]);
		t->enclosed[id] = NULL;
	}
	for (int k = 0; c < 0 && t->ideal && k < p->nt; k++) {
		hu_room_free(t->ideal[k]);
		t->ideal[k] = NULL;
	}
}

void
hu_analysis_cool(const hu_trace *t)
{
	if (t->file.s.map_bytes > HU_RUN_TRACE_IN_MEMORY || t->file.in_file)
		hu_run_trace_cool(&t->file);
}

hu_status
hu_analysis_ideal(hu_analysis *a, hu_trace *t)
{
	if (t->ideal || !a->opt.propagate)
		return HU_OK;
	const hu_program *p = a->run->train;
	char *keep = hu_xcalloc((size_t)p->nt + 1, 1);
	hu_errors_step *errors = hu_xcalloc((size_t)p->nt + 1, sizeof *errors);
	for (int i = 0; i < p->nt && a->opt.gradients; i++) {
		keep[i] |= (char)(hu_program_scales(p, i) || p->t[i].choice || p->t[i].read);
		int grad = hu_program_grad(p, t->step, i);
		int next = p->t[i].state ? hu_program_next(p, t->step, i) : -1;
		if (p->t[i].trainable && grad >= 0)
			keep[grad] = 1;
		if (next >= 0)
			keep[next] = 1;
	}
	hu_status st = hu_propagate(p, t->t, a->opt.engine, a->opt.seed, keep, errors, &t->ideal, &t->how);
	if (t->ideal)
		t->propagated = errors;
	else
		free(errors);
	free(keep);
	return st;
}
