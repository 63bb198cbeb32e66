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

static int
is_finite(const json_t *value)
{
	return isfinite(hu_model_number(value, "own")) && isfinite(hu_model_number(value, "arrived"));
}

/* What another file does to the graph's node of this name, with the keys of a survey's row: of its values that the file
   has, the one that is off most. NULL where the file has none of them. */
static json_t *
row_of_file(const json_t *file, const char *name)
{
	const json_t *values = json_object_get(file, "values"), *value, *worst = NULL;
	size_t i;

	json_array_foreach((json_t *)(size_t)values, i, value)
	{
		if (strcmp(hu_model_text(value, "node"), name) || strcmp(hu_model_text(value, "pair"), "same"))
			continue;
		if (!worst || (is_finite(worst) && !is_finite(value)) ||
			hu_model_number(value, "arrived") > hu_model_number(worst, "arrived"))
			worst = value;
	}
	if (!worst)
		return NULL;
	return json_pack("{s:s, s:O, s:O, s:O, s:O, s:O}", "scheme", "as the file has it", "local_rel_l2",
		json_object_get(worst, "own"), "joint_rel_l2", json_object_get(worst, "arrived"), "zeroed",
		json_object_get(worst, "zeroed"), "saturated", json_object_get(worst, "saturated"), "operands",
		json_object_get(worst, "elements"));
}

/* The layer of the first node, in the order of the graph, of which the file makes what is not finite; "" for none. */
static const char *
first_of_file(const hu_graph_damage *g, const json_t *file)
{
	const json_t *values = json_object_get(file, "values"), *value;
	size_t k;

	for (size_t i = 0; i < g->n; i++)
		json_array_foreach((json_t *)(size_t)values, k, value)
		{
			const json_t *node = json_array_get(g->nodes, i);
			if (!strcmp(hu_model_text(value, "node"), hu_model_text(node, "node")) &&
				hu_model_number(value, "nonfinite") > 0)
				return hu_model_text(node, "layer");
		}
	return "";
}

/* 1 where the policy is the row of one of the files, whose name it has, or the end of that. */
static int
is_file(const json_t *files, const json_t *policy)
{
	const char *name = hu_model_text(policy, "policy"), *path;
	const json_t *file;
	size_t i, n = strlen(name), m;

	json_array_foreach((json_t *)(size_t)files, i, file)
	{
		path = hu_model_text(file, "file");
		m = strlen(path);
		if (m >= n && !strcmp(path + m - n, name))
			return 1;
	}
	return 0;
}

static void
add_file(hu_graph_damage *g, const json_t *file)
{
	hu_graph_paint *p = &g->paint[g->npaint++];

	*p = (hu_graph_paint){ .policy = hu_model_text(file, "file"), .first = first_of_file(g, file) };
	p->node = hu_xcalloc(g->n + 1, sizeof *p->node);
	for (size_t i = 0; i < g->n; i++) {
		json_t *row = row_of_file(file, hu_model_text(json_array_get(g->nodes, i), "node"));
		p->node[i] = row;
		if (row)
			json_array_append_new(g->made, row);
	}
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

/* A switch for each policy, which the style sheet's rules follow without a script: the K-th's rules come with it. */
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
		hu_str_addf(
			b, "<span class=\"key\"><i style=\"--h:%.0f%%\"></i> ", hu_model_heat(x, g->least, g->worst));
		hu_model_figure(b, k ? "%.2g" : "%.2g or less", x);
		hu_str_add(b, "</span> ");
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
			"part by the error that arrives at its results where all nodes are low. The policy leaves a "
			"node "
			"without colours alone. Where the choice is a tool or a file of <code>--against</code>, such a "
			"node’s results have no name in that file. A click on a node, or Enter, shows all its "
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
	const json_t *policies = json_object_get(v, "policies"), *files = json_object_get(v, "against");
	hu_graph_damage g = { .nodes = json_object_get(v, "graph"), .made = json_array() };
	hu_status st = HU_OK;

	g.n = json_array_size(g.nodes);
	g.paint = hu_xcalloc(json_array_size(policies) + json_array_size(files) + 1, sizeof *g.paint);
	for (size_t i = 1; i < json_array_size(policies); i++)
		if (!is_file(files, json_array_get(policies, i)))
			add_paint(&g, json_array_get(policies, i));
	for (size_t i = 0; i < json_array_size(files); i++)
		add_file(&g, json_array_get(files, i));
	find_ends(&g);
	if (g.n)
		st = add_section(b, &g, a);
	for (size_t k = 0; k < g.npaint; k++)
		free(g.paint[k].node);
	free(g.paint);
	json_decref(g.made);
	return st;
}
