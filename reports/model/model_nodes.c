/* SPDX-License-Identifier: Apache-2.0
   What an engineer reads: the network as its nodes in order, coloured by damage, and a table of the worst. */
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <stdlib.h>

/* Rows of the table; damage of 10^-DECADES of the worst and less has no colour; the worst has MOST percent of the
   colour, which leaves its text readable; entries of the legend after the first. */
enum { WORST = 12, DECADES = 4, MOST = 75, STEPS = 3 };

static int
by_position(const void *x, const void *y)
{
	double a = hu_model_number(*(json_t *const *)x, "position"),
	       b = hu_model_number(*(json_t *const *)y, "position");

	return (a > b) - (a < b);
}

/* The outputs' relative error with this node alone low; infinite where an output is then not finite, which is null. */
static double
damage_of(const json_t *node)
{
	double x = hu_model_number(node, "low_rel_l2");

	return isnan(x) ? INFINITY : x;
}

static int
by_damage(const void *x, const void *y)
{
	double a = damage_of(*(json_t *const *)x), b = damage_of(*(json_t *const *)y);

	return a > b ? -1 : a < b ? 1 : by_position(x, y);
}

double
hu_model_heat(double damage, double least, double worst)
{
	if (!isfinite(damage))
		return MOST;
	if (!(damage > least))
		return 0;
	return MOST * log(damage / least) / log(worst / least);
}

/* The least damage that has no colour: the least there is, or 10^-DECADES of the worst. */
static double
least_of(json_t *const *node, size_t n, double worst)
{
	double least = worst;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, damage_of(node[i]));
	return fmax(least, worst * pow(10, -DECADES));
}

static void
network(hu_str *b, json_t *const *node, size_t n, double worst)
{
	double least = least_of(node, n, worst);

	hu_str_add(b, "<ol class=\"net\">\n");
	for (size_t i = 0; i < n; i++) {
		double low = damage_of(node[i]);
		hu_str_addf(b, "<li style=\"--h:%.0f%%\" title=\"", hu_model_heat(low, least, worst));
		hu_html_text(b, hu_model_text(node[i], "node"));
		hu_str_add(b, ": ");
		hu_model_figure(b, "%.3g", low);
		hu_str_add(b, "\">");
		hu_html_text(b, hu_model_text(node[i], "operator"));
		hu_str_add(b, "</li>\n");
	}
	hu_str_add(b,
		"</ol>\n<p class=\"note legend\">The relative L2 error of the outputs where this node alone is low: ");
	for (int k = 0; k <= STEPS; k++) {
		double x = least * pow(worst / least, (double)k / STEPS);
		hu_str_addf(b, "<span class=\"key\"><i style=\"--h:%.0f%%\"></i> ", hu_model_heat(x, least, worst));
		hu_model_figure(b, k ? "%.2g" : "%.2g or less", x);
		hu_str_add(b, "</span> ");
	}
	hu_str_add(b, "</p>\n");
}

static void
cell(hu_str *b, const char *format, double x)
{
	hu_str_add(b, "<td>");
	hu_model_figure(b, format, x);
	hu_str_add(b, "</td>");
}

static void
table(hu_str *b, json_t *const *node, size_t n)
{
	hu_str_add(b, "<div class=\"scroll\"><table class=\"worst\">\n<thead><tr><th>node</th><th "
		      "class=\"left\">operator</th>"
		      "<th>low alone</th><th>flips</th><th>high alone</th><th>flips</th><th>its own error</th>"
		      "<th>amplified</th><th>largest</th><th>99.9 % are below</th><th>zeroed, %</th><th>saturated, "
		      "%</th></tr></thead>\n"
		      "<tbody>\n");
	for (size_t i = 0; i < n && i < WORST; i++) {
		hu_str_add(b, "<tr><th scope=\"row\">");
		hu_html_text(b, hu_model_text(node[i], "node"));
		hu_str_add(b, "</th><td class=\"left\">");
		hu_html_text(b, hu_model_text(node[i], "operator"));
		hu_str_add(b, "</td>");
		cell(b, "%.3g", damage_of(node[i]));
		cell(b, "%.0f", hu_model_number(node[i], "low_flips"));
		cell(b, "%.3g", hu_model_number(node[i], "high_rel_l2"));
		cell(b, "%.0f", hu_model_number(node[i], "high_flips"));
		cell(b, "%.3g", hu_model_number(node[i], "local_rel_l2"));
		cell(b, "%.3g", hu_model_number(node[i], "amplification"));
		cell(b, "%.3g", hu_model_number(node[i], "amax"));
		cell(b, "%.3g", hu_model_number(node[i], "p99_9"));
		cell(b, "%.3g", hu_model_share(node[i], "zeroed"));
		cell(b, "%.3g", hu_model_share(node[i], "saturated"));
		hu_str_add(b, "</tr>\n");
	}
	hu_str_add(b, "</tbody>\n</table></div>\n");
}

