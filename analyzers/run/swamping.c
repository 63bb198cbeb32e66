/* SPDX-License-Identifier: Apache-2.0
   The analyzer swamping counts additions that changed nothing. Inside sums it replays their order on the judged sample.
   In weight updates it compares every weight's actual step with the exact one, which also tells how much of the update
   was lost. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "analyzers/run/update.h"

#include "lib/base/mem.h"
#include "lib/judge/parts/packs.h"
#include "lib/op/attr.h"
#include "lib/op/reduce/summed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step call op phase layer tensor format kind additions swamped share_swamped outputs stagnated l2_share_lost " \
	"cosine verdict by_decay swamped_by_decay"

static void
row(hu_tsv *out, size_t step, const hu_call *c, const char *tensor, const char *format, const char *kind,
	double additions, double swamped)
{
	hu_tsv_int(out, (long long)step);
	hu_analysis_call(out, c, hu_phase_name(HU_UPDATE), "all", tensor, format);
	hu_tsv_text(out, kind);
	hu_tsv_int(out, (long long)additions);
	hu_tsv_int(out, (long long)swamped);
	hu_tsv_real(out, additions > 0 ? swamped / additions : 0);
}

static void
update_row(hu_tsv *out, hu_tsv *ratio, size_t step, const hu_call *c, const hu_info *info, const hu_update *u)
{
	double share = hu_harm_share(&u->harm), cosine = hu_harm_cosine(&u->harm);
	const char *format = info ? hu_format_name(info->format) : "-";

	row(out, step, c, info ? info->name : "all", format, "update", (double)u->moved, (double)u->swamped);
	hu_tsv_int(out, (long long)u->n);
	hu_tsv_none(out);
	if (isnan(share)) {
		hu_tsv_none(out);
		hu_tsv_none(out);
	} else {
		hu_tsv_real(out, share);
		hu_tsv_real(out, cosine);
	}
	hu_tsv_text(out, hu_harm_verdict(&u->harm));
	hu_tsv_int(out, (long long)u->by_decay);
	hu_tsv_int(out, (long long)u->swamped_by_decay);
	for (int i = 0; info && i < HU_UPDATE_BINS; i++) {
		if (!u->bin[i])
			continue;
		hu_tsv_int(ratio, (long long)step);
		hu_tsv_text(ratio, info->layer);
		hu_tsv_text(ratio, info->name);
		hu_tsv_text(ratio, format);
		hu_tsv_int(ratio, hu_format_of(info->format).p);
		hu_tsv_int(ratio, HU_UPDATE_LOW + i);
		hu_tsv_int(ratio, (long long)u->bin[i]);
		hu_tsv_int(ratio, (long long)u->decay_bin[i]);
	}
}

/* Writes a row for each judged output's sum, for whoever recomputes the counts. */
static hu_status
element_rows(hu_tsv *each, hu_trace *t, const hu_call *c, const char *tensor, hu_tensor *const *in, int k,
	const size_t *element, size_t n, const hu_env *env)
{
	for (size_t i = 0; i < n; i++) {
		hu_swamp one = { 0, 0, 0, 0 };
		HU_TRY(HU_COLUMN(c->op, swamping)(c, in, k, element + i, 1, env, &one));
		hu_tsv_int(each, (long long)t->step);
		hu_tsv_int(each, c->id);
		hu_tsv_text(each, tensor);
		hu_tsv_int(each, (long long)element[i]);
		hu_tsv_int(each, (long long)one.additions);
		hu_tsv_int(each, (long long)one.swamped);
		hu_tsv_int(each, (long long)one.stagnated);
	}
	return HU_OK;
}

