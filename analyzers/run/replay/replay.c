/* SPDX-License-Identifier: Apache-2.0
   The analyzer replay computes every traced call again exactly from its recorded inputs. It reports the local error,
   which the call itself made, beside the propagated error, which includes what it inherited. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "analyzers/run/faults.h"
#include "analyzers/run/replay/replay_rows.h"
#include "analyzers/run/replay/replay_tensor.h"
#include "lib/judge/parts/packs.h"
#include "lib/judge/parts/bias_sum.h"

#include "lib/base/mem.h"
#include "lib/number/ulps.h"
#include "lib/op/attr.h"
#include "lib/op/reduce/summed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* sum, n: of the outputs of the call whose tiles are being merged. */
typedef struct tables {
	hu_tsv out, each;
	hu_faults all;
	hu_again again;
	hu_errors_sum *sum;
	hu_bias_sum *bias;
	size_t *n;
	int nsum;
	size_t outputs, overflowed, biased;
	double worst, worst_ratio; /* the largest error in ulps, and what that tensor's errors are of their bounds */
	int ulps_known;            /* whether it can be given in ulps: no exact value of it is zero or next to it */
} tables;

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	hu_memo *memo = NULL;
	hu_status st = HU_OK;
	hu_again again;
	int nout = u->call < 0 ? 0 : p->c[u->call].nout;

	(void)tables_of;
	hu_again_start(&again);
	if (u->call < 0)
		st = hu_analysis_ideal(a, t);
	for (int k = 0; k < nout && st == HU_OK; k++) {
		hu_replay_tensor x;
		hu_replay_tensor_init(&x, a, t, p->c[u->call].out[k]);
		st = hu_replay_tensor_judge(&x, a, t, u, &memo, &again.methods);
		if (st == HU_OK)
			hu_replay_tensor_pack(r, &x);
		hu_replay_tensor_release(&x);
	}
	if (memo)
		memo->release(memo);
	hu_again_stop(&again);
	hu_again_pack(r, &again, &again);
	return st;
}

static void
forget(tables *w)
{
	for (int k = 0; k < w->nsum; k++)
		free(w->sum[k].top);
	free(w->sum);
	free(w->bias);
	free(w->n);
	w->sum = NULL;
	w->bias = NULL;
	w->n = NULL;
	w->nsum = 0;
}

/* Reads a tile's part of output k, element count of, and adds it to what the tiles before it had. */
static void
get(hu_analysis *a, tables *w, const hu_step_facts *s, int k, int id, int first, hu_pack *r)
{
	size_t n = 0, of = hu_count(a->run->train->t[id].shape);
	hu_errors_sum part;
	hu_bias_sum bias;

	hu_pack_size(r, &n);
	r->bad |= n > of || (!first && n != w->n[k]);
	if (r->bad || !n)
		return;
	if (first) {
		w->n[k] = n;
		hu_errors_begin(&w->sum[k], n, of);
		hu_bias_sum_begin(&w->bias[k], hu_format_of(a->run->train->t[id].format), of);
	}
	hu_errors_begin(&part, n, of);
	hu_pack_errors_sum(r, &part);
	bias = (hu_bias_sum){ .f = w->bias[k].f, .of = of };
	hu_bias_sum_pack(r, &bias);
	if (!r->bad) {
		hu_errors_merge(&w->sum[k], &part);
		hu_bias_sum_merge(&w->bias[k], &bias);
	}
	free(part.top);
	hu_faults_pack(r, &w->all, a->run->train, s->step, id);
	if (a->opt.elements)
		hu_analysis_rows(r, &w->each);
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	tables *w = tables_of;
	hu_again again;

	if (u->call < 0) {
		hu_again_pack(r, &again, &w->again);
		return HU_OK;
	}
	const hu_call *c = &p->c[u->call];
	if (!u->tile) {
		w->nsum = c->nout;
		w->sum = hu_xcalloc((size_t)c->nout + 1, sizeof *w->sum);
		w->bias = hu_xcalloc((size_t)c->nout + 1, sizeof *w->bias);
		w->n = hu_xcalloc((size_t)c->nout + 1, sizeof *w->n);
	}
	for (int k = 0; k < c->nout && !r->bad; k++)
		get(a, w, s, k, c->out[k], !u->tile, r);
	hu_again_pack(r, &again, &w->again);
	if (u->tile < u->tiles - 1 || r->bad)
		return HU_OK;
	for (int k = 0; k < c->nout; k++) {
		hu_errors m;
		hu_bias_found bias;
		if (!w->n[k])
			continue;
		if (w->sum[k].ntop < w->sum[k].keep) {
			r->bad = 1;
			break;
		}
		hu_errors_end(&m, &w->sum[k]);
		hu_bias_sum_end(&bias, &w->bias[k]);
		hu_replay_row(&w->out, a, s, c->out[k], w->n[k], &m, &bias);
		w->biased += (size_t)bias.biased;
		w->outputs += w->n[k];
		w->overflowed += isinf(m.ulp_max) != 0;
		if (m.ulp_max > w->worst && !isinf(m.ulp_max)) {
			w->worst = m.ulp_max;
			w->worst_ratio = m.ratio_max;
			w->ulps_known = m.ulp_max <= hu_ulps_most(hu_format_of(p->t[c->out[k]].format));
		}
	}
	forget(w);
	return HU_OK;
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	const hu_analysis_options *o = &a->opt;
	tables *w = tables_of;

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
	hu_tsv_header(&w->out, HU_REPLAY_COLUMNS);
	hu_analysis_rows_init(&w->each, HU_REPLAY_EACH);
	return HU_OK;
}

