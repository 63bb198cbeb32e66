/* SPDX-License-Identifier: Apache-2.0
   What validate and advise found, as a block of Markdown for a model card. */
#include "lib/base/mem.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Appends text that Markdown takes as it is: characters with a meaning there have a backslash. */
static void
add_text(hu_str *b, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>#|~", *text))
			hu_str_add(b, "\\");
		hu_str_addn(b, text, 1);
	}
}

/* Appends a number by a format, or an en dash where there is none, and begins the next cell. */
static void
add_cell(hu_str *b, const char *format, double x)
{
	char *text = isnan(x) ? hu_xstrdup("–") : hu_xprintf(format, x);

	hu_str_addf(b, " %s |", text);
	free(text);
}

static void
add_rules(hu_str *b, const json_t *rules)
{
	const json_t *rule;
	size_t i;

	json_array_foreach((json_t *)(size_t)rules, i, rule)
	{
		hu_str_add(b, i ? " and `" : "`");
		hu_str_add(b, json_string_value(rule) ? json_string_value(rule) : "");
		hu_str_add(b, "`");
	}
}

static const char *
word(const json_t *row)
{
	const char *verdict = hu_model_text(row, "verdict");

	return !strcmp(verdict, "pass") ? "kept" : !strcmp(verdict, "fail") ? "broken" : "–";
}

/* A row for each policy. right: some policy has an accuracy. */
static void
add_policies(hu_str *b, const json_t *policies, int right)
{
	const json_t *row;
	size_t i;

	hu_str_addf(b, "| precision | budget | decisions changed | 95 %% interval, %% |%s SQNR, dB | weights, MB |\n",
		right ? " right, % |" : "");
	hu_str_addf(b, "| --- | --- | ---: | ---: |%s ---: | ---: |\n", right ? " ---: |" : "");
	json_array_foreach((json_t *)(size_t)policies, i, row)
	{
		double low = 100 * hu_model_number(row, "flips_low"), high = 100 * hu_model_number(row, "flips_high");
		hu_str_add(b, "| ");
		add_text(b, hu_model_text(row, "policy"));
		hu_str_addf(b, " | %s |", word(row));
		if (isnan(hu_model_number(row, "flips")))
			hu_str_add(b, " – | – |");
		else
			hu_str_addf(b, " %.0f of %.0f | %.2f to %.2f |", hu_model_number(row, "flips"),
				hu_model_number(row, "inputs"), low, high);
		if (right)
			add_cell(b, "%.2f", 100 * hu_model_number(row, "accuracy"));
		add_cell(b, "%.1f", hu_model_number(row, "sqnr_db"));
		add_cell(b, "%.4g", hu_model_number(row, "weight_bytes") / 1e6);
		hu_str_add(b, "\n");
	}
}

static void
add_validation(hu_str *b, const json_t *v)
{
	const json_t *policies = json_object_get(v, "policies"), *row;
	int right = 0;
	size_t i;

	json_array_foreach((json_t *)(size_t)policies, i, row) right |= !isnan(hu_model_number(row, "accuracy"));
	if (*hu_model_text(v, "sentence")) {
		add_text(b, hu_model_text(v, "sentence"));
		hu_str_add(b, "\n\n");
	}
	add_policies(b, policies, right);
	hu_str_add(b, "\nEach precision is compared with the model in float32");
	if (json_array_size(json_object_get(v, "accept"))) {
		hu_str_add(b, "; the budget is ");
		add_rules(b, json_object_get(v, "accept"));
	}
	hu_str_add(b, ".\n");
	json_array_foreach((json_t *)(size_t)policies, i, row) if (*hu_model_text(row, "first_nonfinite"))
	{
		hu_str_add(b, "Under ");
		add_text(b, hu_model_text(row, "policy"));
		hu_str_add(b, " the first value that is not finite comes from ");
		add_text(b, hu_model_text(row, "first_nonfinite"));
		hu_str_add(b, ".\n");
	}
}

static void
add_plan(hu_str *b, const json_t *a)
{
	const json_t *apart = json_object_get(a, "held_apart"), *nodes = json_object_get(a, "nodes"), *row;
	size_t i, kept = 0;

	if (!json_is_true(json_object_get(a, "found"))) {
		hu_str_add(b, "\nNo mixture of the formats that were tried keeps ");
		add_rules(b, json_object_get(a, "accept"));
		hu_str_add(b, ".\n");
		return;
	}
	json_array_foreach((json_t *)(size_t)nodes, i, row) kept += !strcmp(hu_model_text(row, "scheme"), "float32");
	hu_str_addf(b,
		"\nThe mixture that was found keeps %zu of %zu products in float32; its weights take %.4g MB, %.4g "
		"MB in float32. On %.0f inputs that the search never saw ",
		kept, json_array_size(nodes), hu_model_number(a, "bytes") / 1e6,
		hu_model_number(a, "float32_bytes") / 1e6, hu_model_number(apart, "inputs"));
	double flips = hu_model_number(apart, "flips");
	if (!isnan(flips))
		hu_str_addf(b, "%.0f decision%s, ", flips, flips == 1 ? " changes" : "s change");
	if (!isnan(hu_model_number(apart, "accuracy")))
		hu_str_addf(b, "%.2f %% are right (%.2f %% in float32), ", 100 * hu_model_number(apart, "accuracy"),
			100 * hu_model_number(apart, "float32_accuracy"));
	hu_str_addf(b, isnan(flips) ? "the relative L2 error is %.3g.\n" : "and the relative L2 error is %.3g.\n",
		hu_model_number(apart, "rel_l2"));
}

/* Appends a command of the block that says where the numbers are from. */
static void
add_command(hu_str *b, const json_t *o)
{
	if (o && *hu_model_text(o, "command"))
		hu_str_addf(b, "    %s\n", hu_model_text(o, "command"));
}

void
hu_model_card(hu_str *b, const json_t *v, const json_t *a, const char *command)
{
	const char *model = hu_model_text(v ? v : a, "model"), *slash = strrchr(model, '/');

	hu_str_add(b, "## Numerical precision of ");
	add_text(b, slash ? slash + 1 : model);
	hu_str_add(b, "\n\n");
	if (v)
		add_validation(b, v);
	if (a)
		add_plan(b, a);
	hu_str_add(b, "\nMeasured by halfulp:\n\n");
	add_command(b, v);
	add_command(b, a);
	hu_str_addf(b, "    %s\n", command);
}
