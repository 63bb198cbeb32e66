/* SPDX-License-Identifier: Apache-2.0
   The analyzer stochastic executes a step whose calls round stochastically several times, each time with other random
   bits, and compares the means of the gradients and of the updates with the exact step: noise falls as more draws are
   averaged, half a bit for each doubling, and bias stays. */
#include "analyzers/run/analyzer.h"
#include "analyzers/run/stochastic/redraw.h"
#include "analyzers/run/stochastic/noise.h"

#include "lib/base/mem.h"
#include "lib/judge/harm.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step tensor layer kind draws elements l2_error bits l2_noise l2_bias cosine gain l2_share_zero "              \
	"l2_share_lost verdict"

enum { GRADIENT, UPDATE, KINDS };

/* A vector that draws are compared in: the tensor, and the weight that an update starts from; -1: none. */
typedef struct vector {
	int tensor, weight, kind;
	double *exact;
	hu_noise_draws draws;
} vector;

/* Returns 1 where weights themselves are rounded stochastically. */
static int
draws_updates(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (hu_is_update(p, &p->c[i]) && hu_redraw_draws(&p->c[i]))
			return 1;
	return 0;
}

/* An update that is at most turned costs (hu_weight_verdict); gradients have the verdict of all vectors. */
static const char *
verdict_of(const hu_noise *s, int kind, int drawn, int k)
{
	double zero = drawn ? hu_noise_lost(s, k) : hu_noise_zero(s), cosine = hu_noise_cosine(s, k);

	if (kind == GRADIENT)
		return hu_verdict(zero, cosine);
	if (isnan(cosine))
		return "-";
	return zero >= 0.5 || (cosine <= 0.9 && zero > 0.1) ? "fatal"
	       : zero <= 0.1 && cosine >= 0.999             ? "harmless"
							    : "costs";
}

static void
row(hu_tsv *t, size_t step, const hu_info *info, int kind, int drawn, int k, const hu_noise *s)
{
	double error = hu_noise_error(s);

	drawn = drawn && kind == UPDATE && k > 1;

	hu_tsv_int(t, (long long)step);
	hu_tsv_text(t, info ? info->name : "all");
	hu_tsv_text(t, info ? info->layer : "all");
	hu_tsv_text(t, kind == GRADIENT ? "gradient" : "update");
	hu_tsv_int(t, k);
	hu_tsv_int(t, (long long)s->n);
	hu_tsv_measured(t, error);
	hu_tsv_measured(t, error > 0 ? -log2(error) : NAN);
	hu_tsv_measured(t, hu_noise_single(s, k));
	hu_tsv_measured(t, hu_noise_bias(s, k));
	hu_tsv_measured(t, hu_noise_cosine(s, k));
	hu_tsv_measured(t, hu_noise_gain(s));
	hu_tsv_measured(t, hu_noise_zero(s));
	hu_tsv_measured(t, drawn ? hu_noise_lost(s, k) : NAN);
	hu_tsv_text(t, verdict_of(s, kind, drawn, k));
}

static void
add_vector(vector *v, int *n, const hu_trace *t, int tensor, int weight, int kind)
{
	size_t length = t->t[tensor].n;
	vector *to = &v[(*n)++];

	*to = (vector){ .tensor = tensor, .weight = weight, .kind = kind };
	to->exact = hu_xmalloc((length + 1) * sizeof *to->exact);
	for (size_t i = 0; i < length; i++)
		to->exact[i] = t->ideal[tensor][i] - (weight >= 0 ? hu_get(&t->t[weight], i) : 0);
	hu_noise_draws_init(&to->draws, length);
}

/* The vectors of the step: each parameter's gradient, and its update unless the step was skipped. */
static int
vectors_of(vector *v, const hu_program *p, const hu_trace *t)
{
	int n = 0;

	for (int i = 0; i < p->nt; i++) {
		int g = p->t[i].trainable ? hu_program_grad(p, t->step, i) : -1, next = hu_program_next(p, t->step, i);
		if (g < 0 || !t->ideal[g] || !t->t[i].data)
			continue;
		add_vector(v, &n, t, g, -1, GRADIENT);
		if (next >= 0 && next != i && !t->skipped && t->ideal[next])
			add_vector(v, &n, t, next, i, UPDATE);
	}
	return n;
}

static void
take(vector *v, const hu_exec *x)
{
	for (size_t i = 0; i < v->draws.n; i++)
		hu_noise_draws_add(
			&v->draws, i, hu_get(&x->t[v->tensor], i) - (v->weight >= 0 ? hu_get(&x->t[v->weight], i) : 0));
	hu_noise_draws_next(&v->draws);
}

