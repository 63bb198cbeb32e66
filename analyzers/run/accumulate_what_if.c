/* SPDX-License-Identifier: Apache-2.0
   The analyzer accumulate-what-if sums the recorded operands of every product of a traced step again with other
   accumulators, and judges each as replay judges the run's own. It runs only where it is asked for, by name or by
   models. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "lib/judge/parts/packs.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                  \
	"step call op phase layer tensor format terms sum recorded elements sampled ulp_max ulp_mean ulp_mean_ci95 " \
	"backward_normwise bound_ulp_max bound_ratio_max over_bound sqrt_n_u additions swamped share_swamped stagnated"

enum { MODELS = 64 };

/* The models that are tried by default: those that matrix products run with today, and lower precisions. */
static const char *const usual[] = { "fma,acc=fp32", "pairwise,acc=fp32", "fma,acc=fp16", "chunk:64,acc=fp16",
	"kahan,acc=fp16", "fma,acc=bf16", "chunk:64,acc=bf16", "kahan,acc=bf16", "tc:hopper,out=fp32,path=wgmma",
	"tc:hopper,out=fp16,path=wgmma", NULL };

/* A model and its totals over all calls of the run. */
typedef struct model {
	hu_sum sum;
	char name[96];
	double worst, ulps;
	size_t calls, refused, outputs, stagnated;
	uint64_t additions, swamped;
} model;

typedef struct models { model m[MODELS]; int n; char why[512]; } models;

typedef struct study {
	hu_analysis *a;
	hu_trace *t;
	hu_call call;          /* the call with its summation model replaced */
	hu_tensor **in;
	hu_tensor got;         /* memory for its output */
	size_t *element, n, terms;
	hu_ladder *ladder;
} study;

static hu_status
add_model(models *all, const char *text)
{
	if (all->n == MODELS)
		return hu_fail(HU_EINVAL, "--accumulate: more than %d models", MODELS);
	model *m = &all->m[all->n];
	memset(m, 0, sizeof *m);
	HU_TRY(hu_sum_parse(text, &m->sum));
	hu_sum_print(m->sum, m->name, sizeof m->name);
	all->n++;
	return HU_OK;
}

static void
row(hu_tsv *out, const study *s, const char *sum, int recorded, const hu_errors *m, double bound_ulps,
	const hu_swamp *k)
{
	const hu_call *c = &s->call;
	const hu_info *info = &s->a->run->train->t[c->out[0]];
	hu_sum settled = c->sum;
	hu_format acc = hu_format_of(hu_sum_resolve(&settled, s->in[0]->format, s->in[1]->format, c->fmt.acc) == HU_OK
					     ? settled.acc
					     : HU_FP32);

	hu_tsv_int(out, (long long)s->t->step);
	hu_tsv_int(out, c->id);
	hu_tsv_text(out, c->op->name);
	hu_tsv_text(out, hu_phase_name(c->phase));
	hu_tsv_text(out, c->layer);
	hu_tsv_text(out, info->name);
	hu_tsv_text(out, hu_format_name(info->format));
	hu_tsv_int(out, (long long)s->terms);
	hu_tsv_text(out, sum);
	hu_tsv_int(out, recorded);
	hu_tsv_int(out, (long long)s->got.n);
	hu_tsv_int(out, (long long)s->n);
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	hu_tsv_real(out, m->ci95);
	hu_tsv_real(out, m->normwise);
	hu_tsv_real(out, bound_ulps);
	hu_tsv_real(out, m->ratio_max);
	hu_tsv_int(out, (long long)m->over);
	hu_tsv_real(out, sqrt((double)s->terms) * hu_unit(acc));
	hu_tsv_int(out, (long long)k->additions);
	hu_tsv_int(out, (long long)k->swamped);
	hu_tsv_real(out, k->additions ? (double)k->swamped / (double)k->additions : 0);
	hu_tsv_int(out, (long long)k->stagnated);
}

/* Returns the largest error bound in ulps of its output. */
static double
bound_in_ulps(const hu_judged *j, hu_format f)
{
	double most = 0;

	for (size_t i = 0; i < j->n; i++) {
		double b = j->bound[i] == 0           ? 0
			   : hu_isfinite(j->exact[i]) ? ldexp(j->bound[i], -hu_ulp_exponent(j->exact[i], f))
						      : INFINITY;
		most = b > most ? b : most;
	}
	return most;
}

/* Judges the call's sample under the summation model that it has now. `to` receives the counts; NULL for the run's own
   model. */
