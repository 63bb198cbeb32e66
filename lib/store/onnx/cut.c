/* SPDX-License-Identifier: Apache-2.0
   A model cut short: other values of its main graph become its outputs, and nodes that none of them needs are gone. */
#include "lib/store/onnx/parts.h"

#include "lib/base/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Adds to SET every name that graph G reads, also those of its own values, which do no harm. */
static void
graph_reads(json_t *set, const hu_onnx_graph *g)
{
	for (size_t i = 0; i < g->nout; i++)
		json_object_set_new(set, g->out[i].name, json_true());
	for (size_t i = 0; i < g->nnode; i++)
		hu_onnx_node_reads(set, &g->node[i]);
}

void
hu_onnx_node_reads(json_t *set, const hu_onnx_node *x)
{
	for (size_t i = 0; i < x->nin; i++)
		if (*x->in[i])
			json_object_set_new(set, x->in[i], json_true());
	for (size_t k = 0; k < x->nattr; k++)
		for (size_t j = 0; j < x->attr[k].ngraphs; j++)
			graph_reads(set, x->attr[k].graphs[j]);
}

static int
makes(const hu_onnx_node *x, const json_t *set)
{
	for (size_t i = 0; i < x->nout; i++)
		if (json_object_get(set, x->out[i]))
			return 1;
	return 0;
}

/* The value NAME as the graph declares it; one that is not declared has neither type nor shape. */
static hu_onnx_value
declared(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nout; i++)
		if (!strcmp(g->out[i].name, name))
			return g->out[i];
	for (size_t i = 0; i < g->ninfo; i++)
		if (!strcmp(g->info[i].name, name))
			return g->info[i];
	return (hu_onnx_value){ .rank = -1 };
}

/* The graph's own text of NAME; NULL where no node makes it. */
static const char *
made(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nout; k++)
			if (*name && !strcmp(g->node[i].out[k], name))
				return g->node[i].out[k];
	return NULL;
}

hu_status
hu_onnx_cut(hu_onnx *m, const char *const *names, size_t n)
{
	hu_onnx_graph *g = m->graph;
	hu_onnx_value *out = hu_onnx_own(m, n + 1, sizeof *out);
	json_t *set = json_object();
	hu_status st = n ? HU_OK : hu_fail(HU_EINVAL, "%s: no value is named that could be an output", m->path);

	for (size_t i = 0; i < n && st == HU_OK; i++) {
		const char *name = made(g, names[i]);
		if (!name)
			st = hu_fail(
				HU_EINVAL, "%s: no node of the main graph makes a value '%.200s'", m->path, names[i]);
		else if (json_object_get(set, name))
			st = hu_fail(HU_EINVAL, "%s: the value '%.200s' is named twice", m->path, name);
		else
			out[i] = declared(g, name);
		if (st != HU_OK)
			break;
		out[i].name = name;
		json_object_set_new(set, name, json_true());
	}
	if (st == HU_OK) {
		char *keep = hu_xcalloc(g->nnode + 1, 1);
		size_t left = 0;
		for (size_t i = g->nnode; i-- > 0;)
			if ((keep[i] = (char)makes(&g->node[i], set)))
				hu_onnx_node_reads(set, &g->node[i]);
		for (size_t i = 0; i < g->nnode; i++)
			if (keep[i])
				g->node[left++] = g->node[i];
		free(keep);
		g->nnode = left;
		g->out = out;
		g->nout = n;
	}
	json_decref(set);
	return st;
}
