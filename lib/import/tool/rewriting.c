/* SPDX-License-Identifier: Apache-2.0
   A model as a tool that rewrites it sees it: values by name, and which nodes are the tool's. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

int
hu_rewriting_find(const hu_rewriting *x, const char *name)
{
	const json_t *id = *name ? json_object_get(x->ids, name) : NULL;

	return id ? (int)json_integer_value(id) : -1;
}

int
hu_rewriting_id(hu_rewriting *x, const char *name)
{
	int id = hu_rewriting_find(x, name);

	if (id >= 0)
		return id;
	HU_GROW(x->value, x->nvalue, x->cap);
	id = (int)x->nvalue++;
	x->value[id] = (hu_tool_value){ .name = name, .rank = -1 };
	json_object_set_new_nocheck(x->ids, name, json_integer(id));
	return id;
}

int
hu_rewriting_listed(const hu_tool_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return 1;
	return 0;
}

int
hu_rewriting_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = strstr(list, word); s && n; s = strstr(s + 1, word))
		if ((s == list || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return 1;
	return 0;
}

int
hu_rewriting_wants(const hu_rewriting *x, const hu_onnx_node *node, const char *defaults)
{
	const hu_tool *t = x->t;

	if (*node->domain || (t->nodes.n && !hu_rewriting_listed(&t->nodes, node->name)) ||
		hu_rewriting_listed(&t->exclude, node->name))
		return 0;
	return t->op_types.n ? hu_rewriting_listed(&t->op_types, node->op) : hu_rewriting_has(defaults, node->op);
}

const float *
hu_rewriting_floats(const hu_stensor *t)
{
	return t && !strcmp(t->dtype, "F32") ? t->data : NULL;
}

static hu_tool_value *
value_of(hu_rewriting *x, const char *name)
{
	int id = hu_rewriting_id(x, name); /* the list may move */

	return &x->value[id];
}

void
hu_rewriting_list(hu_rewriting *x)
{
	const hu_onnx_graph *g = x->from->graph;

	for (size_t i = 0; i < g->nin; i++)
		value_of(x, g->in[i].name)->is_in = 1;
	for (size_t i = 0; i < g->ninit; i++) {
		hu_tool_value *v = value_of(x, g->init[i].name);
		v->init = &g->init[i];
		v->type = hu_onnx_type_of(v->init->dtype);
		v->rank = v->init->rank;
		memcpy(v->d, v->init->shape, (size_t)v->rank * sizeof *v->d);
	}
	for (size_t i = 0; i < g->nnode; i++) {
		for (size_t k = 0; k < g->node[i].nin; k++)
			if (*g->node[i].in[k])
				value_of(x, g->node[i].in[k])->readers++;
		for (size_t k = 0; k < g->node[i].nout; k++)
			if (*g->node[i].out[k])
				hu_rewriting_id(x, g->node[i].out[k]);
	}
	for (size_t i = 0; i < g->nout; i++)
		value_of(x, g->out[i].name)->is_out = 1;
}

/* Initialisers of FROM that the new graph does not make itself. */
static void
keep(hu_rewriting *x)
{
	json_t *made = json_object();
	const hu_onnx_graph *g = x->w.to->graph;

	for (size_t i = 0; i < g->ninit; i++)
		json_object_set_new_nocheck(made, g->init[i].name, json_true());
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nout; k++)
			json_object_set_new_nocheck(made, g->node[i].out[k], json_true());
	for (size_t i = 0; i < x->from->graph->ninit; i++)
		if (!json_object_get(made, x->from->graph->init[i].name))
			hu_onnx_rewrite_keep(&x->w, &x->from->graph->init[i]);
	json_decref(made);
}

/* Marks what G and the graphs inside its nodes read. */
static void
mark_read(json_t *read, const hu_onnx_graph *g)
{
	for (size_t i = 0; i < g->nnode; i++) {
		for (size_t k = 0; k < g->node[i].nin; k++)
			json_object_set_new_nocheck(read, g->node[i].in[k], json_true());
		for (size_t a = 0; a < g->node[i].nattr; a++)
			for (size_t k = 0; k < g->node[i].attr[a].ngraphs; k++)
				mark_read(read, g->node[i].attr[a].graphs[k]);
	}
	for (size_t i = 0; i < g->nout; i++)
		json_object_set_new_nocheck(read, g->out[i].name, json_true());
}

void
hu_rewriting_clean(hu_rewriting *x)
{
	hu_onnx_graph *g = x->w.to->graph;
	json_t *read = json_object();
	size_t n = 0;

	mark_read(read, g);
	for (size_t i = 0; i < g->nin; i++)
		json_object_set_new_nocheck(read, g->in[i].name, json_true());
	for (size_t i = 0; i < g->ninit; i++)
		if (json_object_get(read, g->init[i].name))
			g->init[n++] = g->init[i];
	g->ninit = n;
	json_decref(read);
}

void
hu_rewriting_close(hu_rewriting *x)
{
	keep(x);
	hu_rewriting_clean(x);
}

void
hu_rewriting_nodes(hu_rewriting *x)
{
	x->n = x->from->graph->nnode;
	x->dropped = hu_xcalloc(x->n + 1, 1);
	x->node = hu_xcalloc(x->n + 1, sizeof *x->node);
	for (size_t i = 0; i < x->n; i++) {
		const hu_onnx_node *from = &x->from->graph->node[i];
		hu_onnx_node *node = &x->node[i];
		*node = *from;
		node->in = hu_onnx_rewrite_room(&x->w, node->nin + 1, sizeof *node->in);
		node->out = hu_onnx_rewrite_room(&x->w, node->nout + 1, sizeof *node->out);
		memcpy(node->in, from->in, node->nin * sizeof *node->in);
		memcpy(node->out, from->out, node->nout * sizeof *node->out);
	}
}

hu_status
hu_rewriting_again(hu_rewriting *x)
{
	hu_rewriting_close(x);
	HU_TRY(hu_onnx_rewrite_end(&x->w));
	x->from = hu_onnx_rewrite_again(&x->w);
	free(x->node);
	free(x->dropped);
	hu_rewriting_nodes(x);
	for (size_t v = 0; v < x->nvalue; v++) {
		x->value[v].readers = 0;
		x->value[v].init = NULL;
	}
	hu_rewriting_list(x);
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nout; k++) {
			int v = hu_rewriting_find(x, x->node[i].out[k]);
			if (v >= 0 && !x->value[v].type)
				x->value[v].type =
					strcmp(x->node[i].op, "QuantizeLinear") ? HU_ONNX_FLOAT : HU_ONNX_INT8;
		}
	return HU_OK;
}