static hu_status
study_sum(study *s, hu_tsv *out, const char *name, model *to)
{
	const hu_call *c = &s->call;
	hu_env env = { (uint64_t)json_integer_value(json_object_get(s->a->run->manifest, "seed")),
		(uint32_t)s->t->step };
	size_t *element = hu_xmalloc((s->n + 1) * sizeof *element);
	double *value = hu_xmalloc((s->n + 1) * sizeof *value);
	hu_swamp count = { 0, 0, 0, 0 };
	hu_judged *j = NULL;
	hu_errors m;
	hu_status st = HU_COLUMN(c->op, emulate_some)(c, s->in, 0, s->element, s->n, &env, value, &count);

	for (size_t i = 0; st == HU_OK && i < s->n; i++)
		hu_put(&s->got, s->element[i], value[i]);
	free(value);
	memcpy(element, s->element, s->n * sizeof *element);
	if (st != HU_OK) {
		free(element);
		return st;
	}
	HU_TRY(hu_judge(s->a->opt.engine, c, s->in, 0, &s->got, element, s->n, 0, &j));
	hu_errors_local(&m, j);
	row(out, s, name, !to, &m, bound_in_ulps(j, hu_format_of(s->got.format)), &count);
	hu_ladder_add(s->ladder, &j->ladder);
	hu_judged_free(j);
	if (to) {
		to->calls++;
		to->outputs += s->n;
		to->worst = m.ulp_max > to->worst ? m.ulp_max : to->worst;
		to->ulps += m.ulp_mean * (double)s->n;
		to->additions += count.additions;
		to->swamped += count.swamped;
		to->stagnated += count.stagnated;
	}
	return HU_OK;
}

static hu_status
study_call(study *s, const hu_call *c, models *all, hu_tsv *out)
{
	const hu_info *info = &s->a->run->train->t[c->out[0]];
	hu_status st;
	hu_shape in[4], shape = info->shape;
	char name[96];

	for (int k = 0; k < c->nin && k < 4; k++)
		in[k] = s->in[k]->shape;
	s->call = *c;
	s->got = (hu_tensor){ .format = info->format, .shape = shape, .n = hu_count(shape) };
	s->got.data = hu_alloc(s->got.n * hu_element_size(info->format));
	if (!s->got.data)
		return hu_fail(HU_ENOMEM, "%s: no memory for %zu outputs", info->name, s->got.n);
	hu_cost cost = { .macs = 0 };
	HU_COLUMN(c->op, cost)(c, in, &shape, &cost);
	s->terms = s->got.n ? (size_t)(cost.macs / (double)s->got.n) : 0;
	s->element = hu_sample(s->a->opt.seed, info->name, s->t->step, s->got.n, s->a->opt.sample, &s->n);
	hu_sum_print(c->sum, name, sizeof name);
	st = study_sum(s, out, name, NULL);
	for (int i = 0; i < all->n && st == HU_OK; i++) {
		hu_sum sum = all->m[i].sum;
		/* a tensor core accepts some formats only; other calls have no row */
		if (hu_sum_resolve(&sum, s->in[0]->format, s->in[1]->format, c->fmt.acc) != HU_OK) {
			if (!all->m[i].refused++)
				snprintf(all->why, sizeof all->why, "%s", hu_reason());
			continue;
		}
		s->call.sum = all->m[i].sum;
		st = study_sum(s, out, all->m[i].name, &all->m[i]);
	}
	free(s->element);
	free(s->got.data);
	return st;
}

static int
inputs(const hu_call *c, hu_tensor *t, hu_tensor **in)
{
	for (int k = 0; k < c->nin; k++) {
		in[k] = &t[c->in[k]];
		if (!in[k]->data)
			return 0;
	}
	return 1;
}

typedef struct tables { models all; hu_tsv out; hu_again again; } tables;

/* Passes what a call adds to the totals of each model; what is read is added. */
static void
record(hu_pack *r, models *one, models *all)
{
	for (int i = 0; i < one->n; i++) {
		model *m = &one->m[i], *to = &all->m[i];
		hu_pack_size(r, &m->calls);
		hu_pack_size(r, &m->refused);
		if (m->refused) {
			hu_str why;
			hu_str_init(&why);
			hu_str_add(&why, r->reading ? "" : one->why);
			hu_pack_text(r, &why);
			if (r->reading && !to->refused)
				snprintf(all->why, sizeof all->why, "%s", why.s);
			hu_str_release(&why);
		}
		if (m->calls) {
			hu_pack_size(r, &m->outputs);
			hu_pack_size(r, &m->stagnated);
			hu_pack_real(r, &m->worst);
			hu_pack_real(r, &m->ulps);
			hu_pack_count(r, &m->additions);
			hu_pack_count(r, &m->swamped);
		}
		if (!r->reading)
			continue;
		to->calls += m->calls;
		to->refused += m->refused;
		to->outputs += m->outputs;
		to->stagnated += m->stagnated;
		to->worst = m->worst > to->worst ? m->worst : to->worst;
		to->ulps += m->ulps;
		to->additions += m->additions;
		to->swamped += m->swamped;
	}
}

