/* SPDX-License-Identifier: Apache-2.0
   The analyzer accumulate-what-if sums the recorded operands of every product of a traced step again with other
   accumulators, and judges each as replay judges the run's own. It runs only where it is asked for, by name or by
   models. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "analyzers/run/what_if_call.h"
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

/* The number of terms of each of a call's sums, on average. */
static size_t
terms_of(const hu_program *p, const hu_call *c)
{
	size_t n = hu_count(p->t[c->out[0]].shape);

	return n ? (size_t)(hu_call_cost(p, c).macs / (double)n) : 0;
}

/* Writes the row of call c under this summation model. */
static void
row(hu_tsv *out, const hu_program *p, size_t step, const hu_call *c, hu_sum sum, const char *name, int recorded,
	const hu_errors *m, const hu_what_if_call *f)
{
	const hu_info *info = &p->t[c->out[0]];
	const hu_swamp *k = &f->count;
	hu_format acc = hu_format_of(
		hu_sum_resolve(&sum, p->t[c->in[0]].format, p->t[c->in[1]].format, c->fmt.acc) == HU_OK ? sum.acc
													: HU_FP32);

	hu_tsv_int(out, (long long)step);
	hu_analysis_call(out, c, NULL, NULL, info->name, hu_format_name(info->format));
	hu_tsv_int(out, (long long)terms_of(p, c));
	hu_tsv_text(out, name);
	hu_tsv_int(out, recorded);
	hu_tsv_int(out, (long long)hu_count(info->shape));
	hu_tsv_int(out, (long long)f->n);
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	hu_tsv_real(out, m->ci95);
	hu_tsv_real(out, m->normwise);
	hu_tsv_real(out, f->bound_ulps);
	hu_tsv_real(out, m->ratio_max);
	hu_tsv_int(out, (long long)m->over);
	hu_tsv_real(out, sqrt((double)terms_of(p, c)) * hu_unit(acc));
	hu_tsv_int(out, (long long)k->additions);
	hu_tsv_int(out, (long long)k->swamped);
	hu_tsv_real(out, k->additions ? (double)k->swamped / (double)k->additions : 0);
	hu_tsv_int(out, (long long)k->stagnated);
}

/* one: of the call whose tiles are being merged, under its own model and each of the others. */
typedef struct tables { models all; hu_tsv out; hu_again again; hu_what_if_call one[MODELS + 1]; } tables;

static int
is_product(const hu_call *c)
{
	return HU_COLUMN(c->op, emulate_some) && HU_COLUMN(c->op, reference);
}

static hu_status
compute_unit(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	const models *all = &((const tables *)tables_of)->all;
	hu_sum sum[MODELS];
	int there = 0;
	hu_again again;
	hu_str why;

	if (u->call < 0 || !is_product(&a->run->train->c[u->call]))
		return HU_OK;
	for (int i = 0; i < all->n; i++)
		sum[i] = all->m[i].sum;
	hu_what_if_call *f = hu_xcalloc((size_t)all->n + 1, sizeof *f);
	hu_str_init(&why);
	hu_again_start(&again);
	hu_status st = hu_what_if_call_compute(a, t, u, sum, all->n, f, &there, &why, &again.methods);
	hu_again_stop(&again);
	hu_pack_int(r, &there);
	hu_pack_text(r, &why);
	for (int i = 0; i <= all->n; i++) {
		if (there)
			hu_what_if_call_put(r, &f[i]);
		hu_what_if_call_release(&f[i]);
	}
	hu_again_pack(r, &again, &again);
	hu_str_release(&why);
	free(f);
	return st;
}

static void
forget(tables *w)
{
	for (int i = 0; i <= MODELS; i++)
		hu_what_if_call_release(&w->one[i]);
}

/* Writes the rows of a call all of whose tiles were merged, and adds them to the models' totals. */
static void
finish(tables *w, const hu_program *p, size_t step, const hu_call *c, hu_pack *r)
{
	char name[96];

	hu_sum_print(c->sum, name, sizeof name);
	for (int i = 0; i <= w->all.n; i++) {
		hu_what_if_call *f = &w->one[i];
		model *m = i ? &w->all.m[i - 1] : NULL;
		hu_errors e;
		if (!f->taken) {
			if (m)
				m->refused++;
			continue;
		}
		if (f->sum.ntop < f->sum.keep) {
			r->bad = 1;
			return;
		}
		hu_errors_end(&e, &f->sum);
		row(&w->out, p, step, c, m ? m->sum : c->sum, m ? m->name : name, !m, &e, f);
		if (!m)
			continue;
		m->calls++;
		m->outputs += f->n;
		m->worst = e.ulp_max > m->worst ? e.ulp_max : m->worst;
		m->ulps += e.ulp_mean * (double)f->n;
		m->additions += f->count.additions;
		m->swamped += f->count.swamped;
		m->stagnated += f->count.stagnated;
	}
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;
	int there = 0;
	hu_again again;
	hu_str why;

	if (u->call < 0 || !is_product(&a->run->train->c[u->call]))
		return HU_OK;
	const hu_call *c = &a->run->train->c[u->call];
	if (!u->tile)
		forget(w);
	hu_str_init(&why);
	hu_pack_int(r, &there);
	hu_pack_text(r, &why);
	if (why.len && !w->all.why[0])
		snprintf(w->all.why, sizeof w->all.why, "%s", why.s);
	hu_str_release(&why);
	for (int i = 0; there && i <= w->all.n && !r->bad; i++)
		hu_what_if_call_get(r, &w->one[i], hu_count(a->run->train->t[c->out[0]].shape));
	hu_again_pack(r, &again, &w->again);
	if (there && u->tile == u->tiles - 1 && !r->bad)
		finish(w, a->run->train, s->step, c, r);
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
	hu_again_note(a, &w->again, &w->out);
	hu_again_note(a, &w->again, &total);
	say(a, &w->all);
	hu_status st = hu_analysis_write(a, &w->out, "accumulate-what-if.tsv"),
		  wrote = hu_analysis_write(a, &total, "accumulate-what-if-total.tsv");
	hu_tsv_release(&total);
	return st == HU_OK ? wrote : st;
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	forget(w);
	hu_tsv_release(&w->out);
}

const hu_analyzer hu_analyzer_accumulate_what_if = { "accumulate-what-if",
	"recorded products summed again under other accumulators, error and bound side by side; only where asked for",
	sizeof(tables), begin, compute_unit, merge, NULL, end, release, NULL };
