/* SPDX-License-Identifier: Apache-2.0
   What a manager reads: the decision, the table it rests on, and the plan with its proof. */
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <string.h>

static int
passes(const json_t *row)
{
	return !strcmp(hu_model_text(row, "verdict"), "pass");
}

/* The policy beside float32 that keeps the budget with the fewest bytes of weights. */
static const json_t *
cheapest(const json_t *policies, size_t *kept)
{
	const json_t *best = NULL, *row;
	size_t i;

	*kept = 0;
	json_array_foreach((json_t *)(size_t)policies, i, row)
	{
		if (!i || !passes(row))
			continue;
		++*kept;
		if (!best || hu_model_number(row, "weight_bytes") < hu_model_number(best, "weight_bytes"))
			best = row;
	}
	return best;
}

static void
add_rules(hu_str *b, const json_t *rules)
{
	const json_t *rule;
	size_t i;

	json_array_foreach((json_t *)(size_t)rules, i, rule)
	{
		hu_str_add(b, i ? " and " : "");
		hu_str_add(b, "<code>");
		hu_html_text(b, json_string_value(rule) ? json_string_value(rule) : "");
		hu_str_add(b, "</code>");
	}
}

/* A paragraph on each rule on a share: whether it is kept on these inputs or at a confidence, and what these show. */
static void
add_shares(hu_str *b, const json_t *rules, const char *on)
{
	const json_t *rule;
	size_t i;

	json_array_foreach((json_t *)(size_t)rules, i, rule)
	{
		if (!*hu_model_text(rule, "shown"))
			continue;
		hu_str_add(b, "<p class=\"note\"><code>");
		hu_html_text(b, hu_model_text(rule, "rule"));
		hu_str_add(b, "</code> is kept");
		if (json_is_null(json_object_get(rule, "confidence")))
			hu_str_add(b, " on these inputs");
		hu_str_addf(b, "%s (", on);
		hu_html_text(b, hu_model_text(rule, "shown"));
		hu_str_add(b, ").</p>\n");
	}
}

static void
verdict(hu_str *b, const json_t *v, const json_t *policies)
{
	const json_t *rules = json_object_get(v, "accept"), *best, *float32 = json_array_get(policies, 0);
	size_t kept, all = json_array_size(policies);

	if (!json_array_size(rules)) {
		hu_str_add(b, "<section class=\"verdict\">\n<h2>No budget was named</h2>\n<p>The table tells what each "
			      "policy "
			      "changes; <code>--accept 'flips&lt;=1%'</code> lets halfulp decide.</p>\n</section>\n");
		return;
	}
	best = cheapest(policies, &kept);
	hu_str_addf(b, "<section class=\"verdict %s\">\n<h2><span class=\"word\">", best ? "harmless" : "fatal");
	if (best)
		hu_html_text(b, hu_model_text(best, "policy"));
	hu_str_add(b, best ? " keeps the budget</span></h2>\n<p>" : "No policy keeps the budget</span></h2>\n<p>");
	hu_model_figure(b, "%.0f of ", (double)kept);
	hu_model_figure(b, "%.0f policies keep ", (double)(all ? all - 1 : 0));
	add_rules(b, rules);
	if (best) {
		hu_model_figure(b, ". This one takes the fewest bytes of them: %.4g MB of weights in place of ",
			hu_model_number(best, "weight_bytes") / 1e6);
		hu_model_figure(b, "%.4g MB in float32", hu_model_number(float32, "weight_bytes") / 1e6);
	}
	hu_str_add(b, ".</p>\n");
	if (best)
		add_shares(b, json_object_get(best, "rules"), "");
	hu_str_add(b, "</section>\n");
}

/* A column of the decision table: one figure of a policy, or two, both times the factor. It stands where a policy has
   the first; a second that is 0 means that there is nothing to tell. */