/* Writes the rows of each vector, and merges those of all of them. */
static hu_status
compute_step(hu_analysis *a, hu_trace *t, hu_tsv *rows, hu_noise (*all)[HU_NOISE_CURVE], hu_str *why)
{
	const hu_program *p = a->run->train;
	hu_redraw d;
	hu_status st = hu_redraw_init(&d, a, t);

	if (st == HU_EABSENT) {
		hu_str_addf(why, "%s", hu_reason());
		return HU_OK;
	}
	if (st != HU_OK)
		return st;
	vector *v = hu_xcalloc(2 * (size_t)p->nt + 1, sizeof *v);
	int n = vectors_of(v, p, t);
	hu_noise *s = hu_xcalloc(((size_t)n + 1) * HU_NOISE_CURVE, sizeof *s);
	for (int k = 1, at = 0; k <= HU_NOISE_DRAWS && st == HU_OK; k++) {
		st = k > 1 ? hu_redraw_run(&d, k - 1) : HU_OK;
		for (int i = 0; i < n && st == HU_OK; i++)
			take(&v[i], &d.x);
		for (int i = 0; i < n && k == 1 << at; i++)
			hu_noise_of(&v[i].draws, v[i].exact, &s[i * HU_NOISE_CURVE + at]);
		at += k == 1 << at;
	}
	for (int i = 0; i < n; i++) {
		for (int at = 0; at < HU_NOISE_CURVE && st == HU_OK; at++) {
			const hu_noise *of = &s[i * HU_NOISE_CURVE + at];
			row(rows, t->step, &p->t[v[i].weight >= 0 ? v[i].weight : v[i].tensor], v[i].kind,
				draws_updates(p), 1 << at, of);
			hu_noise_merge(&all[v[i].kind][at], of);
		}
		hu_noise_draws_release(&v[i].draws);
		free(v[i].exact);
	}
	free(s);
	free(v);
	hu_redraw_release(&d);
	return st;
}

typedef struct tables {
	hu_tsv out;
	hu_str why; /* why a step was not executed again */
	int drawn;
	hu_noise last[KINDS][HU_NOISE_CURVE];
} tables;

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_analysis_begin(a, &w->out, "stochastic", COLUMNS);
	hu_tsv_note(&w->out, "rows",
		"the mean of so many draws of the step beside the exact step: the first is the recorded one, the "
		"others have the same inputs and state and other random bits where calls round stochastically; all "
		"elements, and of 'all' all parameters; shares are of the exact vector's L2 norm");
	hu_tsv_note(&w->out, "columns",
		"l2_error: of the mean; bits: -log2 of that; l2_noise: of one draw; l2_bias, cosine: of the expected "
		"value, estimated without the noise that is left in the mean; gain: the mean's projection on the exact "
		"vector; l2_share_zero: of elements that were 0 in every draw; l2_share_lost: where weights are "
		"rounded "
		"stochastically, the root of what the gain of the update lacks, less two standard deviations");
	hu_str_init(&w->why);
	w->drawn = hu_redraw_is_drawn(a->run->train);
	return HU_OK;
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	hu_noise all[KINDS][HU_NOISE_CURVE] = { { { .n = 0 } } };
	hu_tsv rows;
	hu_str why;

	if (u->call >= 0 || !((const tables *)tables_of)->drawn)
		return HU_OK;
	hu_str_init(&why);
	hu_analysis_rows_init(&rows, COLUMNS);
	hu_status st = hu_analysis_ideal(a, t);
	if (st == HU_OK && t->ideal)
		st = compute_step(a, t, &rows, all, &why);
	hu_analysis_rows(r, &rows);
	for (int kind = 0; kind < KINDS; kind++)
		for (int at = 0; at < HU_NOISE_CURVE; at++)
			hu_noise_pack(r, &all[kind][at]);
	hu_pack_text(r, &why);
	hu_str_release(&why);
	hu_tsv_release(&rows);
	return st;
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;

	if (u->call >= 0 || !w->drawn)
		return HU_OK;
	hu_analysis_rows(r, &w->out);
	for (int kind = 0; kind < KINDS; kind++)
		for (int at = 0; at < HU_NOISE_CURVE; at++) {
			hu_noise all = { .n = 0 };
			hu_noise_pack(r, &all);
			if (all.n)
				row(&w->out, s->step, NULL, kind, draws_updates(a->run->train), 1 << at, &all);
			if (all.n)
				w->last[kind][at] = all;
		}
	hu_pack_text(r, &w->why);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;
	const hu_noise *one = &w->last[GRADIENT][0], *all = &w->last[GRADIENT][HU_NOISE_CURVE - 1];

	if (!w->drawn) {
		hu_str_add(&a->said, "no call rounds stochastically");
		return HU_OK;
	}
	if (!all->n) {
		hu_str_addf(&a->said, "no step was executed again%s%s", w->why.len ? ": " : "", w->why.s);
		return HU_OK;
	}
	hu_str_addf(&a->said,
		"last step: one draw's gradient has a cosine of %.4f to the exact one, the expected gradient one of "
		"%.4f; noise of a draw %.3g and bias %.3g of its L2 norm",
		hu_noise_cosine(one, 1), hu_noise_cosine(all, HU_NOISE_DRAWS), hu_noise_single(all, HU_NOISE_DRAWS),
		hu_noise_bias(all, HU_NOISE_DRAWS));
	return hu_analysis_write(a, &w->out, "stochastic.tsv");
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	hu_str_release(&w->why);
}

const hu_analyzer hu_analyzer_stochastic = { "stochastic",
	"what of the gradients' error is noise of stochastic rounding, which averages out, and what is bias",
	sizeof(tables), begin, compute, merge, NULL, end, release, NULL };
