/* SPDX-License-Identifier: Apache-2.0
   What the two files of a model's graph share: its nodes, and of each scheme what it does to them. */
#ifndef HU_REPORTS_GRAPH_PARTS_H
#define HU_REPORTS_GRAPH_PARTS_H

#include "lib/base/status.h"
#include "lib/base/str.h"

#include <jansson.h>

/* A policy whose nodes were measured, or that made something that is not finite: its name, that of the layer where this
   began ("" where nowhere), and what it does to each node of the graph (NULL: nothing was measured of it). */
typedef struct hu_graph_paint {
	const char *policy, *first;
	const json_t **node;
} hu_graph_paint;

/* nodes: the graph of the JSON object; made: what the page composed of it; least and worst: the ends of the colours, of
 * all errors of all policies. */
typedef struct hu_graph_damage {
	const json_t *nodes;
	json_t *made;
	size_t n, npaint;
	hu_graph_paint *paint;
	double least, worst;
} hu_graph_damage;

/* Appends a table for each node with all numbers of all policies, which shows when the node is chosen; a: the object of
   advise, or NULL. */
void hu_graph_facts(hu_str *b, const hu_graph_damage *g, const json_t *a);
/* Appends the graph as SVG: boxes with their colours, operators, names and errors, and the edges between them. */
hu_status hu_graph_draw(hu_str *b, const hu_graph_damage *g);
#endif
