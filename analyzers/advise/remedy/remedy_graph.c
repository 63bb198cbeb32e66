/* SPDX-License-Identifier: Apache-2.0
   Constants and neighbours in a graph that remedies change. */
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

const float *
hu_remedy_constant(const hu_onnx *m, const char *name, const hu_stensor **t)
{
	for (size_t i = 0; i < m->n && *name; i++)
		if (!strcmp(m->tensor[i]->name, name) && !strcmp(m->tensor[i]->dtype, "F32")) {
			*t = m->tensor[i];
			return (const float *)(const void *)(*t)->data;
		}
	return NULL;
}

int
hu_remedy_maker(const hu_onnx *m, const char *value)
{
	for (size_t i = 0; i < m->graph->nnode; i++)
		for (size_t k = 0; k < m->graph->node[i].nout; k++)
			if (!strcmp(m->graph->node[i].out[k], value))
				return (int)i;
	return -1;
}

int
hu_remedy_reader(const hu_onnx *m, const char *value)
{
	int found = -1;

	for (size_t i = 0; i < m->graph->nout; i++)
		if (!strcmp(m->graph->out[i].name, value))
			return -1;
	for (size_t i = 0; i < m->graph->nnode; i++) {
		json_t *reads = json_object();
		hu_onnx_node_reads(reads, &m->graph->node[i]);
		int is = json_object_get(reads, value) != NULL;
		json_decref(reads);
		if (is && found >= 0)
			return -1;
		if (is)
			found = (int)i;
	}
	return found;
}

int
hu_remedy_node(const hu_remedying *r, size_t node)
{
	return hu_onnx_edit_find(r->e, r->m->graph->node[node].name);
}

void
hu_remedy_replace(hu_remedying *r, int node, size_t k, const hu_stensor *t, const float *to)
{
	size_t d[HU_SAFETENSORS_RANK];

	for (int i = 0; i < t->rank; i++)
		d[i] = t->shape[i];
	hu_onnx_edit_read(r->e, node, k,
		hu_onnx_edit_constant(r->e, t->name, HU_ONNX_FLOAT, t->rank, d, to, t->count * sizeof *to));
}

const char *
hu_remedy_number(hu_remedying *r, const char *stem, double x)
{
	float value = (float)x;

	return hu_onnx_edit_constant(r->e, stem, HU_ONNX_FLOAT, 0, NULL, &value, sizeof value);
}