static void
notes(hu_analysis *a, tables *w)
{
	const hu_methods *l = &w->again.methods;
	const hu_exact_tally *k = &w->again.tally;
	const hu_exact_ways *by = &k->by, *terms = &k->terms;

	hu_tsv_note(&w->out, "methods",
		"%zu values: %zu exact in two doubles, %zu certified by their error bound, %zu by the reference (of "
		"these and of sums judged again %llu single sums of products exactly on grids)",
		w->outputs, l->exact, l->certified, l->oracle, (unsigned long long)w->again.integers);
	hu_again_note_step(a, &w->out);
	hu_tsv_note(&w->out, "kernels", "%s", hu_exact_describe());
	hu_tsv_note(&w->out, "whole products",
		"%llu outputs exactly, of %.4g multiply-adds: %llu on grids of one double, %llu of two, %llu of more, "
		"%llu by 52-bit integers, %llu by slices on the BLAS, %llu by MPFR",
		(unsigned long long)k->sums,
		(double)terms->one + (double)terms->two + (double)terms->more + (double)terms->integers +
			(double)terms->blas + (double)terms->mpfr,
		(unsigned long long)by->one, (unsigned long long)by->two, (unsigned long long)by->more,
		(unsigned long long)by->integers, (unsigned long long)by->blas, (unsigned long long)by->mpfr);
	hu_again_note_twice(a, &w->again, &w->out);
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	notes(a, w);
	hu_status st = hu_analysis_write(a, &w->out, "replay.tsv");
	hu_status faults_st = hu_faults_write(a, &w->all), each_st = HU_OK;
	if (a->opt.elements)
		each_st = hu_tsv_save(&w->each, a->opt.elements);
	hu_str_addf(&a->said, "%zu outputs judged", w->outputs);
	if (w->overflowed)
		hu_str_addf(&a->said, ", some of %zu tensors overflowed; of the other tensors", w->overflowed);
	if (w->outputs && w->worst > 0 && w->worst_ratio > 0)
		hu_str_addf(&a->said, ", the largest error %.4g %s its bound", w->worst_ratio,
			w->worst_ratio > 1 ? "times" : "of");
	else if (w->outputs)
		hu_str_add(&a->said, w->worst > 0 ? ", the largest error has no finite bound" : ", without an error");
	if (w->worst > 0 && w->ulps_known)
		hu_str_addf(&a->said, ", %.4g ulp", w->worst);
	if (w->outputs)
		hu_str_addf(&a->said, "; %zu outside their call's bound", a->over_bound);
	if (w->biased)
		hu_str_addf(&a->said, "; errors of %zu %s have one direction", w->biased,
			w->biased == 1 ? "tensor" : "tensors");
	if (a->disagreed)
		hu_str_addf(&a->said, "; %zu calls not judged, since two ways of computing their exact values disagree",
			a->disagreed);
	return st != HU_OK ? st : faults_st != HU_OK ? faults_st : each_st;
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	forget(w);
	hu_tsv_release(&w->out);
	hu_tsv_release(&w->each);
	free(w->all.f);
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
	sizeof(tables), begin, compute, merge, NULL, end, release, held };