static hu_status
compute_sum(hu_analysis *a, hu_trace *t, const hu_call *c, hu_tensor *const *in, int k, const hu_work_unit *u,
	hu_swamp *s, hu_tsv *each)
{
	const hu_info *info = &a->run->train->t[c->out[k]];
	hu_env env = { (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)t->step };
	hu_region some = hu_analysis_part(a, u, k);
	size_t n, *element;

	if (u->tiles > 1) { /* tiles are of calls of which every element is judged */
		n = hu_region_count(some);
		element = hu_xmalloc((n + 1) * sizeof *element);
		for (size_t i = 0; i < n; i++)
			element[i] = hu_region_element(some, i);
	} else
		element = hu_sample(a->opt.seed, info->name, t->step, hu_count(info->shape), a->opt.sample, &n);
	hu_status st = HU_COLUMN(c->op, swamping)(c, in, k, element, n, &env, s);
	if (st == HU_OK && a->opt.elements)
		st = element_rows(each, t, c, info->name, in, k, element, n, &env);
	free(element);
	return st;
}

static void
sum_row(hu_tsv *out, size_t step, const hu_call *c, const hu_info *info, const hu_swamp *s)
{
	row(out, step, c, info->name, hu_format_name(hu_summed_or_product(c) ? c->sum.acc : c->fmt.compute), "sum",
		(double)s->additions, (double)s->swamped);
	hu_tsv_int(out, (long long)s->outputs);
	hu_tsv_int(out, (long long)s->stagnated);
	for (int i = 0; i < 5; i++)
		hu_tsv_none(out);
}

typedef struct tables {
	hu_again again;
	hu_tsv out, ratio, each;
	hu_update all, one; /* of the step and of the call whose units are being merged */
	hu_harm last;
	hu_swamp *sum; /* by output, of the call whose tiles are being merged or computed */
	size_t updated, moved, swamped, by_decay, libraries;
} tables;

#define RATIO "step layer tensor format precision log2_ratio count by_decay"
#define EACH "step call tensor element additions swamped stagnated"

static void
rows_init(tables *w)
{
	hu_analysis_rows_init(&w->out, COLUMNS);
	hu_analysis_rows_init(&w->ratio, RATIO);
	hu_analysis_rows_init(&w->each, EACH);
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	hu_tsv_release(&w->ratio);
	hu_tsv_release(&w->each);
	free(w->sum);
}

/* Passes rows, and what rows of updates sum up. */
static void
pack_found(hu_pack *r, const hu_analysis *a, tables *w, hu_update *u, size_t *libraries)
{
	if (a->opt.elements)
		hu_analysis_rows(r, &w->each);
	hu_update_pack(r, u);
	hu_pack_size(r, libraries);
}

static int
has_sums(const hu_program *p, const hu_call *c)
{
	return !hu_is_update(p, c) && HU_COLUMN(c->op, swamping);
}

/* Judges the unit of call c, whose operands are in. *update gets what the update did; where the call is none its n is
   0. */
static hu_status
compute_call(hu_analysis *a, hu_trace *t, const hu_call *c, hu_tensor *const *in, const hu_work_unit *u, tables *w,
	hu_update *update)
{
	const hu_program *p = a->run->train;

	if (hu_is_update(p, c) && HU_COLUMN(c->op, reference) && t->t[c->out[0]].data && !t->skipped) {
		hu_region some = hu_analysis_part(a, u, 0);
		HU_TRY(hu_update_compute(update, a, t, c, in, some.first, hu_region_count(some), &w->again.methods));
	} else if (has_sums(p, c) && hu_attr_library(c) > 0)
		w->libraries += !u->tile;
	else if (has_sums(p, c))
		for (int k = 0; k < c->nout; k++)
			HU_TRY(compute_sum(a, t, c, in, k, u, &w->sum[k], &w->each));
	return HU_OK;
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	(void)tables_of;
	if (u->call < 0)
		return HU_OK;
	const hu_program *p = a->run->train;
	const hu_call *c = &p->c[u->call];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_update *update = hu_xcalloc(1, sizeof *update);
	tables w = { .sum = hu_xcalloc((size_t)c->nout + 1, sizeof *w.sum) };
	hu_status st = HU_OK;

	rows_init(&w);
	hu_again_start(&w.again);
	if (hu_analysis_inputs(c, t, in))
		st = compute_call(a, t, c, in, u, &w, update);
	hu_again_stop(&w.again);
	pack_found(r, a, &w, update, &w.libraries);
	for (int k = 0; has_sums(p, c) && k < c->nout; k++)
		hu_pack_swamp(r, &w.sum[k]);
	hu_again_pack(r, &w.again, &w.again);
	release(&w);
	free(update);
	free(in);
	return st;
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	tables *w = tables_of;
	size_t libraries = 0;
	hu_again again;

	if (u->call < 0)
		return HU_OK;
	const hu_call *c = &p->c[u->call];
	hu_update *update = hu_xcalloc(1, sizeof *update);
	pack_found(r, a, w, update, &libraries);
	w->libraries += libraries;
	if (!u->tile)
		memset(&w->one, 0, sizeof w->one);
	hu_update_merge(&w->one, update);
	free(update);
	if (u->tile == u->tiles - 1 && w->one.n) {
		update_row(&w->out, &w->ratio, s->step, c, &p->t[c->out[0]], &w->one);
		hu_update_merge(&w->all, &w->one);
	}
	if (!u->tile) {
		free(w->sum);
		w->sum = hu_xcalloc((size_t)c->nout + 1, sizeof *w->sum);
	}
	for (int k = 0; has_sums(p, c) && k < c->nout; k++) {
		hu_swamp one = { 0, 0, 0, 0 };
		hu_pack_swamp(r, &one);
		w->sum[k].additions += one.additions;
		w->sum[k].swamped += one.swamped;
		w->sum[k].outputs += one.outputs;
		w->sum[k].stagnated += one.stagnated;
		if (u->tile == u->tiles - 1 && w->sum[k].additions)
			sum_row(&w->out, s->step, c, &p->t[c->out[k]], &w->sum[k]);
	}
	hu_again_pack(r, &again, &w->again);
	return HU_OK;
}

