/* SPDX-License-Identifier: Apache-2.0
   The analyzer replay computes every traced call again exactly from its recorded inputs. It reports the local error,
   which the call itself made, beside the propagated error, which includes what it inherited. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "lib/judge/errors.h"
#include "lib/judge/propagate.h"

#include "lib/exact/dot.h"
#include "lib/exact/gemm.h"
#include "lib/base/mem.h"
#include "lib/base/console/progress.h"
#include "lib/number/round.h"
#include "lib/op/attr.h"

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
note_fault(faults *all, const hu_analysis *a, size_t step, int id, size_t element, double got, double exact,
	double ulps, double bound)
{
	const hu_program *p = a->run->train;
	double unit = hu_isfinite(exact) ? ldexp(1.0, hu_ulp_exponent(exact, hu_format_of(p->t[id].format))) : INFINITY;

	HU_GROW(all->f, all->n, all->cap);
	all->f[all->n++] = (fault){ step, element, p->t[id].producer, id, got, exact, ulps, bound / unit };
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
propagated(hu_tsv *out, const hu_errors_step *m)
{
	if (!m || !m->known) {
		for (int i = 0; i < 3; i++)
			hu_tsv_none(out);
		return;
	}
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	if (isinf(m->rel_normwise)) /* the exact tensor is 0, as the gradient of a bias before batchnorm is, or no value
				       is finite */
		hu_tsv_none(out);
	else
		hu_tsv_real(out, m->rel_normwise);
}

