/* SPDX-License-Identifier: Apache-2.0
   The picture of a model's graph as SVG in the page, from the places that layout.h finds. */
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/graph_parts.h"
#include "reports/model/layout.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <stdlib.h>
#include <string.h>

/* Sizes in pixels: of a box, of an input or output of the model, of the margin; letters of a name. */
enum { WIDE = 222, HIGH = 56, PORT_WIDE = 120, PORT_HIGH = 26, MARGIN = 8, OWN = 22, NAME = 26 };

/* A box of the picture beside those of nodes: an input or output of the model. */
typedef struct port {
	const char *name;
	int input;
} port;

/* The picture while it is made: its layout, whose boxes are the nodes and then the ports. */
typedef struct drawing {
	const hu_graph_damage *g;
	hu_layout l;
	double *wide, *high;
	port *port;
	size_t nport, portcap, edgecap;
} drawing;

static void
join(drawing *d, size_t from, size_t to)
{
	HU_GROW(d->l.edge, d->l.nedge, d->edgecap);
	d->l.edge[d->l.nedge++] = (hu_layout_edge){ .from = from, .to = to };
}

/* The box of the input or output NAME, which is made where there is none. */
static size_t
port_of(drawing *d, const char *name, int input)
{
	size_t k = 0;

	while (k < d->nport && (d->port[k].input != input || strcmp(d->port[k].name, name)))
		k++;
	if (k == d->nport) {
		HU_GROW(d->port, d->nport, d->portcap);
		d->port[d->nport++] = (port){ name, input };
	}
	return d->g->n + k;
}

static void
join_ports(drawing *d, size_t i, const char *key, int input)
{
	const json_t *names = json_object_get(json_array_get(d->g->nodes, i), key), *name;
	size_t k;

	json_array_foreach((json_t *)(size_t)names, k, name)
	{
		size_t at = port_of(d, json_string_value(name) ? json_string_value(name) : "", input);
		join(d, input ? at : i, input ? i : at);
	}
}

static void
collect(drawing *d)
{
	const json_t *x;
	size_t k;

	for (size_t i = 0; i < d->g->n; i++) {
		const json_t *node = json_array_get(d->g->nodes, i);
		json_array_foreach(json_object_get(node, "from"), k,
			x) if (json_is_integer(x) && (size_t)json_integer_value(x) < d->g->n)
			join(d, (size_t)json_integer_value(x), i);
		join_ports(d, i, "inputs", 1);
		join_ports(d, i, "outputs", 0);
	}
	d->l.n = d->g->n + d->nport;
	d->l.wide = d->wide = hu_xcalloc(d->l.n + 1, sizeof *d->wide);
	d->l.high = d->high = hu_xcalloc(d->l.n + 1, sizeof *d->high);
	for (size_t i = 0; i < d->l.n; i++) {
		d->wide[i] = i < d->g->n ? WIDE : PORT_WIDE;
		d->high[i] = i < d->g->n ? HIGH : PORT_HIGH;
	}
}