static hu_status
study_unit(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	const tables *given = tables_of;
	hu_status st = HU_OK;
	hu_again again;
	hu_tsv out;

	if (u->call < 0 || u->tile)
		return HU_OK;
	const hu_call *c = &a->run->train->c[u->call];
	models *all = hu_xmalloc(sizeof *all);
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	study s = { .a = a, .t = t, .in = in, .ladder = &again.ladder };
	memset(all, 0, sizeof *all);
	for (all->n = 0; all->n < given->all.n; all->n++) {
		model *m = &all->m[all->n];
		m->sum = given->all.m[all->n].sum;
		memcpy(m->name, given->all.m[all->n].name, sizeof m->name);
	}
	hu_analysis_rows_init(&out, COLUMNS);
	hu_again_start(&again);
	if (HU_COLUMN(c->op, emulate_some) && HU_COLUMN(c->op, reference) && inputs(c, t->t, in))
		st = study_call(&s, c, all, &out);
	hu_again_stop(&again);
	hu_analysis_rows(r, &out);
	record(r, all, all);
	hu_again_pack(r, &again, &again);
	hu_tsv_release(&out);
	free(in);
	free(all);
	return st;
}

static hu_status
join(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;
	hu_again again;

	(void)a;
	(void)s;
	if (u->call < 0 || u->tile)
		return HU_OK;
	models *one = hu_xcalloc(1, sizeof *one);
	one->n = w->all.n;
	hu_analysis_rows(r, &w->out);
	record(r, one, &w->all);
	hu_again_pack(r, &again, &w->again);
	free(one);
	return HU_OK;
}

/* Writes a row for each model over every call and step that accepts it. */
static void
totals(const hu_analysis *a, const models *all, hu_tsv *out)
{
	hu_analysis_begin(a, out, "accumulate-what-if-total",
		"sum calls refused outputs ulp_max ulp_mean additions swamped share_swamped stagnated");
	for (int i = 0; i < all->n; i++) {
		const model *m = &all->m[i];
		if (!m->calls)
			continue;
		hu_tsv_text(out, m->name);
		hu_tsv_int(out, (long long)m->calls);
		hu_tsv_int(out, (long long)m->refused);
		hu_tsv_int(out, (long long)m->outputs);
		hu_tsv_real(out, m->worst);
		hu_tsv_real(out, m->ulps / (double)m->outputs);
		hu_tsv_int(out, (long long)m->additions);
		hu_tsv_int(out, (long long)m->swamped);
		hu_tsv_real(out, m->additions ? (double)m->swamped / (double)m->additions : 0);
		hu_tsv_int(out, (long long)m->stagnated);
	}
}

static void
say(hu_analysis *a, const models *all)
{
	const model *best = NULL, *last = NULL;

	for (int i = 0; i < all->n; i++) {
		const model *m = &all->m[i];
		if (!m->calls)
			continue;
		if (!best || m->ulps * (double)best->outputs < best->ulps * (double)m->outputs)
			best = m;
		if (!last || m->ulps * (double)last->outputs > last->ulps * (double)m->outputs)
			last = m;
	}
	if (best)
		hu_str_addf(&a->said,
			"least mean error: %s, %.3g ulp (at most %.3g); most: %s, %.3g ulp (at most %.3g), %.2g %% of "
			"its additions swamped",
			best->name, best->ulps / (double)best->outputs, best->worst, last->name,
			last->ulps / (double)last->outputs, last->worst,
			last->additions ? 100 * (double)last->swamped / (double)last->additions : 0);
	else
		hu_str_addf(&a->said, "no product of the trace has its operands recorded");
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	for (const char *const *s = a->opt.accumulate ? a->opt.accumulate : usual; *s; s++)
		HU_TRY(add_model(&w->all, *s));
	hu_analysis_begin(a, &w->out, "accumulate-what-if", COLUMNS);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;
	hu_tsv total;

	for (int i = 0; i < w->all.n; i++) {
		const model *m = &w->all.m[i];
		if (m->refused && !m->calls && a->opt.accumulate)
			return hu_fail(HU_EINVAL,
				"--accumulate %s: no product of this run has operands that it takes: %s",
				a->opt.accumulate[i], w->all.why);
		if (m->refused)
			hu_tsv_note(&w->out, "left out", "%s in %zu calls, whose operands it does not take", m->name,
				m->refused);
	}
	totals(a, &w->all, &total);
	hu_again_note(&w->again, &w->out);
	hu_again_note(&w->again, &total);
	say(a, &w->all);
	hu_status st = hu_analysis_write(a, &w->out, "accumulate-what-if.tsv"),
		  wrote = hu_analysis_write(a, &total, "accumulate-what-if-total.tsv");
	hu_tsv_release(&total);
	return st == HU_OK ? wrote : st;
}

static void
release(void *tables_of)
{
	hu_tsv_release(&((tables *)tables_of)->out);
}

const hu_analyzer hu_analyzer_accumulate_what_if = { "accumulate-what-if",
	"recorded products summed again under other accumulators, error and bound side by side; only where asked for",
	sizeof(tables), begin, study_unit, join, NULL, end, release, NULL };
