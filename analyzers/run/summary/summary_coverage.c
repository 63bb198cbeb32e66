/* SPDX-License-Identifier: Apache-2.0
   What of the run was seen: the object "coverage" of summary.json, and its sentence. Without it there is no
   all-clear. */
#include "analyzers/run/summary/summary.h"

#include "lib/base/mem.h"
#include "lib/judge/harm.h"
#include "lib/program/opaque.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double
cell(const hu_table *t, int row, const char *column)
{
	return hu_table_real(t, row, hu_table_column(t, column));
}

/* Adds a verdict of weights.tsv to the run's, which is the worst. */
static void
judge(hu_summary *n, const hu_table *t, int i, const char *cause)
{
	int rank = hu_verdict_rank(hu_table_cell(t, i, hu_table_column(t, "verdict")));
	/* The rank by bits that were kept stays: it does not depend on the draw's noise. */
	const hu_expected_row *e = !strcmp(cause, "weights") ? hu_summary_expected(n, cell(t, i, "step"), 1) : NULL;
	e = e && (e->written || !(cell(t, i, "l2_share_lost") > 0.1)) ? e : NULL;
	double unjudged = cell(t, i, "gradients_unjudged"), kept = cell(t, i, "kept_unjudged");

	if (e && (rank < 3 || (e->written && !(cell(t, i, "nonfinite") > 0))))
		rank = e->rank;
	if (!strcmp(cause, "weights"))
		n->verdict_update = fmin(n->verdict_update, e ? e->cosine : cell(t, i, "cosine"));
	if (rank <= n->rank)
		return;
	n->rank = rank;
	n->cause_step = (size_t)cell(t, i, "step");
	n->cause_nonfinite = strcmp(cause, "next") != 0 && cell(t, i, "nonfinite") > 0;
	n->next_cosine = cell(t, i, "cosine");
	n->next_dead = cell(t, i, "nonfinite");
	n->verdict_length = e ? NAN : cell(t, i, "length");
	n->bits_share = unjudged > 0 ? kept / unjudged : NAN;
	snprintf(n->cause, sizeof n->cause, "%s", cause);
}

static void
read_weights(hu_summary *n, const hu_table *t)
{
	for (int i = 0; i < t->rows; i++) {
		double share = cell(t, i, "l2_share_lost");
		if (strcmp(hu_table_cell(t, i, hu_table_column(t, "tensor")), "all"))
			continue;
		if (!strcmp(hu_table_cell(t, i, hu_table_column(t, "role")), "parameter")) {
			n->weight_share = fmax(n->weight_share, share); /* NaN gives way */
			n->weight_length = fmax(n->weight_length, cell(t, i, "length"));
			n->weight_cosine = fmin(n->weight_cosine, cell(t, i, "cosine"));
			n->weight_nonfinite |= cell(t, i, "nonfinite") > 0;
			judge(n, t, i, "weights");
		} else if (!strcmp(hu_table_cell(t, i, hu_table_column(t, "role")), "next")) {
			judge(n, t, i, "next");
		} else {
			n->state_share = fmax(n->state_share, share);
			judge(n, t, i, "states");
		}
	}
}

