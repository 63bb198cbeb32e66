/* SPDX-License-Identifier: Apache-2.0
   The analyzer weights compares what a step made of each parameter and each state tensor, before and after, with what
   the exact step makes of it, whichever optimizer it was and however many calls it took. Where the exact value is not
   known, because an opaque call lies before it, it counts the elements that kept their bits although their gradient is
   not 0. It also says how much of the step was judged, and what the rest depends on. */
#include "analyzers/run/analyzer.h"
#include "analyzers/run/weights/coverage.h"
#include "analyzers/run/weights/rows.h"

#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/program/compensation.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much of a step was judged. */
typedef struct covered {
	long long step, calls, judged, moves, weights, gradients_judged, updates_judged, elements;
	long long gradient_elements, update_elements, silent, gradients, kept, skipped;
	long long choices, otherwise, reads, apart;
	double l2_share;
} covered;

#define COLUMN(...) HU_FIELD_OF(covered, __VA_ARGS__)
static const hu_table_field covered_columns[] = {
	COLUMN("step", COUNT, step, ANYWHERE, "the traced step"),
	COLUMN("calls", COUNT, calls, ANYWHERE, "calls that are no moves"),
	COLUMN("judged", COUNT, judged, ANYWHERE, "those of them that were judged"),
	COLUMN("moves", COUNT, moves, ANYWHERE, "calls that only move elements"),
	COLUMN("weights", COUNT, weights, ANYWHERE, "parameters"),
	COLUMN("gradients_judged", COUNT, gradients_judged, ANYWHERE, "parameters whose gradient was judged"),
	COLUMN("updates_judged", COUNT, updates_judged, ANYWHERE, "parameters whose update was judged"),
	COLUMN("elements", COUNT, elements, ANYWHERE, "elements of all parameters"),
	COLUMN("gradient_elements_judged", COUNT, gradient_elements, ANYWHERE, "those whose exact gradient is known"),
	COLUMN("update_elements_judged", COUNT, update_elements, ANYWHERE, "those whose exact update is known"),
	COLUMN("l2_share_judged", MEASURED, l2_share, ANYWHERE, "the share of the update's L2 norm in these"),
	COLUMN("silent_elements", COUNT, silent, ANYWHERE, "unjudged ones of tensors whose gradients are all 0"),
	COLUMN("gradients", COUNT, gradients, ANYWHERE, "elements with a gradient that is not 0"),
	COLUMN("kept", COUNT, kept, ANYWHERE, "those of them whose bits did not change"),
	COLUMN("skipped", COUNT, skipped, ANYWHERE, "1 where the step was skipped"),
	COLUMN("choices", COUNT, choices, ANYWHERE, "choices that the exact step takes as recorded"),
	COLUMN("otherwise", COUNT, otherwise, ANYWHERE, "those of them that exact values make otherwise"),
	COLUMN("reads", COUNT, reads, ANYWHERE, "tensors that the recorded program read before an update"),
	COLUMN("apart", COUNT, apart, ANYWHERE, "those of them whose exact values may steer it otherwise"),
};
#undef COLUMN

/* An operator that nothing judges. */
typedef struct unjudged {
	long long step, calls, tainting, weights;
	const char *name, *reason;
} unjudged;

#define COLUMN(...) HU_FIELD_OF(unjudged, __VA_ARGS__)
static const hu_table_field unjudged_columns[] = {
	COLUMN("step", COUNT, step, ANYWHERE, "the traced step"),
	COLUMN("operator", TEXT, name, ANYWHERE, "the operator"),
	COLUMN("calls", COUNT, calls, ANYWHERE, "its calls"),
	COLUMN("tainting", COUNT, tainting, ANYWHERE, "those that the update of a weight depends on"),
	COLUMN("weights", COUNT, weights, ANYWHERE, "how many weights these are"),
	COLUMN("reason", TEXT, reason, ANYWHERE, "why nothing judges it"),
};
#undef COLUMN

static const hu_fields coverage_of = HU_FIELDS(covered_columns, covered),
		       unjudged_of = HU_FIELDS(unjudged_columns, unjudged);

/* Begins a table of rows that are on their way, or with a name the table of a run. */
static void
begin_rows(const hu_analysis *a, hu_tsv *t, const char *name, const hu_fields *of)
{
	hu_str columns;

	hu_str_init(&columns);
	hu_fields_names(&columns, of);
	if (name)
		hu_analysis_begin(a, t, name, columns.s);
	else
		hu_analysis_rows_init(t, columns.s);
	hu_str_release(&columns);
}

