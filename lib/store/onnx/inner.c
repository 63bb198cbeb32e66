/* SPDX-License-Identifier: Apache-2.0
   Bytes that a message is without and a file needs: those of graphs inside attributes, which the reader has taken out
   (graph.c), put back for as long as a message is written, and those of tensors in files of their own. */
#include "lib/store/onnx/parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The attributes of the N nodes: PUT packs the graphs that these held, innermost first; else their bytes are freed.
   *next counts the model's inner graphs, in the reader's order. */
static void
nodes(const hu_onnx *m, Hu__Onnx__Pb__Node **node, size_t n, size_t *next, int put)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < node[i]->n_attribute; k++) {
			Hu__Onnx__Pb__Attribute *a = node[i]->attribute[k];
			for (size_t j = 0; j < a->n_graphs + (a->has_g ? 1 : 0); j++) {
				ProtobufCBinaryData *b = j < a->n_graphs ? &a->graphs[j] : &a->g;
				Hu__Onnx__Pb__Graph *in = m->inner[(*next)++];
				nodes(m, in->node, in->n_node, next, put);
				free(b->data);
				*b = (ProtobufCBinaryData){ 0, NULL };
				if (!put)
					continue;
				b->len = hu__onnx__pb__graph__get_packed_size(in);
				b->data = hu_xmalloc(b->len + 1);
				hu__onnx__pb__graph__pack(in, b->data);
			}
		}
}

void
hu_onnx_inner(const hu_onnx *m, int put)
{
	Hu__Onnx__Pb__Model *pb = m->message;
	size_t next = 0;

	nodes(m, pb->graph->node, pb->graph->n_node, &next, put);
	for (size_t i = 0; i < pb->n_functions; i++)
		nodes(m, pb->functions[i]->node, pb->functions[i]->n_node, &next, put);
	HU_ASSERT(next == m->ninner);
}

size_t
hu_onnx_inner_embed(Hu__Onnx__Pb__Tensor *to, const hu_stensor *t)
{
	if (to->data_location != 1)
		return 0;
	for (size_t k = 0; k < to->n_external_data; k++)
		hu__onnx__pb__string_pair__free_unpacked(to->external_data[k], NULL);
	free(to->external_data);
	to->external_data = NULL;
	to->n_external_data = 0;
	to->has_data_location = 0;
	to->data_location = 0;
	to->has_raw_data = 1;
	to->raw_data.len = t->bytes;
	to->raw_data.data = hu_xmalloc(t->bytes + 1);
	memcpy(to->raw_data.data, t->data, t->bytes);
	return t->bytes;
}