/* What the columns of the tables are, told once. */
static void
explain(hu_str *b)
{
	hu_str_add(b,
		"<p class=\"note\">Low alone is the relative L2 error of the outputs where the policy is at work in "
		"this node and in no other, high alone where it is at work in all others, each with the decisions that "
		"change. The node’s own error is its result’s, on float32 operands; amplified is how many times as "
		"large it arrives at the outputs. The largest magnitude of its results, and what 99.9 % of them are "
		"below, are float32’s. Zeroed and saturated are shares of its operands.</p>\n");
}

static void
policy(hu_str *b, const json_t *s, int first)
{
	const json_t *nodes = json_object_get(s, "nodes");
	size_t n = json_array_size(nodes);
	json_t **node = hu_xcalloc(n + 1, sizeof *node);

	for (size_t i = 0; i < n; i++)
		node[i] = json_array_get(nodes, i);
	qsort(node, n, sizeof *node, by_damage);
	double most = damage_of(node[0]), worst = 0;
	for (size_t i = 0; i < n; i++)
		worst = isinf(damage_of(node[i])) ? worst : fmax(worst, damage_of(node[i]));
	hu_str_add(b, "<section class=\"nodes\">\n<h2>Where the damage of ");
	hu_html_text(b, hu_model_text(s, "policy"));
	hu_str_add(b, " comes from</h2>\n<p>The node that does most is ");
	hu_html_text(b, hu_model_text(node[0], "node"));
	hu_model_figure(b, ": alone it makes %.3g of the outputs’ norm, ", most);
	hu_model_figure(b, "all nodes together %.3g; ", hu_model_number(s, "joint_rel_l2"));
	hu_model_figure(
		b, "were the nodes’ errors independent, it would be %.3g.", hu_model_number(s, "additive_rel_l2"));
	hu_str_add(b, "</p>\n");
	qsort(node, n, sizeof *node, by_position);
	network(b, node, n, worst);
	hu_model_depth(b, node, n);
	hu_model_outliers(b, node, n);
	qsort(node, n, sizeof *node, by_damage);
	hu_str_add(b, "<h3>The nodes that do most</h3>\n");
	table(b, node, n);
	if (first)
		explain(b);
	hu_str_add(b, "</section>\n");
	free(node);
}

/* Nodes without what the pictures need would make them lie. */
static int
whole(const json_t *s)
{
	const json_t *nodes = json_object_get(s, "nodes"), *node;
	size_t i;

	json_array_foreach(
		(json_t *)(size_t)nodes, i, node) if (!json_is_number(json_object_get(node, "position"))) return 0;
	return json_array_size(nodes) > 0;
}

void
hu_model_nodes(hu_str *b, const json_t *v)
{
	const json_t *policies = json_object_get(v, "policies"), *row;
	size_t i, listed = 0;

	json_array_foreach((json_t *)(size_t)policies, i, row)
	{
		const json_t *s = json_object_get(row, "sensitivity");
		if (s && whole(s)) {
			policy(b, s, !listed);
			listed++;
		}
	}
	if (!listed)
		hu_str_add(b,
			"<section>\n<h2>Where the damage comes from</h2>\n<p class=\"missing\">Nobody looked: validate "
			"with <code>--sensitivity</code> runs each node low alone and high alone.</p>\n</section>\n");
}