/* The rows of a step, on their way to the tables. */
typedef struct found {
	hu_tsv rows, coverage, unjudged;
	hu_weight all[2];
	hu_next_step next;
	size_t weights;
} found;

static void
found_init(found *f)
{
	memset(f, 0, sizeof *f);
	begin_rows(NULL, &f->rows, NULL, &hu_weight_rows);
	begin_rows(NULL, &f->coverage, NULL, &coverage_of);
	begin_rows(NULL, &f->unjudged, NULL, &unjudged_of);
}

static void
found_release(found *f)
{
	hu_tsv_release(&f->rows);
	hu_tsv_release(&f->coverage);
	hu_tsv_release(&f->unjudged);
}

/* Judges tensor i, which becomes tensor next. */
static hu_status
compute_tensor(hu_analysis *a, hu_trace *t, hu_coverage_step *seen, int i, int next, found *f)
{
	const hu_program *p = a->run->train;
	int parameter = p->t[i].trainable, grad = hu_weight_gradient(p, t, i, next);
	hu_compensation kept;
	hu_str because;
	hu_weight w;

	HU_TRY(hu_run_trace_need(&t->file, i));
	HU_TRY(hu_run_trace_need(&t->file, next));
	if (grad >= 0)
		HU_TRY(hu_run_trace_need(&t->file, grad));
	if (hu_program_compensation(p, t->step, i, &kept)) {
		HU_TRY(hu_run_trace_need(&t->file, kept.rest));
		HU_TRY(hu_run_trace_need(&t->file, kept.after));
	}
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
	hu_weight_row(&f->rows, t->step, &p->t[i], parameter, &w, because.s);
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
			hu_weight_row(&f->rows, t->step, NULL, parameter, &f->all[parameter], "");
	if (f->next.n)
		hu_weight_next_row(&f->rows, t->step, &f->next);
	covered c = { .step = (long long)t->step,
		.calls = (long long)seen->calls.calls,
		.judged = (long long)seen->calls.judged,
		.moves = (long long)seen->calls.moves,
		.weights = (long long)f->weights,
		.gradients_judged = (long long)w->gradient_tensors,
		.updates_judged = (long long)w->judged_tensors,
		.elements = (long long)w->n,
		.gradient_elements = (long long)w->gradient_judged,
		.update_elements = (long long)w->judged,
		.l2_share = hu_weight_seen(w),
		.silent = (long long)w->silent,
		.gradients = (long long)w->gradients,
		.kept = (long long)w->kept,
		.skipped = t->skipped,
		.choices = (long long)seen->choices.n,
		.otherwise = (long long)seen->choices.otherwise,
		.reads = (long long)seen->reads.n,
		.apart = (long long)seen->reads.apart };
	hu_fields_tsv_row(&f->coverage, &coverage_of, &c);
	for (int i = 0; i < seen->nop; i++) {
		const hu_coverage_operator *o = &seen->op[i];
		unjudged u = { (long long)t->step, (long long)o->calls, (long long)o->tainted, (long long)o->weights,
			o->name, o->reason };
		hu_fields_tsv_row(&f->unjudged, &unjudged_of, &u);
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
		st = hu_next_step_take(&f->next, a, t);
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

	begin_rows(a, &w->out, "weights", &hu_weight_rows);
	hu_tsv_note(&w->out, "rows",
		"what a step made of each parameter and state beside the exact step, all elements; kept: elements "
		"whose gradient is not 0 and whose bits did not change; lost: elements that the exact step moves and "
		"that kept their bits, or, where every recorded gradient of the tensor is 0, all that it moves; "
		"length: of the step, in lengths of the exact one");
	hu_tsv_note(&w->out, "propagated", "%s", a->opt.propagate ? HU_PROPAGATE_HOW : "switched off");
	begin_rows(a, &w->coverage, "coverage", &coverage_of);
	hu_tsv_note(&w->coverage, "calls",
		"those that are no moves; judged: their operator is known and their operands were recorded; "
		"l2_share_judged: the share of the update's L2 norm in elements whose exact update is known; silent: "
		"elements without one, of tensors whose recorded gradients are all 0");
	begin_rows(a, &w->unjudged, "unjudged", &unjudged_of);
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
