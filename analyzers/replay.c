/* SPDX-License-Identifier: Apache-2.0
   replay: every traced call again from its recorded inputs, exactly. Local error
   (what the call itself did) beside the propagated error (what it inherited too). */
#include "analyzers/analyzer.h"
#include "analyzers/errors.h"
#include "analyzers/propagate.h"

#include "lib/exact/dot.h"
#include "lib/base/mem.h"
#include "lib/base/progress.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                     \
	"step call op phase layer tensor format compute sum elements sampled ulp_max ulp_mean ulp_p99 rel_max "      \
	"backward_normwise backward_componentwise condition_max bound_ratio_max over_bound worst_element "           \
	"propagated_ulp_max propagated_ulp_mean propagated_rel_normwise ulp_mean_ci95"

typedef struct fault { size_t step, element; int call, tensor; double got, exact, ulps, bound_ulps; } fault;
typedef struct faults { fault *f; size_t n, cap; } faults;

static void
note_faults(faults *all, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j)
{
	const hu_program *p = a->run->train;
	hu_format f = hu_format_of(p->t[id].format);

	for (size_t i = 0; i < j->n; i++) {
		if (!j->over[i])
			continue;
		double unit = hu_isfinite(j->exact[i]) ? ldexp(1.0, hu_ulp_exponent(j->exact[i], f)) : INFINITY;
		HU_GROW(all->f, all->n, all->cap);
		all->f[all->n++] = (fault){ t->step, j->element[i], p->t[id].producer, id, j->got[i], j->exact[i], j->ulps[i], j->bound[i] / unit };
	}
}

static int
worst_first(const void *a, const void *b)
{
	const fault *x = a, *y = b;

	if (x->ulps != y->ulps)
		return x->ulps < y->ulps ? 1 : -1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->tensor != y->tensor)
		return x->tensor < y->tensor ? -1 : 1;
	return x->element < y->element ? -1 : x->element > y->element;
}

static hu_status
write_faults(hu_analysis *a, faults *all)
{
	hu_tsv t;

	if (all->n)
		qsort(all->f, all->n, sizeof *all->f, worst_first);
	hu_analysis_begin(a, &t, "faults", "step call tensor element got exact error_ulps bound_ulps");
	for (size_t i = 0; i < all->n; i++) {
		const fault *f = &all->f[i];
		hu_tsv_int(&t, (long long)f->step);
		hu_tsv_int(&t, f->call);
		hu_tsv_text(&t, a->run->train->t[f->tensor].name);
		hu_tsv_int(&t, (long long)f->element);
		hu_tsv_real(&t, f->got);
		hu_tsv_real(&t, f->exact);
		hu_tsv_real(&t, f->ulps);
		hu_tsv_real(&t, f->bound_ulps);
	}
	a->over_bound = all->n;
	return hu_analysis_write(a, &t, "faults.tsv");
}

static void
propagated(hu_tsv *out, const hu_tensor *got, const double *ideal)
{
	hu_errors_step m = { .known = 0 };

	if (ideal)
		hu_errors_propagated(&m, got, ideal);
	if (m.known) {
		hu_tsv_real(out, m.ulp_max);
		hu_tsv_real(out, m.ulp_mean);
		hu_tsv_real(out, m.rel_normwise);
	} else
		for (int i = 0; i < 3; i++)
			hu_tsv_none(out);
}

static void
row(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j, const hu_errors *m)
{
	const hu_info *info = &a->run->train->t[id];
	const hu_call *c = &a->run->train->c[info->producer];
	char sum[96] = "-";

	if (c->op->cls == HU_CLASS_GEMM)
		hu_sum_print(c->sum, sum, sizeof sum);
	hu_tsv_int(out, (long long)t->step);
	hu_tsv_int(out, c->id);
	hu_tsv_text(out, c->op->name);
	hu_tsv_text(out, hu_phase_name(c->phase));
	hu_tsv_text(out, c->layer);
	hu_tsv_text(out, info->name);
	hu_tsv_text(out, hu_format_name(info->format));
	hu_tsv_text(out, hu_format_name(c->fmt.compute));
	hu_tsv_text(out, sum);
	hu_tsv_int(out, (long long)j->of);
	hu_tsv_int(out, (long long)j->n);
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	hu_tsv_real(out, m->ulp_p99);
	hu_tsv_real(out, m->rel_max);
	hu_tsv_real(out, m->normwise);
	hu_tsv_real(out, m->componentwise);
	hu_tsv_real(out, m->condition_max);
	hu_tsv_real(out, m->ratio_max);
	hu_tsv_int(out, (long long)m->over);
	hu_tsv_int(out, (long long)m->worst);
	propagated(out, &t->t[id], t->ideal ? t->ideal[id] : NULL);
	hu_tsv_real(out, m->ci95);
}

static void
elements(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j)
{
	for (size_t i = 0; i < j->n; i++) {
		hu_tsv_int(out, (long long)t->step);
		hu_tsv_int(out, a->run->train->t[id].producer);
		hu_tsv_text(out, a->run->train->t[id].name);
		hu_tsv_int(out, (long long)j->element[i]);
		hu_tsv_real(out, j->got[i]);
		hu_tsv_text(out, j->hex[i]);
		hu_tsv_real(out, j->ulps[i]);
	}
}

typedef struct job { int id; double cost; } job;

static int
dearest_first(const void *a, const void *b)
{
	const job *x = a, *y = b;

	return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : x->id - y->id;
}

