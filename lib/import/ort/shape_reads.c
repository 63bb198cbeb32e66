/* SPDX-License-Identifier: Apache-2.0
   Which Shape nodes onnxruntime's optimisations let read another value. One that reads a value of float16 keeps a
   kernel of float16 beside it, LayerNormalization's in most transformers. */
#include "lib/import/import.h"

#include <string.h>

/* What the file declares of value NAME, NULL where that is nothing. */
static const hu_onnx_value *
declared(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninfo; i++)
		if (!strcmp(g->info[i].name, name))
			return &g->info[i];
	for (size_t i = 0; i < g->nin; i++)
		if (!strcmp(g->in[i].name, name))
			return &g->in[i];
	return NULL;
}

/* 1 where A and B are declared to be equal. What ONNX's own inference of shapes calls unk__N is no name to
   onnxruntime, which infers shapes itself. */
static int
same_size(const hu_onnx_dim *a, const hu_onnx_dim *b)
{
	return a->n == b->n &&
	       (a->n >= 0 || (*a->param && strncmp(a->param, "unk__", 5) != 0 && !strcmp(a->param, b->param)));
}

static int
has_shape(const hu_onnx_value *a, const hu_onnx_value *b)
{
	if (!b || a->rank < 0 || a->rank != b->rank)
		return 0;
	for (int i = 0; i < a->rank; i++)
		if (!same_size(&a->dim[i], &b->dim[i]))
			return 0;
	return 1;
}

static int
is_fixed(const hu_onnx_value *v)
{
	int known = v->rank >= 0;

	for (int i = 0; known && i < v->rank; i++)
		known &= v->dim[i].n >= 0;
	return known;
}

/* 1 where all inputs of the graph have all their sizes, so that every shape is a constant. */
static int
all_fixed(const hu_onnx_graph *g)
{
	size_t n = 0;

	while (n < g->nin && is_fixed(&g->in[n]))
		n++;
	return g->nin > 0 && n == g->nin;
}

int
hu_shape_reads_other(const hu_onnx_graph *g, const hu_onnx_node *shape)
{
	const char *name = shape->in[0];
	const hu_onnx_value *own = declared(g, name);

	if ((own && is_fixed(own)) || all_fixed(g))
		return 1;
	if (!own)
		return 0;
	for (size_t i = 0; i < g->nin; i++)
		if (strcmp(g->in[i].name, name) && has_shape(own, &g->in[i]))
			return 1;
	for (size_t i = 0; i < g->nnode && strcmp(g->node[i].out[0], shape->out[0]) != 0; i++)
		for (size_t k = 0; k < g->node[i].nout; k++) {
			if (!strcmp(g->node[i].out[k], name))
				return 0;
			if (has_shape(own, declared(g, g->node[i].out[k])))
				return 1;
		}
	return 0;
}
