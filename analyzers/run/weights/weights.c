/* SPDX-License-Identifier: Apache-2.0
   The analyzer weights compares what a step made of each parameter and each state tensor, before and after, with what
   the exact step makes of it, whichever optimizer it was and however many calls it took. Where the exact value is not
   known, because an opaque call lies before it, it counts the elements that kept their bits although their gradient is
   not 0. It also says how much of the step was judged, and what the rest depends on. */
#include "analyzers/run/analyzer.h"
#include "analyzers/run/weights/coverage.h"
#include "analyzers/run/weights/weight.h"

#include "lib/base/mem.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step tensor layer format role elements moved gradients kept gradients_judged updates_judged exact_moves "     \
	"lost "                                                                                                        \
	"gradients_unjudged kept_unjudged l2_update l2_judged l2_share_lost cosine nonfinite verdict because length"
#define COVERAGE                                                                                                       \
	"step calls judged moves weights gradients_judged updates_judged elements gradient_elements_judged "           \
	"update_elements_judged l2_share_judged silent_elements gradients kept skipped"
#define UNJUDGED "step operator calls tainting weights reason"

static void
count_or_none(hu_tsv *t, int there, size_t n)
{
	if (there)
		hu_tsv_int(t, (long long)n);
	else
		hu_tsv_none(t);
}

/* A row of a tensor, or, without one, of all parameters or all other states of a step. */
static void
row(hu_tsv *t, size_t step, const hu_info *info, int parameter, const hu_weight *w, const char *because)
{
	double share = hu_harm_share(&w->harm);

	hu_tsv_int(t, (long long)step);
	hu_tsv_text(t, info ? info->name : "all");
	hu_tsv_text(t, info ? info->layer : "all");
	hu_tsv_text(t, info ? hu_format_name(info->format) : "-");
	hu_tsv_text(t, parameter ? "parameter" : "state");
	hu_tsv_int(t, (long long)w->n);
	hu_tsv_int(t, (long long)w->moved);
	count_or_none(t, w->with_gradient > 0, w->gradients);
	count_or_none(t, w->with_gradient > 0, w->kept);
	hu_tsv_int(t, (long long)w->gradient_judged);
	hu_tsv_int(t, (long long)w->judged);
	count_or_none(t, w->judged > 0, w->exact_moves);
	count_or_none(t, w->judged > 0, w->lost);
	hu_tsv_int(t, (long long)w->gradients_unjudged);
	hu_tsv_int(t, (long long)w->kept_unjudged);
	hu_tsv_real(t, (double)sqrtl(w->real2));
	hu_tsv_real(t, (double)sqrtl(w->real2_judged));
	hu_tsv_measured(t, share);
	hu_tsv_measured(t, isnan(share) ? NAN : hu_harm_cosine(&w->harm));
	hu_tsv_int(t, (long long)w->harm.nonfinite);
	hu_tsv_text(t, hu_weight_verdict(w, parameter));
	hu_tsv_text(t, because);
	hu_tsv_measured(t, hu_harm_length(&w->harm));
}

/* The rows of a step, on their way to the tables. */
typedef struct found {
	hu_tsv rows, coverage, unjudged;
	hu_weight all[2];
	size_t weights;
} found;

static void
found_init(found *f)
{
	memset(f, 0, sizeof *f);
	hu_analysis_rows_init(&f->rows, COLUMNS);
	hu_analysis_rows_init(&f->coverage, COVERAGE);
	hu_analysis_rows_init(&f->unjudged, UNJUDGED);
}

static void
found_release(found *f)
{
	hu_tsv_release(&f->rows);
	hu_tsv_release(&f->coverage);
	hu_tsv_release(&f->unjudged);
}

/* Studies tensor i, which becomes tensor next. */
static hu_status
compute_tensor(hu_analysis *a, hu_trace *t, hu_coverage_step *seen, int i, int next, found *f)
{
	const hu_program *p = a->run->train;
	int parameter = p->t[i].trainable, grad = hu_weight_gradient(p, t, i, next);
	hu_str because;
	hu_weight w;

	HU_TRY(hu_run_trace_need(&t->file, i));
	HU_TRY(hu_run_trace_need(&t->file, next));
	if (grad >= 0)
		HU_TRY(hu_run_trace_need(&t->file, grad));
	hu_weight_compute(&w, p, t, i, next, grad);
	hu_str_init(&because);
	if (w.judged < w.n) {
		hu_coverage_names(seen, next, &because);
		if (!because.len)
			hu_str_add(&because, !a->opt.propagate         ? "no exact step"
					     : p->t[next].producer < 0 ? "no recorded call wrote it"
								       : "no exact value");
		if (parameter)
			hu_coverage_blame(seen, a, t, next);
	}
	row(&f->rows, t->step, &p->t[i], parameter, &w, because.s);
	hu_str_release(&because);
	hu_weight_merge(&f->all[parameter], &w);
	f->weights += parameter != 0;
	return HU_OK;
}

