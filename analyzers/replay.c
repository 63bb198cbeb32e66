/* SPDX-License-Identifier: Apache-2.0
   replay: every traced call again from its recorded inputs, exactly. Local error
   (what the call itself did) beside the propagated error (what it inherited too). */
#include "analyzers/analyzer.h"
#include "analyzers/propagate.h"

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

typedef struct fault { size_t step, element; int call, tensor; double got, exact, ulps, bound_ulps; char *hex; } fault;
typedef struct faults { fault *f; size_t n, cap; } faults;

/* Errors of one output tensor. */
typedef struct measures {
	double ulp_max, ulp_mean, ulp_p99, ci95, rel_max, normwise, componentwise, condition_max, ratio_max;
	size_t over, worst;
} measures;

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
measure(measures *m, const hu_judged *j)
{
	double *sorted = hu_xmalloc((j->n + 1) * sizeof *sorted), n = (double)j->n;
	long double sum = 0, sum2 = 0, error2 = 0, magnitude2 = 0;

	memset(m, 0, sizeof *m);
	m->worst = j->n ? j->element[0] : 0;
	for (size_t i = 0; i < j->n; i++) {
		double e = j->error[i], exact = fabs(j->exact[i]), mag = j->magnitude[i];
		double ratio = e == 0 ? 0 : isinf(j->bound[i]) ? 0 : e / j->bound[i];
		sorted[i] = j->ulps[i];
		sum += j->ulps[i];
		sum2 += (long double)j->ulps[i] * j->ulps[i];
		if (j->ulps[i] > m->ulp_max) {
			m->ulp_max = j->ulps[i];
			m->worst = j->element[i];
		}
		if (exact > 0 && e / exact > m->rel_max)
			m->rel_max = e / exact;
		if (exact > 0 && mag / exact > m->condition_max)
			m->condition_max = mag / exact;
		if (e > 0 && e / mag > m->componentwise)
			m->componentwise = e / mag;
		if (ratio > m->ratio_max)
			m->ratio_max = ratio;
		if (isfinite(e) && isfinite(mag)) {
			error2 += (long double)e * e;
			magnitude2 += (long double)mag * mag;
		}
		m->over += (size_t)j->over[i];
	}
	if (j->n) {
		m->ulp_mean = (double)(sum / n);
		qsort(sorted, j->n, sizeof *sorted, ascending);
		m->ulp_p99 = sorted[(size_t)ceil(0.99 * n) - 1];
	}
	if (j->n > 1 && isfinite(m->ulp_mean)) {
		/* Normal approximation with the finite population's correction: 0 where everything was judged. */
		long double var = (sum2 - sum * sum / n) / (n - 1);
		m->ci95 = 1.96 * sqrt((double)(var > 0 ? var : 0) / n * (1 - n / (double)j->of));
	}
	m->normwise = magnitude2 > 0 ? (double)sqrtl(error2 / magnitude2) : error2 > 0 ? INFINITY : 0;
	free(sorted);
}

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
		all->f[all->n++] = (fault){ t->step, j->element[i], p->t[id].producer, id, j->got[i], j->exact[i], j->ulps[i], j->bound[i] / unit, j->hex ? j->hex[i] : NULL };
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

/* The recorded tensor against the exact step's, all elements. */
static void
propagated(hu_tsv *out, const hu_tensor *got, const double *ideal)
{
	hu_format f = hu_format_of(got->format);
	long double error2 = 0, exact2 = 0, sum = 0;
	double most = 0;

	for (size_t i = 0; ideal && i < got->n; i++) {
		double g = hu_get(got, i), ulps = ldexp(fabs(g - ideal[i]), -hu_ulp_exponent(hu_isfinite(ideal[i]) ? ideal[i] : 0, f));
		if (g == ideal[i])
			ulps = 0;
		if (isnan(ulps))
			ulps = isnan(g) && isnan(ideal[i]) ? 0 : INFINITY;
		if (ulps > most)
			most = ulps;
		sum += ulps;
		if (isfinite(g) && isfinite(ideal[i])) {
			error2 += ((long double)g - ideal[i]) * ((long double)g - ideal[i]);
			exact2 += (long double)ideal[i] * ideal[i];
		}
	}
	double share = exact2 > 0 ? (double)sqrtl(error2 / exact2) : error2 > 0 ? INFINITY : 0;
	if (!ideal || (share > 0 && share < HU_PROPAGATE_FLOOR) || hu_is_wide(got->format)) {
		for (int i = 0; i < 3; i++)
			hu_tsv_none(out);
		return;
	}
	hu_tsv_real(out, most);
	hu_tsv_real(out, (double)(sum / (long double)got->n));
	hu_tsv_real(out, share);
}

