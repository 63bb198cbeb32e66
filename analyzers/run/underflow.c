/* SPDX-License-Identifier: Apache-2.0
   The analyzer underflow counts what each cast, each rounding of a result to a narrower format, and each rank's sending
   of its gradients in one, made zero or subnormal; and it compares the gradients given to the update with those of the
   exact step, to tell what of this reached the weights. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "analyzers/run/exponents.h"
#include "analyzers/formats/flush.h"
#include "lib/base/mem.h"
#include "lib/judge/parts/packs.h"
#include "lib/op/reduce/over_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                               \
	"step call layer tensor class from to elements nonzeros became_zero became_subnormal lost_bits ftz "    \
	"share_nonzeros share_elements l2_share_lost cosine verdict of_elements overflow"

static void
row(hu_tsv *out, size_t step, int skipped, int call, const hu_info *info, const char *from, hu_format_id to,
	const hu_flush *u, size_t of)
{
	double share = hu_harm_share(&u->harm), cosine = hu_harm_cosine(&u->harm);
	const hu_underflow *n = &u->count;

	hu_tsv_int(out, (long long)step);
	if (call >= 0)
		hu_tsv_int(out, call);
	else
		hu_tsv_none(out);
	hu_tsv_text(out, info ? info->layer : "all");
	hu_tsv_text(out, info ? info->name : "all");
	hu_tsv_text(out, hu_tclass_name(info ? info->cls : HU_WGRAD));
	hu_tsv_text(out, from);
	hu_tsv_text(out, info ? hu_format_name(to) : "-");
	hu_tsv_int(out, (long long)n->elements);
	hu_tsv_int(out, (long long)n->nonzeros);
	hu_tsv_int(out, (long long)n->zeroed);
	hu_tsv_int(out, (long long)n->subnormal);
	hu_tsv_int(out, (long long)n->lost);
	hu_tsv_int(out, (long long)n->flushed);
	hu_tsv_real(out, hu_flush_share(u));
	hu_tsv_real(out, n->elements ? (double)n->zeroed / (double)n->elements : 0);
	if (isnan(share)) {
		hu_tsv_none(out);
		hu_tsv_none(out);
	} else {
		hu_tsv_real(out, share);
		hu_tsv_real(out, cosine);
	}
	/* values that are not finite did not reach the weights where the step was skipped; elsewhere they are no
	   underflow */
	if (!strcmp(from, "exact") && !skipped)
		hu_tsv_text(out, hu_harm_verdict(&u->harm));
	else
		hu_tsv_text(out, u->harm.nonfinite || skipped ? "-" : hu_verdict(share, cosine));
	hu_tsv_int(out, (long long)of);
	hu_tsv_int(out, (long long)u->overflow);
}

static int
narrower(hu_format_id to, hu_format_id from)
{
	hu_format a = hu_format_of(to), b = hu_format_of(from);

	return a.p < b.p || a.emin > b.emin;
}

/* Counts a cast: every element, exactly, from its recorded input. */
static int
by_cast(hu_flush *u, const hu_call *c, const hu_trace *t)
{
	const hu_tensor *x = &t->t[c->in[0]], *y = &t->t[c->out[0]];
	hu_format f = hu_format_of(y->format);
	double s = 1;

	if (!x->data || (c->nout > 1 && !t->t[c->out[1]].data))
		return 0;
	if (c->nout > 1)
		s = hu_get(&t->t[c->out[1]], 0); /* a power of two: the product is exact */
	for (size_t i = 0; i < y->n; i++)
		hu_flush_add(u, hu_get(x, i) * s, hu_get(y, i), f);
	return 1;
}