static void
row(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, size_t judged, const hu_errors *m)
{
	const hu_info *info = &a->run->train->t[id];
	const hu_call *c = &a->run->train->c[info->producer];
	char sum[96] = "-";

	if (hu_attr_library(c) > 0)
		snprintf(sum, sizeof sum, "a library's");
	else if (c->op->cls == HU_CLASS_GEMM)
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
	hu_tsv_int(out, (long long)hu_count(info->shape));
	hu_tsv_int(out, (long long)judged);
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
	propagated(out, t->propagated ? &t->propagated[id] : NULL);
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

typedef struct tables {
	hu_tsv out, each;
	faults all;
	hu_ladder ladder;
	size_t outputs, overflowed;
	double worst;
} tables;

/* One tensor being judged. */
typedef struct tensor { const hu_analysis *a; const hu_trace *t; int id; hu_errors_sum sum; faults *all; } tensor;

static void
take(void *context, const hu_judging *some)
{
	tensor *x = context;

	hu_errors_add(&x->sum, some);
	for (size_t i = 0; i < some->n; i++)
		if (some->over[i]) {
#pragma omp critical(hu_replay_faults)
			note_fault(x->all, x->a, x->t->step, x->id, some->element[i], some->got[i], some->exact[i],
				some->ulps[i], some->bound[i]);
		}
}

/* Judges into arrays that are kept, where others will ask for them or every element gets a row. */
static hu_status
judge_kept(hu_analysis *a, hu_trace *t, int id, hu_memo **memo, tables *w, hu_errors *m, size_t *n)
{
	const hu_judged *j;

	HU_TRY(hu_analysis_judge(a, t, id, memo, &j));
	if (!j)
		return HU_OK;
	hu_errors_local(m, j);
	for (size_t i = 0; i < j->n; i++)
		if (j->over[i])
			note_fault(&w->all, a, t->step, id, j->element[i], j->got[i], j->exact[i], j->ulps[i],
				j->bound[i]);
	if (a->opt.elements)
		elements(&w->each, a, t, id, j);
	hu_ladder_add(&w->ladder, &j->ladder);
	*n = j->n;
	return HU_OK;
}

static hu_status
judge_streaming(hu_analysis *a, hu_trace *t, int id, hu_memo **memo, tables *w, hu_errors *m, size_t *n)
{
	tensor x = { .a = a, .t = t, .id = id, .all = &w->all };
	hu_tensor **in = hu_xmalloc(((size_t)a->run->train->c[a->run->train->t[id].producer].nin + 1) * sizeof *in);
	hu_judge_job job;
	size_t *element;
	hu_status st = HU_OK;

	if (hu_analysis_job(a, t, id, in, &element, &job)) {
		hu_errors_begin(&x.sum, job.n, job.got->n);
		job.memo = memo;
		job.take = take;
		job.context = &x;
		st = hu_judge_each(&job, &w->ladder);
		hu_errors_end(m, &x.sum);
		*n = job.n;
	}
	free(element);
	free(in);
	return st;
}

/* Judges every output of the step, call by call, and writes its rows. */
static hu_status
judge_step(hu_analysis *a, hu_trace *t, tables *w, hu_progress *bar)
{
	const hu_program *p = a->run->train;
	int kept = a->opt.sample || a->opt.elements;

	for (int c = 0; c < p->nc; c++) {
		hu_memo *memo = NULL;
		hu_status st = HU_OK;
		for (int k = 0; k < p->c[c].nout && st == HU_OK; k++) {
			int id = p->c[c].out[k];
			size_t n = 0;
			hu_errors m;
			st = (kept ? judge_kept : judge_streaming)(a, t, id, &memo, w, &m, &n);
			hu_progress_step(bar, 1);
			if (st != HU_OK) {
				char *why = hu_xstrdup(hu_reason());
				hu_fail(st, "step %zu, %s: %s", t->step, p->t[id].name, why);
				free(why);
			} else if (n) {
				row(&w->out, a, t, id, n, &m);
				w->outputs += n;
				w->overflowed += isinf(m.ulp_max) != 0;
				w->worst = m.ulp_max > w->worst && !isinf(m.ulp_max) ? m.ulp_max : w->worst;
			}
		}
		if (memo)
			memo->release(memo);
		hu_analysis_cool(t);
		HU_TRY(st);
	}
	return HU_OK;
}

static void
begin(const hu_analysis *a, tables *w)
{
	const hu_analysis_options *o = &a->opt;

	memset(w, 0, sizeof *w);
	hu_tsv_init(&w->out);
	hu_analysis_provenance(a, &w->out, "replay");
	if (o->sample)
		hu_tsv_note(&w->out, "sample",
			"%zu of each tensor's elements at most, seed %llu; with 95 %% confidence at most %.3g %% of a "
			"sampled tensor's elements exceed its ulp_max; ulp_mean_ci95 is the half width of the mean's "
			"interval",
			o->sample, (unsigned long long)o->seed, 100 * (1 - pow(0.05, 1.0 / (double)o->sample)));
	else
		hu_tsv_note(&w->out, "sample", "all elements");
	hu_tsv_note(&w->out, "engine", "%s: %s", o->engine->name, o->engine->summary);
	hu_tsv_note(&w->out, "backward errors",
		"normwise |error|2 / |magnitude|2 over the judged elements; componentwise the largest |error| / "
		"magnitude; magnitude is the sum of the absolute terms, |exact| where a value is no sum; condition = "
		"magnitude / |exact|");
	hu_tsv_note(&w->out, "propagated", "%s", o->propagate ? HU_PROPAGATE_HOW : "switched off");
	hu_tsv_header(&w->out, COLUMNS);
	hu_tsv_init(&w->each);
	hu_tsv_header(&w->each, "step call tensor element got exact_hex error_ulps");
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
	hu_tsv_note(&w->out, "ladder",
		"%zu values: %zu exact in two doubles, %zu certified by their error bound, %zu by the reference (of "
		"these and of sums judged again %llu single sums of products exactly on grids)",
		w->outputs, w->ladder.exact, w->ladder.certified, w->ladder.oracle, integers);
	hu_again_note_step(a, &w->out);
	hu_exact_tally k;
	hu_exact_tally_get(&k);
	hu_tsv_note(&w->out, "kernels", "%s", hu_exact_describe());
	const hu_exact_ways *by = &k.by;
	double terms = (double)k.terms.one + (double)k.terms.two + (double)k.terms.more + (double)k.terms.integers +
		       (double)k.terms.blas + (double)k.terms.mpfr;
	hu_tsv_note(&w->out, "whole products",
		"%llu outputs exactly, of %.4g multiply-adds: %llu on grids of one double, %llu of two, %llu of more, "
		"%llu by 52-bit integers, %llu by slices on the BLAS, %llu by MPFR",
		(unsigned long long)k.sums, terms, (unsigned long long)by->one, (unsigned long long)by->two,
		(unsigned long long)by->more, (unsigned long long)by->integers, (unsigned long long)by->blas,
		(unsigned long long)by->mpfr);
	again += k.judged;
	hu_tsv_note(&w->out, "judged again",
		"%zu values, one of each call (of norms, of one call in four) and one in 65536, and %llu exact sums "
		"judged again by MPFR, 0 disagreed",
		w->ladder.again, again);
	st = hu_analysis_write(a, &w->out, "replay.tsv");
	hu_status faults_st = write_faults(a, &w->all), each_st = HU_OK;
	if (a->opt.elements)
		each_st = hu_tsv_write(&w->each, a->opt.elements);
	else
		hu_tsv_release(&w->each);
	hu_str_addf(&a->said, "%zu outputs judged", w->outputs);
	if (w->overflowed)
		hu_str_addf(&a->said, ", some of %zu tensors overflowed; of the other tensors", w->overflowed);
	hu_str_addf(&a->said, ", the worst %.4g ulp off; %zu outside their call's bound", w->worst, a->over_bound);
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
		if ((st = hu_analysis_trace(a, i, &t)) == HU_OK && (st = hu_analysis_ideal(a, t)) == HU_OK)
			st = judge_step(a, t, &w, &bar);
		if (st == HU_OK)
			hu_analysis_done(a, t);
	}
	hu_progress_end(&bar);
	st = finish(a, &w, st);
	free(w.all.f);
	return st;
}

static const hu_held_column held[] = {
	{ "replay", "step layer call tensor", "ulp_max", HU_HELD_AGAINST_UP },
	{ "replay", "step layer call tensor", "ulp_mean", HU_HELD_AGAINST_UP },
	{ "replay", "step layer call tensor", "backward_normwise", HU_HELD_AGAINST_UP },
	{ "replay", "step layer call tensor", "bound_ratio_max", HU_HELD_AGAINST_UP },
	{ "replay", "step layer call tensor", "over_bound", HU_HELD_AGAINST_UP },
	{ "replay", "step layer call tensor", "propagated_rel_normwise", HU_HELD_AGAINST_UP },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_replay = { "replay",
	"every traced call again from its recorded inputs, exactly: errors in ulps, backward errors, condition, bound",
	run, held };