static void
close_step(hu_analysis *a, void *tables_of, const hu_step_facts *s)
{
	tables *w = tables_of;
	hu_update *all = &w->all;

	(void)a;
	if (all->n) {
		update_row(&w->out, &w->ratio, s->step, NULL, NULL, all);
		w->moved += all->moved;
		w->swamped += all->swamped;
		w->by_decay += all->swamped_by_decay;
		w->updated += all->n;
		w->last = all->harm;
	}
	memset(all, 0, sizeof *all);
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_analysis_begin(a, &w->out, "swamping", COLUMNS);
	hu_analysis_begin(a, &w->ratio, "swamping-ratio", RATIO);
	hu_analysis_rows_init(&w->each, EACH);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	if (a->opt.elements) {
		char *path = hu_xprintf("%s.swamping", a->opt.elements);
		hu_status st = hu_file_write(path, w->each.text.s, w->each.text.len);
		free(path);
		HU_TRY(st);
	}
	if (w->libraries)
		hu_tsv_note(&w->out, "libraries",
			"%zu sums were computed by a library in an order of its own: how many of their additions were "
			"swamped is unknown, and they have no row",
			w->libraries);
	hu_again_note(a, &w->again, &w->out);
	hu_again_note(a, &w->again, &w->ratio);
	hu_status st = hu_analysis_write(a, &w->ratio, "swamping-ratio.tsv"),
		  wrote = hu_analysis_write(a, &w->out, "swamping.tsv");
	if (w->updated) {
		hu_str_addf(&a->said, "%zu of %zu weight updates swamped", w->swamped, w->moved);
		if (w->by_decay)
			hu_str_addf(&a->said, ", %zu of them weight decay without a gradient", w->by_decay);
		hu_str_add(&a->said, "; last step: ");
		hu_harm_say(&a->said, &w->last, "the update");
	} else {
		hu_str_add(&a->said, "no traced step updated the weights");
	}
	return st == HU_OK ? wrote : st;
}

static const hu_held_column held[] = {
	{ "swamping", "step layer call tensor kind", "share_swamped", HU_HELD_AGAINST_UP },
	{ "swamping", "step layer call tensor kind", "l2_share_lost", HU_HELD_AGAINST_UP },
	{ "swamping", "step layer call tensor kind", "cosine", HU_HELD_AGAINST_DOWN },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_swamping = { "swamping",
	"additions and weight updates that changed nothing, and what the update lost by it", sizeof(tables), begin,
	compute, merge, close_step, end, release, held };