/* Judges every output of the step, the dearest first so that threads end together. */
static hu_status
judge_step(hu_analysis *a, hu_trace *t, hu_progress *bar)
{
	const hu_program *p = a->run->train;
	job *jobs = hu_xmalloc(((size_t)p->nt + 1) * sizeof *jobs);
	int n = 0;
	hu_status st = HU_OK;
	char why[512] = "";

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].producer >= 0) {
			hu_cost cost = hu_call_cost(p, &p->c[p->t[i].producer]);
			jobs[n++] = (job){ i, cost.macs + cost.flops };
		}
	qsort(jobs, (size_t)n, sizeof *jobs, dearest_first);
#pragma omp parallel for schedule(dynamic, 1)
	for (int i = 0; i < n; i++) {
		const hu_judged *j;
		hu_status mine = st == HU_OK ? hu_analysis_judge(a, t, jobs[i].id, &j) : HU_OK;
		if (mine != HU_OK) {
#pragma omp critical(hu_replay_why)
			{
				st = mine; /* the reason is this thread's own: carried over to the caller's */
				snprintf(why, sizeof why, "step %zu, %s: %s", t->step, p->t[jobs[i].id].name, hu_reason());
			}
		}
		hu_progress_step(bar, 1);
	}
	free(jobs);
	return st == HU_OK ? HU_OK : hu_fail(st, "%s", why);
}

typedef struct tables { hu_tsv out, each; faults all; size_t outputs; double worst; } tables;

static void
begin(const hu_analysis *a, tables *w)
{
	const hu_analysis_options *o = &a->opt;

	memset(w, 0, sizeof *w);
	hu_tsv_init(&w->out);
	hu_run_provenance(a->run, &w->out, "replay");
	if (o->sample)
		hu_tsv_note(&w->out, "sample", "%zu of each tensor's elements at most, seed %llu; with 95 %% confidence at most %.3g %% of a sampled tensor's elements exceed its ulp_max; ulp_mean_ci95 is the half width of the mean's interval", o->sample, (unsigned long long)o->seed, 100 * (1 - pow(0.05, 1.0 / (double)o->sample)));
	else
		hu_tsv_note(&w->out, "sample", "all elements");
	hu_tsv_note(&w->out, "engine", "%s: %s", o->engine->name, o->engine->summary);
	hu_tsv_note(&w->out, "backward errors", "normwise |error|2 / |magnitude|2 over the judged elements; componentwise the largest |error| / magnitude; magnitude is the sum of the absolute terms, |exact| where a value is no sum; condition = magnitude / |exact|");
	hu_tsv_note(&w->out, "propagated", "%s", o->propagate ? HU_PROPAGATE_HOW : "switched off");
	hu_tsv_header(&w->out, COLUMNS);
	hu_tsv_init(&w->each);
	hu_tsv_header(&w->each, "step call tensor element got exact_hex error_ulps");
}

/* Rows of a judged step, in the order of its calls. */
static void
step_rows(hu_analysis *a, const hu_trace *t, tables *w)
{
	const hu_program *p = a->run->train;

	for (int c = 0; c < p->nc; c++)
		for (int k = 0; k < p->c[c].nout; k++) {
			int id = p->c[c].out[k];
			const hu_judged *j = t->judged[id];
			hu_errors m;
			if (!j)
				continue;
			hu_errors_local(&m, j);
			row(&w->out, a, t, id, j, &m);
			note_faults(&w->all, a, t, id, j);
			if (a->opt.elements)
				elements(&w->each, a, t, id, j);
			w->outputs += j->n;
			w->worst = m.ulp_max > w->worst ? m.ulp_max : w->worst;
		}
}

/* Writes and releases the tables. */
static hu_status
finish(hu_analysis *a, tables *w, hu_status st)
{
	if (st != HU_OK) {
		hu_tsv_release(&w->out);
		hu_tsv_release(&w->each);
		return st;
	}
	unsigned long long integers, again;
	hu_exact_counts(&integers, &again);
	hu_tsv_note(&w->out, "judged again", "%llu sums of products were taken in integers; MPFR judged %llu of them again, 0 disagreed", integers, again);
	st = hu_analysis_write(a, &w->out, "replay.tsv");
	hu_status faults_st = write_faults(a, &w->all), each_st = HU_OK;
	if (a->opt.elements)
		each_st = hu_tsv_write(&w->each, a->opt.elements);
	else
		hu_tsv_release(&w->each);
	hu_str_addf(&a->said, "%zu outputs judged, the worst %.4g ulp off; %zu outside their call's bound", w->outputs, w->worst, a->over_bound);
	return st != HU_OK ? st : faults_st != HU_OK ? faults_st : each_st;
}

static hu_status
run(hu_analysis *a)
{
	tables w;
	hu_progress bar;
	hu_status st = HU_OK;

	begin(a, &w);
	hu_progress_start(&bar, "replay", (size_t)a->nstep * (size_t)a->run->train->nt);
	for (int i = 0; i < a->nstep && st == HU_OK; i++) {
		hu_trace *t;
		if ((st = hu_analysis_trace(a, i, &t)) == HU_OK && (st = judge_step(a, t, &bar)) == HU_OK && (st = hu_analysis_ideal(a, t)) == HU_OK)
			step_rows(a, t, &w);
	}
	hu_progress_end(&bar);
	st = finish(a, &w, st);
	free(w.all.f);
	return st;
}

const hu_analyzer hu_analyzer_replay = { "replay", "every traced call again from its recorded inputs, exactly: errors in ulps, backward errors, condition, bound", run };
