/* SPDX-License-Identifier: Apache-2.0
   The analyzer underflow counts what each cast, each rounding of a result to a narrower format, and each rank's sending
   of its gradients in one, made zero or subnormal; and it compares the gradients given to the update with those of the
   exact step, to tell what of this reached the weights. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "analyzers/run/exponents.h"
#include "analyzers/run/underflow/underflow_call.h"
#include "lib/base/mem.h"
#include "lib/program/links.h"

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

/* Compares the gradients that the update was given with the exact ones. */
static void
compute_gradients(hu_analysis *a, const hu_trace *t, hu_tsv *out, hu_flush *all)
{
	const hu_program *p = a->run->train;

	for (int i = 0; i < p->nt; i++) {
		int g = hu_program_grad(p, t->step, i);
		hu_flush u;
		if (!p->t[i].trainable || g < 0 || !t->t[g].data || !t->ideal[g])
			continue;
		memset(&u, 0, sizeof u);
		for (size_t k = 0; k < t->t[g].n; k++)
			hu_flush_add(&u, t->ideal[g][k], hu_get(&t->t[g], k), hu_format_of(p->t[g].format));
		row(out, t->step, t->skipped, p->t[g].producer, &p->t[g], "exact", p->t[g].format, &u, t->t[g].n);
		hu_flush_merge(all, &u);
	}
}

/* last: what all gradients of the step that was merged last lost. exponents_of: rows of that step by tensor, until all
   are there. part, bins: of the call whose tiles are being merged, by output, and part also of what ranks send. */
typedef struct tables {
	hu_tsv out, exponents, gradients;
	hu_str *exponents_of;
	int tensors;
	hu_flush last;
	hu_underflow_call_part *part;
	uint64_t (*bins)[HU_BINS];
	hu_again again;
} tables;

/* Packs the histograms of the unit's tensors: those that a call computes, of which a tile has a share, or, of the step
   as a whole, those that no call does. Tensors that were not recorded have empty ones. */
static void
pack_exponents(hu_pack *r, const hu_analysis *a, const hu_trace *t, const hu_work_unit *u)
{
	const hu_program *p = a->run->train;
	uint64_t count[HU_BINS];

	for (int i = 0; u->call < 0 && i < p->nt; i++)
		if (p->t[i].producer < 0) {
			hu_exponents_count(count, &t->t[i], (hu_region){ 0, t->t[i].n, 0, 0, 0 });
			hu_exponents_pack(r, count);
		}
	for (int k = 0; u->call >= 0 && k < p->c[u->call].nout; k++) {
		hu_exponents_count(count, &t->t[p->c[u->call].out[k]], hu_analysis_part(a, u, k));
		hu_exponents_pack(r, count);
	}
}

static void
exponents_of(tables *w, const hu_program *p, size_t step, int i, const uint64_t *count)
{
	hu_tsv rows;

	hu_analysis_rows_init(&rows, HU_EXPONENTS_COLUMNS);
	hu_bins_rows(&rows, step, &p->t[i], count);
	hu_str_add(&w->exponents_of[i], strchr(rows.text.s, '\n') + 1);
	hu_tsv_release(&rows);
}

/* Unpacks them, and writes those that are whole. */
static void
join_exponents(hu_pack *r, const hu_program *p, size_t step, const hu_work_unit *u, tables *w)
{
	int nout = u->call < 0 ? 0 : p->c[u->call].nout;
	uint64_t count[HU_BINS];

	for (int i = 0; u->call < 0 && i < p->nt; i++)
		if (p->t[i].producer < 0) {
			memset(count, 0, sizeof count);
			hu_exponents_pack(r, count);
			exponents_of(w, p, step, i, count);
		}
	if (!u->tile) {
		free(w->bins);
		w->bins = hu_xcalloc((size_t)nout + 1, sizeof *w->bins);
	}
	for (int k = 0; k < nout; k++) {
		memset(count, 0, sizeof count);
		hu_exponents_pack(r, count);
		for (int i = 0; i < HU_BINS; i++)
			w->bins[k][i] += count[i];
		if (u->tile == u->tiles - 1)
			exponents_of(w, p, step, p->c[u->call].out[k], w->bins[k]);
	}
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	int nparts = u->call < 0 ? 0 : a->run->train->c[u->call].nout + 1;
	hu_underflow_call_part *part = hu_xcalloc((size_t)nparts + 1, sizeof *part);
	hu_status st = HU_OK;
	hu_again again;
	hu_flush all;
	hu_tsv out;

	(void)tables_of;
	memset(&all, 0, sizeof all);
	hu_analysis_rows_init(&out, COLUMNS);
	hu_again_start(&again);
	if (u->call >= 0)
		st = hu_underflow_call_compute(a, t, u, part, &again.methods);
	else if ((st = hu_analysis_ideal(a, t)) == HU_OK && t->ideal)
		compute_gradients(a, t, &out, &all);
	hu_again_stop(&again);
	if (u->call < 0) {
		hu_analysis_rows(r, &out);
		hu_underflow_call_flush(r, &all);
	}
	hu_underflow_call_pack(r, part, nparts);
	hu_again_pack(r, &again, &again);
	pack_exponents(r, a, t, u);
	hu_tsv_release(&out);
	free(part);
	return st;
}

/* Adds a tile's parts to those of the tiles before it, and after the last writes the rows: what ranks send, then the
   outputs. */
static void
join_call(tables *w, const hu_program *p, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	const hu_call *c = &p->c[u->call];
	int n = c->nout + 1;
	hu_underflow_call_part *some = hu_xcalloc((size_t)n, sizeof *some);

	if (!u->tile) {
		free(w->part);
		w->part = hu_xcalloc((size_t)n, sizeof *w->part);
	}
	hu_underflow_call_pack(r, some, n);
	hu_underflow_call_merge(w->part, some, n);
	free(some);
	for (int i = 0; i < n && u->tile == u->tiles - 1; i++) {
		int k = i ? i - 1 : c->nout;
		hu_format_id from, to;
		size_t of;
		if (!w->part[k].there)
			continue;
		hu_underflow_call_formats(p, c, k, &from, &to, &of);
		row(&w->out, s->step, s->skipped, c->id, &p->t[c->out[k < c->nout ? k : 0]], hu_format_name(from), to,
			&w->part[k].u, of);
	}
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	const hu_program *p = a->run->train;
	tables *w = tables_of;
	hu_again again;

	if (u->call < 0) {
		hu_analysis_rows(r, &w->gradients);
		hu_underflow_call_flush(r, &w->last);
	} else
		join_call(w, p, s, u, r);
	hu_again_pack(r, &again, &w->again);
	join_exponents(r, p, s->step, u, w);
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
	hu_again_note(a, &w->again, &w->out);
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
	free(w->part);
	free(w->bins);
}

static const hu_held_column held[] = {
	{ "underflow", "step layer call tensor from", "share_nonzeros", HU_HELD_AGAINST_UP },
	{ "underflow", "step layer call tensor from", "l2_share_lost", HU_HELD_AGAINST_UP },
	{ "underflow", "step layer call tensor from", "cosine", HU_HELD_AGAINST_DOWN },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_underflow = { "underflow",
	"what casts and narrower results made zero or subnormal, what of it reached the weights; exponent histograms",
	sizeof(tables), begin, compute, merge, close_step, end, release, held };