static void
row(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j, const measures *m)
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

static hu_status
write_all(hu_analysis *a, hu_tsv *out, hu_tsv *each, faults *all)
{
	HU_TRY(write_faults(a, all));
	if (a->opt.elements) {
		hu_tsv copy = *each;
		memset(each, 0, sizeof *each);
		HU_TRY(hu_tsv_write(&copy, a->opt.elements));
	}
	hu_tsv copy = *out;
	memset(out, 0, sizeof *out);
	return hu_analysis_write(a, &copy, "replay.tsv");
}

static hu_status
run(hu_analysis *a)
{
	const hu_program *p = a->run->train;
	hu_tsv out, each;
	faults all = { NULL, 0, 0 };
	hu_progress bar;
	size_t outputs = 0;
	double worst = 0;
	hu_status st = HU_OK;

	hu_tsv_init(&out);
	hu_run_provenance(a->run, &out, "replay");
	if (a->opt.sample)
		hu_tsv_note(&out, "sample", "%zu of each tensor's elements at most, seed %llu; with 95 %% confidence at most %.3g %% of a sampled tensor's elements exceed its ulp_max; ulp_mean_ci95 is the half width of the mean's interval", a->opt.sample, (unsigned long long)a->opt.seed, 100 * (1 - pow(0.05, 1.0 / (double)a->opt.sample)));
	else
		hu_tsv_note(&out, "sample", "all elements");
	hu_tsv_note(&out, "engine", "%s", a->opt.engine->name);
	hu_tsv_note(&out, "backward errors", "normwise |error|2 / |magnitude|2 over the judged elements; componentwise the largest |error| / magnitude; magnitude is the sum of the absolute terms, |exact| where a value is no sum; condition = magnitude / |exact|");
	hu_tsv_note(&out, "propagated", "%s", a->opt.propagate ? HU_PROPAGATE_HOW : "switched off");
	hu_tsv_header(&out, COLUMNS);
	hu_tsv_init(&each);
	hu_tsv_header(&each, "step call tensor element got exact_hex error_ulps");
	hu_progress_start(&bar, "replay", (size_t)a->nstep * (size_t)p->nt);
	for (int i = 0; i < a->nstep && st == HU_OK; i++) {
		hu_trace *t;
		if ((st = hu_analysis_trace(a, i, &t)) != HU_OK || (st = judge_step(a, t, &bar)) != HU_OK || (st = hu_analysis_ideal(a, t)) != HU_OK)
			break;
		for (int c = 0; c < p->nc; c++)
			for (int k = 0; k < p->c[c].nout; k++) {
				int id = p->c[c].out[k];
				const hu_judged *j = t->judged[id];
				measures m;
				if (!j)
					continue;
				measure(&m, j);
				row(&out, a, t, id, j, &m);
				note_faults(&all, a, t, id, j);
				if (a->opt.elements)
					elements(&each, a, t, id, j);
				outputs += j->n;
				worst = m.ulp_max > worst ? m.ulp_max : worst;
			}
	}
	hu_progress_end(&bar);
	if (st == HU_OK)
		st = write_all(a, &out, &each, &all);
	if (st == HU_OK)
		hu_str_addf(&a->said, "%zu outputs judged, the worst %.4g ulp off; %zu outside their call's bound", outputs, worst, a->over_bound);
	if (out.text.s)
		hu_tsv_release(&out);
	if (each.text.s)
		hu_tsv_release(&each);
	free(all.f);
	return st;
}

const hu_analyzer hu_analyzer_replay = { "replay", "every traced call again from its recorded inputs, exactly: errors in ulps, backward errors, condition, bound", run };
