/* SPDX-License-Identifier: Apache-2.0
   Which Shape nodes onnxruntime's optimisations let read another value. One that reads a value of float16 keeps a
   kernel of float16 beside it, LayerNormalization's in most transformers. */
#include "lib/import/tool/fp16.h"

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

static int
has_shape(const hu_onnx_value *a, const hu_onnx_value *b)
{
	if (!b || a->rank < 0 || a->rank != b->rank)
		return 0;
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i].n != b->dim[i].n ||
			(a->dim[i].n < 0 && (!*a->dim[i].param || strcmp(a->dim[i].param, b->dim[i].param))))
			return 0;
	return 1;
}

int
hu_fp16_reads_other(const hu_rewriting *x, size_t n)
{
	const hu_onnx_graph *g = x->from->graph;
	const char *name = x->node[n].in[0];
	const hu_onnx_value *own = declared(g, name);
	int known = own && own->rank >= 0;

	for (int i = 0; known && i < own->rank; i++)
		known &= own->dim[i].n >= 0;
	if (!own || known)
		return known;
	for (size_t i = 0; i < g->nin; i++)
		if (strcmp(g->in[i].name, name) && has_shape(own, &g->in[i]))
			return 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < x->node[i].nout; k++) {
			if (!strcmp(x->node[i].out[k], name))
				return 0;
			if (has_shape(own, declared(g, x->node[i].out[k])))
				return 1;
		}
	return 0;
}