/* Counts what every rank's own sums lose as they are sent for the first time. */
static void
study_wire(hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tsv *out)
{
	const hu_program *p = a->run->train;
	hu_env env = { (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)t->step };
	hu_format_id wire = hu_over_ranks_wire(c), from = p->t[c->in[0]].format;
	hu_tensor *in[HU_OVER_RANKS];
	hu_flush u;

	memset(&u, 0, sizeof u);
	if (!narrower(wire, from))
		return;
	for (int k = 0; k < c->nin; k++) {
		in[k] = &t->t[c->in[k]];
		if (!in[k]->data)
			return;
	}
	for (int k = 0; k < c->nin; k++)
		for (size_t i = 0; i < in[k]->n; i++)
			hu_flush_add(&u, hu_get(in[k], i), hu_over_ranks_sent(c, in, k, i, &env), hu_format_of(wire));
	row(out, t->step, t->skipped, c->id, &p->t[c->out[0]], hu_format_name(from), wire, &u,
		(size_t)c->nin * in[0]->n);
}

static hu_status
study_call(hu_analysis *a, hu_trace *t, const hu_call *c, hu_tsv *out, hu_ladder *ladder)
{
	const hu_program *p = a->run->train;
	int cast = c->op->role == HU_ROLE_CAST;

	if (c->op->role == HU_ROLE_ALL_REDUCE)
		study_wire(a, t, c, out);
	for (int k = 0; k < c->nout; k++) {
		const hu_info *info = &p->t[c->out[k]];
		hu_format_id from = cast ? p->t[c->in[0]].format : c->fmt.compute;
		const hu_judged *j = NULL;
		hu_flush u;
		memset(&u, 0, sizeof u);
		if (!t->t[c->out[k]].data || !narrower(info->format, from))
			continue;
		if (cast && (k > 0 || !by_cast(&u, c, t)))
			continue;
		if (!cast) {
			HU_TRY(hu_analysis_judge(a, t, c->out[k], NULL, &j));
			if (!j)
				continue;
			hu_ladder_add(ladder, &j->ladder);
			for (size_t i = 0; i < j->n; i++)
				hu_flush_add(&u, j->exact[i], j->got[i], hu_format_of(info->format));
		}
		row(out, t->step, t->skipped, c->id, info, hu_format_name(from), info->format, &u,
			t->t[c->out[k]].n);
	}
	return HU_OK;
}

/* Counts the elements of a tile of a product that is rounded to a narrower format; *there is 0 where it is not. */
static hu_status
study_tile(hu_analysis *a, hu_trace *t, const hu_call *c, const hu_work_unit *u, hu_flush *sum, int *there,
	hu_ladder *ladder)
{
	int id = c->out[0];
	hu_format_id to = a->run->train->t[id].format;
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_status st = HU_OK;
	hu_judged *j = NULL;
	hu_judge_job job;
	size_t *element = NULL;

	*there = narrower(to, c->fmt.compute) && hu_analysis_job(a, t, id, in, &element, &job);
	if (*there) {
		job.first = u->first;
		job.last = u->last;
		st = hu_judged_new(&job, &j);
	}
	for (size_t i = 0; j && i < j->n; i++)
		hu_flush_add(sum, j->exact[i], j->got[i], hu_format_of(to));
	if (j)
		hu_ladder_add(ladder, &j->ladder);
	hu_judged_free(j);
	free(element);
	free(in);
	return st;
}

/* Compares the gradients that the update was given with the exact ones. */
static void
study_gradients(hu_analysis *a, const hu_trace *t, hu_tsv *out, hu_flush *all)
{
	const hu_program *p = a->run->train;

	for (int i = 0; i < p->nt; i++) {
		int g = p->t[i].grad;
		hu_flush u;
		if (!p->t[i].trainable || g < 0 || !t->t[g].data || !t->ideal[g])
			continue;
		memset(&u, 0, sizeof u);
		for (size_t k = 0; k < t->t[g].n; k++)
			hu_flush_add(&u, t->ideal[g][k], hu_get(&t->t[g], k), hu_format_of(p->t[g].format));
		row(out, t->step, t->skipped, p->t[g].producer, &p->t[g], "exact", p->t[g].format, &u, t->t[g].n);
		hu_flush_join(all, &u);
	}
}