/* The rows of the step as a whole, after those of its tensors. */
static void
sum_up(const hu_trace *t, hu_coverage_step *seen, found *f)
{
	const hu_weight *w = &f->all[1];

	for (int parameter = 1; parameter >= 0; parameter--)
		if (f->all[parameter].n)
			row(&f->rows, t->step, NULL, parameter, &f->all[parameter], "");
	hu_tsv_int(&f->coverage, (long long)t->step);
	hu_tsv_int(&f->coverage, (long long)seen->calls.calls);
	hu_tsv_int(&f->coverage, (long long)seen->calls.judged);
	hu_tsv_int(&f->coverage, (long long)seen->calls.moves);
	hu_tsv_int(&f->coverage, (long long)f->weights);
	hu_tsv_int(&f->coverage, (long long)w->gradient_tensors);
	hu_tsv_int(&f->coverage, (long long)w->judged_tensors);
	hu_tsv_int(&f->coverage, (long long)w->n);
	hu_tsv_int(&f->coverage, (long long)w->gradient_judged);
	hu_tsv_int(&f->coverage, (long long)w->judged);
	hu_tsv_measured(&f->coverage, hu_weight_seen(w));
	hu_tsv_int(&f->coverage, (long long)w->silent);
	hu_tsv_int(&f->coverage, (long long)w->gradients);
	hu_tsv_int(&f->coverage, (long long)w->kept);
	hu_tsv_int(&f->coverage, t->skipped);
	for (int i = 0; i < seen->nop; i++) {
		const hu_coverage_operator *o = &seen->op[i];
		hu_tsv_int(&f->unjudged, (long long)t->step);
		hu_tsv_text(&f->unjudged, o->name);
		hu_tsv_int(&f->unjudged, (long long)o->calls);
		hu_tsv_int(&f->unjudged, (long long)o->tainted);
		hu_tsv_int(&f->unjudged, (long long)o->weights);
		hu_tsv_text(&f->unjudged, o->reason);
	}
}

static hu_status
compute_step(hu_analysis *a, hu_trace *t, found *f)
{
	const hu_program *p = a->run->train;
	hu_coverage_step seen;
	hu_status st = hu_analysis_ideal(a, t);

	if (st != HU_OK)
		return st;
	hu_coverage_init(&seen, a, t);
	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		int next = p->t[i].state && !t->skipped ? hu_program_next(p, t->step, i) : -1;
		if (hu_weight_is_studied(p, t, i, next))
			st = compute_tensor(a, t, &seen, i, next, f);
	}
	hu_coverage_end(&seen, a);
	if (st == HU_OK)
		sum_up(t, &seen, f);
	hu_coverage_release(&seen);
	return st;
}

typedef struct tables {
	hu_tsv out, coverage, unjudged;
	hu_weight all;
	size_t calls, judged;
} tables;

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	found f;

	(void)tables_of;
	if (u->call >= 0)
		return HU_OK;
	found_init(&f);
	hu_status st = compute_step(a, t, &f);
	hu_analysis_rows(r, &f.rows);
	hu_analysis_rows(r, &f.coverage);
	hu_analysis_rows(r, &f.unjudged);
	hu_weight_pack(r, &f.all[1]);
	found_release(&f);
	return st;
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;
	hu_weight all = { .n = 0 };

	(void)a;
	(void)s;
	if (u->call >= 0)
		return HU_OK;
	hu_analysis_rows(r, &w->out);
	hu_analysis_rows(r, &w->coverage);
	hu_analysis_rows(r, &w->unjudged);
	hu_weight_pack(r, &all);
	hu_weight_merge(&w->all, &all);
	return HU_OK;
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_analysis_begin(a, &w->out, "weights", COLUMNS);
	hu_tsv_note(&w->out, "rows",
		"what a step made of each parameter and state beside the exact step, all elements; kept: elements "
		"whose gradient is not 0 and whose bits did not change; lost: elements that the exact step moves and "
		"that kept their bits, or, where every recorded gradient of the tensor is 0, all that it moves; "
		"length: of the step, in lengths of the exact one");
	hu_tsv_note(&w->out, "propagated", "%s", a->opt.propagate ? HU_PROPAGATE_HOW : "switched off");
	hu_analysis_begin(a, &w->coverage, "coverage", COVERAGE);
	hu_tsv_note(&w->coverage, "calls",
		"those that are no moves; judged: their operator is known and their operands were recorded; "
		"l2_share_judged: the share of the update's L2 norm in elements whose exact update is known; silent: "
		"elements without one, of tensors whose recorded gradients are all 0");
	hu_analysis_begin(a, &w->unjudged, "unjudged", UNJUDGED);
	hu_tsv_note(&w->unjudged, "rows",
		"operators that nothing judges; tainting: their calls that the update of some weight depends on, and "
		"weights: how many of these there are");
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;
	hu_status st = hu_analysis_write(a, &w->out, "weights.tsv");

	if (st == HU_OK)
		st = hu_analysis_write(a, &w->coverage, "coverage.tsv");
	if (st == HU_OK)
		st = hu_analysis_write(a, &w->unjudged, "unjudged.tsv");
	if (!w->all.n)
		hu_str_add(&a->said, "no traced step moved a weight");
	else {
		hu_str_addf(&a->said, "%zu of %zu updates judged", w->all.judged, w->all.n);
		if (w->all.with_gradient)
			hu_str_addf(&a->said, "; %zu of %zu weights with a gradient kept their bits", w->all.kept,
				w->all.gradients);
		if (w->all.judged)
			hu_str_add(&a->said, "; ");
		if (w->all.judged)
			hu_harm_say(&a->said, &w->all.harm, "the exact update");
	}
	return st;
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->out);
	hu_tsv_release(&w->coverage);
	hu_tsv_release(&w->unjudged);
}

static const hu_held_column held[] = {
	{ "weights", "step tensor role", "kept", HU_HELD_AGAINST_UP },
	{ "weights", "step tensor role", "l2_share_lost", HU_HELD_AGAINST_UP },
	{ "weights", "step tensor role", "cosine", HU_HELD_AGAINST_DOWN },
	{ "coverage", "step", "judged", HU_HELD_AGAINST_DOWN },
	{ "coverage", "step", "update_elements_judged", HU_HELD_AGAINST_DOWN },
	{ "coverage", "step", "l2_share_judged", HU_HELD_AGAINST_DOWN },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_weights = { "weights",
	"what each weight took of its exact update, which kept their bits, and how much of the step was judged",
	sizeof(tables), begin, compute, merge, NULL, end, release, held };
