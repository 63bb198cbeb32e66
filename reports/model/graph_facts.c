/* SPDX-License-Identifier: Apache-2.0
   All numbers of a node, a row for each policy: they show when the node is chosen in the graph. */
#include "reports/human.h"
#include "reports/model/graph_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <string.h>

static void
cell(hu_str *b, const char *format, double x)
{
	hu_str_add(b, "<td>");
	hu_model_figure(b, format, x);
	hu_str_add(b, "</td>");
}

static void
error_cell(hu_str *b, const json_t *row, const char *key)
{
	hu_str_add(b, "<td>");
	hu_model_error(b, row, key);
	hu_str_add(b, "</td>");
}

static void
add_row(hu_str *b, const hu_graph_paint *p, const json_t *row)
{
	hu_str_add(b, "<tr><th scope=\"row\">");
	hu_html_text(b, p->policy);
	hu_str_add(b, "</th><td class=\"left\">");
	hu_html_text(b, hu_model_text(row, "scheme"));
	hu_str_add(b, "</td>");
	error_cell(b, row, "local_rel_l2");
	error_cell(b, row, "joint_rel_l2");
	error_cell(b, row, "low_rel_l2");
	cell(b, "%.0f", hu_model_number(row, "low_flips"));
	error_cell(b, row, "high_rel_l2");
	cell(b, "%.0f", hu_model_number(row, "high_flips"));
	cell(b, "%.3g", hu_model_number(row, "amax"));
	cell(b, "%.3g", hu_model_share(row, "zeroed"));
	cell(b, "%.3g", hu_model_share(row, "saturated"));
	hu_str_add(b, "</tr>\n");
}

/* The scheme that advise gives the node of this name; "" where it decided nothing there. */
static const char *
planned(const json_t *a, const char *name)
{
	const json_t *nodes = json_object_get(a, "nodes"), *row, *tied;
	size_t i, k;

	json_array_foreach((json_t *)(size_t)nodes, i, row)
	{
		int is = !strcmp(hu_model_text(row, "node"), name);
		json_array_foreach(json_object_get(row, "tied"), k, tied) is |=
			json_is_string(tied) && !strcmp(json_string_value(tied), name);
		if (is)
			return hu_model_text(row, "scheme");
	}
	return "";
}

static void
add_table(hu_str *b, const hu_graph_damage *g, size_t i)
{
	size_t rows = 0;

	for (size_t k = 0; k < g->npaint; k++) {
		if (!g->paint[k].node[i])
			continue;
		if (!rows++)
			hu_str_add(b,
				"<div class=\"scroll\"><table class=\"of-node\">\n<thead><tr><th>policy</th><th "
				"class=\"left\">scheme</th><th>own error</th><th>arriving error</th><th>low alone</th>"
				"<th>flips</th><th>high alone</th><th>flips</th><th>largest</th><th>zeroed, %</th>"
				"<th>saturated, %</th></tr></thead>\n<tbody>\n");
		add_row(b, &g->paint[k], g->paint[k].node[i]);
	}
	hu_str_add(b, rows ? "</tbody>\n</table></div>\n"
			   : "<p>No policy whose nodes were measured changes what this node computes.</p>\n");
}

void
hu_graph_facts(hu_str *b, const hu_graph_damage *g, const json_t *a)
{
	hu_str_add(b, "<div class=\"chosen\">\n");
	for (size_t i = 0; i < g->n; i++) {
		const json_t *node = json_array_get(g->nodes, i);
		const char *name = hu_model_text(node, "node"), *plan = planned(a, name);
		hu_str_addf(b,
			"<div id=\"node-%zu\" tabindex=\"-1\"><a class=\"close\" href=\"#box-%zu\">close</a><h3>", i,
			i);
		hu_html_text(b, name);
		hu_str_add(b, ", ");
		hu_html_text(b, hu_model_text(node, "operator"));
		hu_str_add(b, "</h3>\n");
		for (size_t k = 0; k < g->npaint; k++)
			if (*g->paint[k].first && !strcmp(g->paint[k].first, hu_model_text(node, "layer"))) {
				hu_str_add(b, "<p>Under ");
				hu_html_text(b, g->paint[k].policy);
				hu_str_add(b, " the first value that is not finite comes from this node.</p>\n");
			}
		if (*plan) {
			hu_str_add(b, "<p>The plan of advise gives this node the scheme <code>");
			hu_html_text(b, plan);
			hu_str_add(b, "</code>.</p>\n");
		}
		add_table(b, g, i);
		hu_str_add(b, "</div>\n");
	}
	hu_str_add(b, "</div>\n");
}