static const struct {
	const char *heading, *key, *format;
	double factor;
	const char *second, *format2;
} columns[] = {
	{ "weights, MB", "weight_bytes", "%.4g", 1e-6, NULL, NULL },
	{ "decisions changed", "flips", "%.0f", 1, "inputs", " of %.0f" },
	{ "95 % interval", "flips_low", "%.2f", 100, "flips_high", " to %.2f %%" },
	{ "open in float32", "open", "%.0f", 1, "flips_judged", " of %.0f" },
	{ "right, %", "accuracy", "%.2f", 100, NULL, NULL },
	{ "SQNR, dB", "sqnr_db", "%.1f", 1, NULL, NULL },
	{ "relative L2", "rel_l2", "%.3g", 1, NULL, NULL },
	{ "largest error", "max_error", "%.3g", 1, NULL, NULL },
	{ "KL", "kl", "%.3g", 1, NULL, NULL },
	{ "not finite", "nonfinite", "%.0f", 1, NULL, NULL },
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static double
value(const json_t *row, int i)
{
	int nothing = columns[i].second && hu_model_number(row, columns[i].second) == 0;

	return nothing ? NAN : columns[i].factor * hu_model_number(row, columns[i].key);
}

static int
shown(const json_t *policies, int i)
{
	const json_t *row;
	size_t k;

	json_array_foreach((json_t *)(size_t)policies, k, row) if (!isnan(value(row, i))) return 1;
	return 0;
}

static void
row_of(hu_str *b, const json_t *policies, const json_t *row)
{
	const char *word = hu_model_text(row, "verdict");

	hu_str_add(b, "<tr><th scope=\"row\">");
	hu_html_text(b, hu_model_text(row, "policy"));
	hu_str_addf(b, "</th><td class=\"%s\">", passes(row) ? "harmless" : !strcmp(word, "fail") ? "fatal" : "");
	hu_html_text(b, passes(row) ? "keeps it" : !strcmp(word, "fail") ? "breaks it" : "–");
	hu_str_add(b, "</td>");
	for (int i = 0; i < COLUMNS; i++) {
		if (!shown(policies, i))
			continue;
		hu_str_add(b, "<td>");
		hu_model_figure(b, columns[i].format, value(row, i));
		if (columns[i].second && !isnan(value(row, i))) {
			double second = columns[i].factor * hu_model_number(row, columns[i].second);
			hu_model_figure(b, columns[i].format2, second);
		}
		hu_str_add(b, "</td>");
	}
	hu_str_add(b, "</tr>\n");
}

/* Which rules a policy breaks, and by what figure. */
static void
reasons(hu_str *b, const json_t *policies)
{
	const json_t *row, *fail;
	size_t i, k, any = 0;

	json_array_foreach((json_t *)(size_t)policies, i, row)
		json_array_foreach(json_object_get(row, "fails"), k, fail)
	{
		hu_str_add(b, any++ ? "<li>" : "<ul class=\"missing\">\n<li>");
		hu_html_text(b, hu_model_text(row, "policy"));
		hu_str_add(b, " breaks <code>");
		hu_html_text(b, hu_model_text(fail, "rule"));
		hu_str_add(b, "</code>: it is ");
		hu_html_number(b, hu_model_text(fail, "figure"));
		hu_str_add(b, ".</li>\n");
	}
	hu_str_add(b, any ? "</ul>\n" : "");
	json_array_foreach((json_t *)(size_t)policies, i, row) if (*hu_model_text(row, "first_nonfinite"))
	{
		hu_str_add(b, "<p class=\"note\">");
		hu_html_text(b, hu_model_text(row, "policy"));
		hu_str_add(b, ": the first value that is not finite comes from layer ");
		hu_html_text(b, hu_model_text(row, "first_nonfinite"));
		hu_str_add(b, ".</p>\n");
	}
}

void
hu_model_decision(hu_str *b, const json_t *v)
{
	const json_t *policies = json_object_get(v, "policies"), *row;
	size_t i;

	verdict(b, v, policies);
	hu_str_add(b, "<section>\n<h2>What each policy changes</h2>\n<div class=\"scroll\"><table class=\"decision\">\n"
		      "<thead><tr><th>policy</th><th>budget</th>");
	for (int k = 0; k < COLUMNS; k++)
		if (shown(policies, k))
			hu_str_addf(b, "<th>%s</th>", columns[k].heading);
	hu_str_add(b, "</tr></thead>\n<tbody>\n");
	json_array_foreach((json_t *)(size_t)policies, i, row) row_of(b, policies, row);
	hu_str_add(b, "</tbody>\n</table></div>\n");
	reasons(b, policies);
	hu_str_add(b, "<p class=\"note\">All figures are against the outputs in float32.");
	if (*hu_model_text(v, "output")) {
		hu_str_add(b, " A decision is the largest value along the last axis of output ");
		hu_html_text(b, hu_model_text(v, "output"));
		hu_str_add(b, ". A changed decision is open in float32 where its margin there is no larger than "
			      "float32’s own error; the exact network tells that, of the inputs that it was run on.");
	}
	hu_str_add(b, "</p>\n</section>\n");
}

static void
cell(hu_str *b, const char *format, double x)
{
	hu_str_add(b, "<td>");
	hu_model_figure(b, format, x);
	hu_str_add(b, "</td>");
}

/* labelled: the inputs have the right answers beside them. */
static void
proof(hu_str *b, const char *name, const json_t *half, int labelled)
{
	hu_str_addf(b, "<tr><th scope=\"row\">%s</th>", name);
	cell(b, "%.0f", hu_model_number(half, "inputs"));
	cell(b, "%.0f", hu_model_number(half, "flips"));
	cell(b, "%.1f", hu_model_number(half, "sqnr_db"));
	cell(b, "%.3g", hu_model_number(half, "rel_l2"));
	cell(b, "%.3g", hu_model_number(half, "max_error"));
	if (labelled) {
		cell(b, "%.2f", 100 * hu_model_number(half, "accuracy"));
		cell(b, "%.2f", 100 * hu_model_number(half, "float32_accuracy"));
	}
	hu_str_add(b, "</tr>\n");
}

/* The products in order, each with its scheme. */
static void
schemes(hu_str *b, const json_t *nodes)
{
	const json_t *node;
	size_t i;

	hu_str_add(b, "<ol class=\"net\">\n");
	json_array_foreach((json_t *)(size_t)nodes, i, node)
	{
		int kept = !strcmp(hu_model_text(node, "scheme"), "float32");
		hu_str_addf(b, "<li class=\"wide%s\"><b>", kept ? " kept" : "");
		hu_html_text(b, hu_model_text(node, "scheme"));
		hu_str_add(b, "</b> ");
		hu_html_text(b, hu_model_text(node, "node"));
		hu_str_add(b, "</li>\n");
	}
	hu_str_add(b, "</ol>\n");
}

void
hu_model_plan(hu_str *b, const json_t *a)
{
	int found = json_is_true(json_object_get(a, "found"));
	double bytes = hu_model_number(a, "bytes"), all = hu_model_number(a, "float32_bytes");

	hu_str_add(b, "<section class=\"plan\">\n<h2>The plan, and its proof</h2>\n<p>");
	if (!found) {
		hu_str_add(b, "No assignment of the given formats keeps ");
		add_rules(b, json_object_get(a, "accept"));
		hu_str_add(b, ", not even float32 in all products.</p>\n</section>\n");
		return;
	}
	hu_model_figure(b, "The weights take %.4g MB in place of ", bytes / 1e6);
	hu_model_figure(b, "%.4g MB, ", all / 1e6);
	hu_model_figure(b, "%.1f times less, and the outputs keep ", all / bytes);
	add_rules(b, json_object_get(a, "accept"));
	hu_model_figure(b,
		". The search ran %.0f assignments on one half of the inputs; the other half, which it never saw, "
		"is the proof. ",
		hu_model_number(a, "runs"));
	hu_str_add(b, json_is_true(json_object_get(a, "exhaustive"))
			      ? "Every cheaper assignment was tried or breaks the budget.</p>\n"
			      : "Not every assignment was tried: a cheaper one may exist.</p>\n");
	hu_str_add(b,
		"<div class=\"scroll\"><table class=\"proof\">\n<thead><tr><th>inputs</th><th>number</th><th>decisions "
		"changed</th><th>SQNR, dB</th><th>relative L2</th><th>largest error</th>");
	int labelled = json_is_number(json_object_get(json_object_get(a, "searched"), "accuracy"));
	hu_str_add(b, labelled ? "<th>right, %</th><th>right in float32, %</th>" : "");
	hu_str_add(b, "</tr></thead>\n<tbody>\n");
	proof(b, "searched on", json_object_get(a, "searched"), labelled);
	proof(b, "held apart", json_object_get(a, "held_apart"), labelled);
	hu_str_add(b, "</tbody>\n</table></div>\n");
	add_shares(b, json_object_get(json_object_get(a, "held_apart"), "rules"), " held apart");
	hu_str_add(b, "<h3>Each product’s format, in the order of the nodes</h3>\n");
	schemes(b, json_object_get(a, "nodes"));
	hu_str_add(b, "<p class=\"note\">The folder above this page’s has the plan as files: model.onnx computes so, "
		      "policy.json "
		      "is for halfulp validate, and block_list.txt, trtexec.txt and keep.py are for other tools.</p>\n"
		      "</section>\n");
}