/* last: what all gradients of the step that was joined last lost. exponents_of: rows of that step by tensor, until all
   are there. */
typedef struct tables {
	hu_tsv out, exponents, gradients;
	hu_str *exponents_of;
	int tensors;
	hu_flush last, tiles;      /* tiles: of the call that is being joined */
	hu_again again;
} tables;

static void
pack_flush(hu_pack *r, hu_flush *u)
{
	hu_pack_count(r, &u->count.elements);
	hu_pack_count(r, &u->count.nonzeros);
	hu_pack_count(r, &u->count.zeroed);
	hu_pack_count(r, &u->count.subnormal);
	hu_pack_count(r, &u->count.lost);
	hu_pack_count(r, &u->count.flushed);
	hu_pack_size(r, &u->overflow);
	hu_pack_harm(r, &u->harm);
}

/* Tensor i belongs to the unit of the call that computes it, and to the step's where none does. */
static int
is_of(const hu_program *p, int i, const hu_work_unit *u)
{
	return p->t[i].producer == u->call || (u->call < 0 && p->t[i].producer < 0);
}

/* Passes the histograms of the unit's tensors; those that were not recorded are empty. */
static void
pack_exponents(hu_pack *r, const hu_program *p, const hu_trace *t, const hu_work_unit *u, hu_str *rows_of)
{
	for (int i = 0; i < p->nt; i++) {
		hu_tsv rows;
		if (!is_of(p, i, u))
			continue;
		if (r->reading) {
			hu_pack_text(r, &rows_of[i]);
			continue;
		}
		hu_analysis_rows_init(&rows, HU_EXPONENTS_COLUMNS);
		if (t->t[i].data)
			hu_exponents_add(&rows, t->step, &p->t[i], &t->t[i]);
		hu_analysis_rows(r, &rows);
		hu_tsv_release(&rows);
	}
}

static hu_status
study(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	hu_status st = HU_OK;
	hu_again again;
	hu_flush all;
	hu_tsv out;
	int there = 0;

	(void)tables_of;
	memset(&all, 0, sizeof all);
	hu_analysis_rows_init(&out, COLUMNS);
	hu_again_start(&again);
	if (u->tiles > 1)
		st = study_tile(a, t, &p->c[u->call], u, &all, &there, &again.ladder);
	else if (u->call >= 0)
		st = study_call(a, t, &p->c[u->call], &out, &again.ladder);
	else if ((st = hu_analysis_ideal(a, t)) == HU_OK && t->ideal)
		study_gradients(a, t, &out, &all);
	hu_again_stop(&again);
	hu_analysis_rows(r, &out);
	if (u->tiles > 1)
		hu_pack_int(r, &there);
	if (u->call < 0 || there)
		pack_flush(r, &all);
	hu_again_pack(r, &again, &again);
	if (!u->tile)
		pack_exponents(r, p, t, u, NULL);
	hu_tsv_release(&out);
	return st;
}

static hu_status
join(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;
	hu_again again;

	const hu_program *p = a->run->train;
	hu_flush some;
	int there = 0;

	hu_analysis_rows(r, u->call < 0 ? &w->gradients : &w->out);
	if (u->tiles > 1)
		hu_pack_int(r, &there);
	if (u->call < 0)
		pack_flush(r, &w->last);
	if (there) {
		const hu_call *c = &p->c[u->call];
		const hu_info *info = &p->t[c->out[0]];
		if (!u->tile)
			memset(&w->tiles, 0, sizeof w->tiles);
		pack_flush(r, &some);
		hu_flush_join(&w->tiles, &some);
		if (u->tile == u->tiles - 1)
			row(&w->out, s->step, s->skipped, c->id, info, hu_format_name(c->fmt.compute), info->format,
				&w->tiles, hu_count(info->shape));
	}
	hu_again_pack(r, &again, &w->again);
	if (!u->tile)
		pack_exponents(r, p, NULL, u, w->exponents_of);
	return HU_OK;
}

