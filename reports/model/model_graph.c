/* SPDX-License-Identifier: Apache-2.0
   The graph of a model with the damage of each policy painted on it; the reader chooses which policy. */
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/graph_parts.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const errors[] = { "local_rel_l2", "joint_rel_l2" };
enum { ERRORS = 2, STEPS = 3, DECADES = 4 };

/* The row of the survey that is of the graph's node NAME; NULL where the policy does nothing there. */
static const json_t *
row_of(const json_t *survey, const char *name)
{
	const json_t *nodes = json_object_get(survey, "nodes"), *row;
	size_t i;

	json_array_foreach((json_t *)(size_t)nodes, i, row) if (!strcmp(hu_model_text(row, "node"), name)) return row;
	return NULL;
}

static void
add_paint(hu_graph_damage *g, const json_t *policy)
{
	const json_t *survey = json_object_get(policy, "sensitivity");
	hu_graph_paint *p = &g->paint[g->npaint];

	*p = (hu_graph_paint){ .policy = hu_model_text(policy, "policy"),
		.first = hu_model_text(policy, "first_nonfinite") };
	if (!survey && !*p->first)
		return;
	p->node = hu_xcalloc(g->n + 1, sizeof *p->node);
	for (size_t i = 0; i < g->n; i++)
		p->node[i] = row_of(survey, hu_model_text(json_array_get(g->nodes, i), "node"));
	g->npaint++;
}

/* The least and the largest positive error of all; the least has at most DECADES orders of magnitude below. */
static void
find_ends(hu_graph_damage *g)
{
	g->least = INFINITY;
	g->worst = 0;
	for (size_t k = 0; k < g->npaint; k++)
		for (size_t i = 0; i < g->n; i++)
			for (int e = 0; e < ERRORS; e++) {
				double x = hu_model_number(g->paint[k].node[i], errors[e]);
				if (!(x > 0) || !isfinite(x))
					continue;
				g->least = fmin(g->least, x);
				g->worst = fmax(g->worst, x);
			}
	g->least = fmax(g->least, g->worst * pow(10, -DECADES));
}

/* A switch for each policy, which the style sheet's rules obey without a script: the rules of the K-th come with it. */
static void
add_switches(hu_str *b, const hu_graph_damage *g)
{
	hu_str_add(b, "<style>\n");
	for (size_t k = 0; k < g->npaint; k++)
		hu_str_addf(b,
			"#paint-%zu:checked ~ .graph .p%zu { display: inline; } "
			"#paint-%zu:checked ~ .graph .own { --h: var(--o%zu); } "
			"#paint-%zu:checked ~ .graph .arrived { --h: var(--a%zu); }\n",
			k, k, k, k, k, k);
	hu_str_add(b, "</style>\n");
	for (size_t k = 0; k < g->npaint; k++) {
		hu_str_addf(b,
			"<input type=\"radio\" name=\"paint\" class=\"paint\" id=\"paint-%zu\"%s><label "
			"for=\"paint-%zu\">",
			k, k ? "" : " checked", k);
		hu_html_text(b, g->paint[k].policy);
		hu_str_add(b, "</label>\n");
	}
}

static void
add_legend(hu_str *b, const hu_graph_damage *g)
{
	if (!(g->worst > 0))
		return;
	hu_str_add(b, "<p class=\"note legend\">Relative L2 error of a node’s results: ");
	for (int k = 0; k <= STEPS; k++) {
		double x = g->least * pow(g->worst / g->least, (double)k / STEPS);
		hu_str_addf(b, "<i style=\"--h:%.0f%%\"></i> ", hu_model_heat(x, g->least, g->worst));
		hu_model_figure(b, k ? "%.2g " : "%.2g or less ", x);
	}
	hu_str_add(b, "</p>\n");
}

static hu_status
add_section(hu_str *b, const hu_graph_damage *g, const json_t *a)
{
	hu_str_add(
		b, "<section class=\"whole\" id=\"graph\">\n<h2>The graph, with the damage of each policy</h2>\n<p>");
	if (g->npaint)
		hu_str_add(b,
			"The left part of a box is coloured by the node’s own error, on operands in float32; the right "
			"part by the error that arrives at its results where all nodes are low. A node without colours "
			"is one that the policy leaves alone. Choose a node, by mouse or keyboard, for all its "
			"numbers.");
	else
		hu_str_add(b, "No policy’s nodes were measured, so that no box has a colour: <code>validate "
			      "--sensitivity</code> measures them.");
	hu_str_add(b, "</p>\n");
	add_switches(b, g);
	HU_TRY(hu_graph_draw(b, g));
	add_legend(b, g);
	hu_graph_facts(b, g, a);
	hu_str_add(b, "</section>\n");
	return HU_OK;
}

hu_status
hu_model_graph(hu_str *b, const json_t *v, const json_t *a)
{
	const json_t *policies = json_object_get(v, "policies");
	hu_graph_damage g = { .nodes = json_object_get(v, "graph") };
	hu_status st = HU_OK;

	g.n = json_array_size(g.nodes);
	g.paint = hu_xcalloc(json_array_size(policies) + 1, sizeof *g.paint);
	for (size_t i = 1; i < json_array_size(policies); i++)
		add_paint(&g, json_array_get(policies, i));
	find_ends(&g);
	if (g.n)
		st = add_section(b, &g, a);
	for (size_t k = 0; k < g.npaint; k++)
		free(g.paint[k].node);
	free(g.paint);
	return st;
}