/* Takes a step into the totals; the least seen one stands for the weights. */
static void
read_step(struct hu_seen *s, const hu_table *t, int i)
{
	static const char *const keys[] = { "step", "calls", "judged", "weights", "gradients_judged", "updates_judged",
		"elements", "gradient_elements_judged", "update_elements_judged", "l2_share_judged", "gradients",
		"kept", "choices", "otherwise", "reads", "apart" };
	double seen = cell(t, i, "l2_share_judged"), elements = cell(t, i, "elements"), share = isnan(seen) ? 0 : seen;
	int skipped = cell(t, i, "skipped") != 0, unmoved = !skipped && !(elements > 0);
	json_t *o = json_object();

	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		json_object_set_new(o, keys[k], hu_summary_number(cell(t, i, keys[k])));
	json_object_set_new(o, "skipped", json_boolean(skipped));
	json_array_append_new(s->by_step, o);
	s->steps++;
	s->skipped += skipped;
	s->unmoved += unmoved;
	s->calls += cell(t, i, "calls");
	s->judged += cell(t, i, "judged");
	s->silent += cell(t, i, "silent_elements");
	s->pulled += cell(t, i, "gradients");
	s->kept += cell(t, i, "kept");
	s->choices += cell(t, i, "choices");
	s->otherwise += cell(t, i, "otherwise");
	s->reads += cell(t, i, "reads");
	s->apart += cell(t, i, "apart");
	double missed = elements - cell(t, i, "update_elements_judged"), before = s->elements - s->updates_judged;
	if (!(elements > 0) || (s->elements > 0 && !(share < s->share) && !(missed > before)))
		return;
	s->share = s->elements > 0 ? fmin(share, s->share) : share;
	s->step = (size_t)cell(t, i, "step");
	s->weights = cell(t, i, "weights");
	s->weights_judged = cell(t, i, "updates_judged");
	s->elements = elements;
	s->gradients_judged = cell(t, i, "gradient_elements_judged");
	s->updates_judged = cell(t, i, "update_elements_judged");
}

/* Adds a row of unjudged.tsv to the operator's entry: calls of all steps, the weights of the step with the most. */
static void
read_operator(struct hu_seen *s, const hu_table *t, int i)
{
	const char *name = hu_table_cell(t, i, hu_table_column(t, "operator"));
	double add[] = { cell(t, i, "calls"), cell(t, i, "tainting") }, weights = cell(t, i, "weights");
	static const char *const keys[] = { "calls", "tainting" };

	s->left_out += strcmp(name, HU_OPAQUE_NOT_KEPT) ? 0 : add[0];
	json_t *o = NULL, *v;
	size_t k;

	json_array_foreach(s->operators, k, v) if (!strcmp(json_string_value(json_object_get(v, "operator")), name)) o =
		v;
	if (!o) {
		o = json_pack("{s:s s:i s:i s:i s:s}", "operator", name, "calls", 0, "tainting", 0, "weights", 0,
			"reason", hu_table_cell(t, i, hu_table_column(t, "reason")));
		json_array_append_new(s->operators, o);
	}
	for (k = 0; k < 2; k++)
		json_object_set_new(
			o, keys[k], hu_summary_number(json_number_value(json_object_get(o, keys[k])) + add[k]));
	weights = fmax(weights, json_number_value(json_object_get(o, "weights")));
	json_object_set_new(o, "weights", hu_summary_number(weights));
}

hu_status
hu_summary_read_seen(const hu_run *r, hu_summary *n)
{
	struct hu_seen *s = &n->seen;
	hu_table t;
	int there;

	s->by_step = json_array();
	s->operators = json_array();
	HU_TRY(hu_summary_table(r, "weights.tsv", &t, &there));
	if (!there)
		return HU_OK;
	read_weights(n, &t);
	hu_table_release(&t);
	HU_TRY(hu_summary_table(r, "coverage.tsv", &t, &there));
	if (!there)
		return HU_OK;
	for (int i = 0; i < t.rows; i++)
		read_step(s, &t, i);
	s->known = t.rows > 0;
	hu_table_release(&t);
	HU_TRY(hu_summary_table(r, "unjudged.tsv", &t, &there));
	for (int i = 0; there && i < t.rows; i++)
		read_operator(s, &t, i);
	if (there)
		hu_table_release(&t);
	return HU_OK;
}

void
hu_summary_release(hu_summary *n)
{
	json_decref(n->seen.by_step);
	json_decref(n->seen.operators);
	free(n->draws.row);
	json_decref(n->origin);
	json_decref(n->nan_origin);
}