/* Rows of casts and results stand before those of gradients, and histograms in the order of tensors. */
static void
close_step(hu_analysis *a, void *tables_of, const hu_step_facts *s)
{
	tables *w = tables_of;

	(void)a;
	hu_str_add(&w->out.text, strchr(w->gradients.text.s, '\n') + 1);
	hu_tsv_release(&w->gradients);
	hu_analysis_rows_init(&w->gradients, COLUMNS);
	if (w->last.count.elements)
		row(&w->out, s->step, s->skipped, -1, NULL, "exact", HU_NO_FORMAT, &w->last, w->last.count.elements);
	for (int i = 0; i < w->tensors; i++) {
		hu_str_add(&w->exponents.text, w->exponents_of[i].s);
		hu_str_release(&w->exponents_of[i]);
		hu_str_init(&w->exponents_of[i]);
	}
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_init(&w->out);
	hu_analysis_provenance(a, &w->out, "underflow");
	hu_tsv_note(&w->out, "rows",
		"a cast is counted on all its elements; a result rounded to a narrower format on the judged sample "
		"(elements of of_elements); rows from 'exact' compare the gradients handed to the update, all "
		"elements, with those of the exact step; tensor 'all' is all of these together, and the step's "
		"verdict");
	hu_tsv_note(&w->out, "sample", "%zu, seed %llu", a->opt.sample, (unsigned long long)a->opt.seed);
	hu_tsv_note(&w->out, "propagated", "%s", a->opt.propagate ? HU_PROPAGATE_HOW : "switched off");
	hu_tsv_note(&w->out, "counts",
		"lost_bits: below the smallest normal number before rounding, and changed by it (with became_zero); "
		"ftz: zero on hardware that flushes subnormal results (became_zero + became_subnormal)");
	hu_tsv_header(&w->out, COLUMNS);
	hu_analysis_begin(a, &w->exponents, "exponents", HU_EXPONENTS_COLUMNS);
	hu_analysis_rows_init(&w->gradients, COLUMNS);
	w->tensors = a->run->train->nt;
	w->exponents_of = hu_xcalloc((size_t)w->tensors + 1, sizeof *w->exponents_of);
	for (int i = 0; i < w->tensors; i++)
		hu_str_init(&w->exponents_of[i]);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_again_note_step(a, &w->out);
	hu_again_note(&w->again, &w->out);
	hu_status st = hu_analysis_write(a, &w->exponents, "exponents.tsv"),
		  wrote = hu_analysis_write(a, &w->out, "underflow.tsv");
	if (w->last.count.elements) {
		hu_str_addf(&a->said, "last step: %.3g of the weight gradients' nonzeros zeroed; ",
			hu_flush_share(&w->last));
		hu_harm_say(&a->said, &w->last.harm, "the exact gradient");
	} else
		hu_str_addf(&a->said,
			"weight gradients not judged: the exact step was switched off or its inputs not recorded");
	return st == HU_OK ? wrote : st;
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	hu_tsv_release(&w->exponents);
	hu_tsv_release(&w->gradients);
	for (int i = 0; i < w->tensors; i++)
		hu_str_release(&w->exponents_of[i]);
	free(w->exponents_of);
}

static const hu_held_column held[] = {
	{ "underflow", "step layer call tensor from", "share_nonzeros", HU_HELD_AGAINST_UP },
	{ "underflow", "step layer call tensor from", "l2_share_lost", HU_HELD_AGAINST_UP },
	{ "underflow", "step layer call tensor from", "cosine", HU_HELD_AGAINST_DOWN },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_underflow = { "underflow",
	"what casts and narrower results made zero or subnormal, what of it reached the weights; exponent histograms",
	sizeof(tables), begin, study, join, close_step, end, release, held };