static void
draw_edge(hu_str *b, const hu_layout_edge *e)
{
	hu_str_addf(b, "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"M%.1f %.1fC", e->xy[0], e->xy[1]);
	for (size_t i = 2; i < 2 * e->points; i++)
		hu_str_addf(b, i > 2 ? " %.1f" : "%.1f", e->xy[i]);
	hu_str_add(b, "\"/>\n");
}

static void
draw_text(hu_str *b, const char *kind, double x, double y, const char *text, size_t limit)
{
	char *shown = hu_abbreviate(text, limit);

	hu_str_addf(b, "<text%s x=\"%.1f\" y=\"%.1f\">", kind, x, y);
	hu_html_text(b, shown);
	hu_str_add(b, "</text>");
	free(shown);
}

static void
draw_port(hu_str *b, const drawing *d, size_t k)
{
	double x = d->l.x[d->g->n + k], y = d->l.y[d->g->n + k];

	hu_str_addf(b, "<g class=\"port\"><title>%s ", d->port[k].input ? "input" : "output");
	hu_html_text(b, d->port[k].name);
	hu_str_addf(b, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"13\"/>",
		x - PORT_WIDE / 2.0, y - PORT_HIGH / 2.0, PORT_WIDE, PORT_HIGH);
	draw_text(b, "", x, y + 4, d->port[k].name, 16);
	hu_str_add(b, "</g>\n");
}

/* How much colour of each policy the node's parts have, as variables that the switches choose from. */
static void
add_colours(hu_str *b, const hu_graph_damage *g, size_t i)
{
	for (size_t k = 0; k < g->npaint; k++) {
		const json_t *row = g->paint[k].node[i];
		if (row)
			hu_str_addf(b, "--o%zu:%.0f%%;--a%zu:%.0f%%;", k,
				hu_model_heat(hu_model_number(row, "local_rel_l2"), g->least, g->worst), k,
				hu_model_heat(hu_model_number(row, "joint_rel_l2"), g->least, g->worst));
	}
}

/* The node's errors under each policy, and whether what is not finite begins there. */
static void
draw_errors(hu_str *b, const drawing *d, size_t i, double left, double top)
{
	const char *layer = hu_model_text(json_array_get(d->g->nodes, i), "layer");

	for (size_t k = 0; k < d->g->npaint; k++) {
		const hu_graph_paint *p = &d->g->paint[k];
		hu_str_addf(b, "<g class=\"p p%zu\">", k);
		if (*p->first && !strcmp(p->first, layer))
			hu_str_addf(b,
				"<rect class=\"first\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\"/>"
				"<text class=\"first\" x=\"%.1f\" y=\"%.1f\">first not finite</text>",
				left - 3, top - 3, WIDE + 6, HIGH + 6, left + WIDE - 6, top + 16);
		if (p->node[i]) {
			hu_str_addf(b, "<text class=\"error\" x=\"%.1f\" y=\"%.1f\">own ", left + OWN + 6, top + 49);
			hu_model_error(b, p->node[i], "local_rel_l2");
			hu_str_add(b, ", arrives ");
			hu_model_error(b, p->node[i], "joint_rel_l2");
			hu_str_add(b, "</text>");
		}
		hu_str_add(b, "</g>");
	}
}

static void
draw_node(hu_str *b, const drawing *d, size_t i)
{
	const json_t *node = json_array_get(d->g->nodes, i);
	double left = d->l.x[i] - WIDE / 2.0, top = d->l.y[i] - HIGH / 2.0;

	hu_str_addf(b, "<a class=\"node\" href=\"#node-%zu\" id=\"box-%zu\" style=\"", i, i);
	add_colours(b, d->g, i);
	hu_str_add(b, "\"><title>");
	hu_html_text(b, hu_model_text(node, "node"));
	hu_str_add(b, ", ");
	hu_html_text(b, hu_model_text(node, "operator"));
	hu_str_addf(b,
		"</title><rect class=\"arrived\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"5\"/>"
		"<rect class=\"own\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>",
		left, top, WIDE, HIGH, left, top, OWN, HIGH);
	draw_text(b, " class=\"op\"", left + OWN + 6, top + 17, hu_model_text(node, "operator"), 18);
	draw_text(b, "", left + OWN + 6, top + 33, hu_model_text(node, "node"), NAME);
	draw_errors(b, d, i, left, top);
	hu_str_add(b, "</a>\n");
}

hu_status
hu_graph_draw(hu_str *b, const hu_graph_damage *g)
{
	drawing d = { .g = g };
	hu_status st;

	collect(&d);
	st = hu_layout_make(&d.l);
	if (st == HU_OK) {
		double wide = d.l.width + 2 * MARGIN, high = d.l.height + 2 * MARGIN;
		hu_str_addf(b,
			"<div class=\"graph\"><svg width=\"%.0f\" height=\"%.0f\" viewBox=\"%d %d %.0f %.0f\" "
			"role=\"group\" aria-label=\"the model’s graph\">\n<defs><marker id=\"tip\" viewBox=\"0 0 10 "
			"10\" "
			"refX=\"0\" refY=\"5\" markerWidth=\"10\" markerHeight=\"10\" markerUnits=\"userSpaceOnUse\" "
			"orient=\"auto\"><path d=\"M0 1.5L10 5L0 8.5z\"/></marker></defs>\n",
			wide, high, -MARGIN, -MARGIN, wide, high);
		for (size_t e = 0; e < d.l.nedge; e++)
			draw_edge(b, &d.l.edge[e]);
		for (size_t k = 0; k < d.nport; k++)
			draw_port(b, &d, k);
		for (size_t i = 0; i < g->n; i++)
			draw_node(b, &d, i);
		hu_str_add(b, "</svg></div>\n");
		if (d.l.why)
			hu_str_addf(b, "<p class=\"note\">%s, so the nodes stand in plain layers.</p>\n", d.l.why);
	}
	hu_layout_release(&d.l);
	free(d.wide);
	free(d.high);
	free(d.port);
	return st;
}
