/* SPDX-License-Identifier: Apache-2.0
   Where infinities and NaN came from, in the sentence and in summary.json; and what helps against each cause, with a
   command that shows it at work. */
#include "analyzers/run/nonfinite/cause.h"
#include "analyzers/run/summary/summary.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row as an object: numbers where cells are numbers, null for "-". */
static json_t *
row_json(const hu_table *t, int i)
{
	static const char *const numbers = " step call element nonfinite_elements ";
	json_t *o = json_object();

	for (int k = 0; k < t->columns; k++) {
		const char *cell = hu_table_cell(t, i, k);
		char *key = hu_xprintf(" %s ", t->column[k]);
		json_t *v = !strcmp(cell, "-")     ? json_null()
			    : strstr(numbers, key) ? hu_summary_number(hu_table_real(t, i, k))
						   : json_string(cell);
		json_object_set_new(o, t->column[k], v);
		free(key);
	}
	return o;
}

hu_status
hu_summary_read_origin(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;

	HU_TRY(hu_summary_table(r, "nonfinite.tsv", &t, &there));
	if (!there)
		return HU_OK;
	n->origin_known = 1;
	for (int i = 0; i < t.rows; i++) {
		int nan = !strcmp(hu_table_cell(&t, i, hu_table_column(&t, "made")), "nan");
		json_t **to = nan ? &n->nan_origin : &n->origin;
		if (strcmp(hu_table_cell(&t, i, hu_table_column(&t, "step")),
			    hu_table_cell(&t, 0, hu_table_column(&t, "step"))))
			break; /* the first step that has one */
		if (!*to)
			*to = row_json(&t, i);
	}
	hu_table_release(&t);
	return HU_OK;
}

static const char *
text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "-";
}

static long long
number(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

static const char *
words_of(const char *name)
{
	for (int i = 0; i < HU_ORIGIN_CAUSES; i++)
		if (!strcmp(name, hu_origin_name((hu_origin_cause)i)))
			return hu_origin_words((hu_origin_cause)i);
	return "its cause is not known";
}

/* A value that is not finite, in words. */
static const char *
value(const json_t *o)
{
	const char *s = text(o, "value");

	return strstr(s, "nan") ? "NaN" : *s == '-' ? "minus infinity" : "infinity";
}

/* Says what a call made of which operands, and why. */
static void
say_row(hu_str *s, const json_t *o)
{
	if (json_is_null(json_object_get(o, "call"))) {
		hu_str_addf(s, "%s came into the step in %s[%lld]", value(o), text(o, "tensor"), number(o, "element"));
		return;
	}
	hu_str_addf(s, "%s (call %lld, layer %s) made %s in %s[%lld] of %s, since %s", text(o, "op"), number(o, "call"),
		text(o, "layer"), value(o), text(o, "tensor"), number(o, "element"), text(o, "operands"),
		words_of(text(o, "cause")));
	if (!json_is_null(json_object_get(o, "constant")))
		hu_str_addf(s, " (%s becomes 0 in %s)", text(o, "constant"), text(o, "format"));
}

int
hu_summary_say_origin(hu_str *s, const hu_summary *n)
{
	const json_t *first = n->origin ? n->origin : n->nan_origin;

	if (!first)
		return 0;
	hu_str_addf(s, " The first traced number that is not finite: at step %lld ", number(first, "step"));
	say_row(s, first);
	if (n->origin && n->nan_origin) {
		hu_str_add(s, "; then ");
		say_row(s, n->nan_origin);
	}
	hu_str_add(s, ".");
	return 1;
}

static const struct {
	const char *cause, *what, *command;
} remedies[] = {
#define REMEDY(cause, words, command) { cause, words, command },
#include "analyzers/run/summary/remedies.def"
#undef REMEDY
};

static void
add_remedy(json_t *list, const char *cause)
{
	for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
		if (!strcmp(remedies[i].cause, cause))
			json_array_append_new(list, json_pack("{s:s s:s s:s}", "cause", cause, "remedy",
							    remedies[i].what, "command", remedies[i].command));
}

/* What has to be helped. Where gradients or weights are the cause these were swallowed, of which the weights that kept
   their bits tell, or gradients became zero, or they were turned away. The shares are those from which the verdict
   speaks of a cost (doc/analysis.md). */
static const char *
hurt(const hu_summary *n)
{
	int kept = n->bits_share > 0.1 || n->update_share > 0.1 || n->seen.kept > 0.1 * n->seen.pulled;

	if (!strcmp(n->cause, "weights"))
		return kept                    ? "updates"
		       : n->verdict_length > 1.5  ? "moments"
		       : n->weight_share > 0.1 ? "gradients"
					       : "rounding";
	if (!strcmp(n->cause, "gradients"))
		return n->grad_share > 0.1 || n->zeroed_share > 0.1 ? "gradients" : "rounding";
	return n->cause;
}

json_t *
hu_summary_remedies(const hu_analysis *a, const hu_summary *n)
{
	json_t *list = json_array();

	(void)a;
	if (n->rank > 1 && *n->cause && !n->cause_nonfinite)
		add_remedy(list, hurt(n));
	if (n->origin || n->nan_origin) /* what follows from the first has its remedy */
		add_remedy(list, text(n->origin ? n->origin : n->nan_origin, "cause"));
	return list;
}