int
hu_summary_saw_enough(const hu_summary *n)
{
	const struct hu_seen *s = &n->seen;

	return s->known && s->share >= 0.99 && !s->unmoved && !s->silent && !s->left_out && !s->otherwise &&
	       !s->apart;
}

int
hu_summary_without_gradients(const hu_summary *n)
{
	const struct hu_seen *s = &n->seen;

	return s->known && s->pulled == 0 && s->gradients_judged == 0 && !isnan(n->weight_cosine);
}

json_t *
hu_summary_coverage(const hu_summary *n)
{
	const struct hu_seen *s = &n->seen;
	const struct {
		const char *key;
		double value;
	} numbers[] = { { "calls", s->calls }, { "calls_judged", s->judged }, { "weights", s->weights },
		{ "weights_judged", s->weights_judged }, { "elements", s->elements },
		{ "gradient_elements_judged", s->gradients_judged }, { "update_elements_judged", s->updates_judged },
		{ "update_l2_share_judged", s->share }, { "weights_with_gradient", s->pulled },
		{ "weights_kept", s->kept }, { "choices", s->choices },
		{ "choices_otherwise", s->otherwise }, { "reads", s->reads }, { "reads_apart", s->apart },
		{ "steps_skipped", s->skipped },
		{ "steps_without_update", s->unmoved } };
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		json_object_set_new(o, numbers[i].key, hu_summary_number(s->known ? numbers[i].value : NAN));
	json_object_set(o, "not_judged", s->operators);
	json_object_set(o, "steps", s->by_step);
	return o;
}

/* Names the operators that unjudged weights depend on, worst first as the table has them. */
static void
say_operators(hu_str *s, const struct hu_seen *seen)
{
	enum { NAMED = 3 };
	int n = 0, more = 0;
	json_t *o;
	size_t i;

	json_array_foreach(seen->operators, i, o)
	{
		double calls = json_number_value(json_object_get(o, "tainting"));
		if (calls > 0 && n < NAMED)
			hu_str_addf(s, "%s%s (%.0f call%s)", n++ ? ", " : " they depend on ",
				json_string_value(json_object_get(o, "operator")), calls, calls == 1 ? "" : "s");
		else
			more += calls > 0;
	}
	if (more)
		hu_str_addf(s, " and %d other operator%s", more, more == 1 ? "" : "s");
	if (!n)
		hu_str_add(s, " they have no exact value");
}

void
hu_summary_say_coverage(hu_str *s, const hu_summary *n)
{
	const struct hu_seen *seen = &n->seen;
	double missed = seen->weights - seen->weights_judged;

	if (!seen->known) {
		hu_str_add(s, " How much of the step this rests on was not measured.");
		return;
	}
	if (seen->judged == seen->calls)
		hu_str_addf(s, " All %.0f calls were judged", seen->calls);
	else
		hu_str_addf(s, " Of %.0f calls %.0f (%.3g %%) were judged", seen->calls, seen->judged,
			100 * seen->judged / seen->calls);
	if (missed > 0) {
		hu_str_addf(s, "; the updates of %.0f of %.0f weights were not, because", missed, seen->weights);
		say_operators(s, seen);
	} else if (seen->weights > 0)
		hu_str_addf(s, ", and the update%s of %s%.0f weight%s", seen->weights == 1 ? "" : "s",
			seen->weights == 1 ? "" : "all ", seen->weights, seen->weights == 1 ? "" : "s");
	hu_str_add(s, ".");
	if (seen->otherwise > 0)
		hu_str_addf(s,
			" Of %.0f choices by values, such as of an index, exact values make %.0f otherwise or are not "
			"known, and what follows from them is taken as recorded.",
			seen->choices, seen->otherwise);
	if (seen->apart > 0)
		hu_str_addf(s,
			" Of %.0f numbers that the program read before an update, such as a loss, %.0f may be others "
			"in the exact step, and what was made of them is taken as recorded; one that is only logged "
			"is best read behind the last update.",
			seen->reads, seen->apart);
}
