/* SPDX-License-Identifier: Apache-2.0
   Along which axis the weights of a product are summed, as the node that multiplies with them has it. */
#include "lib/store/onnx/parts.h"

#include <string.h>

/* A run of axes FIRST to LAST of T as K; what lies behind them is the distance between two elements of K. */
static int
along(hu_onnx_axis *a, const hu_stensor *t, int first, int last)
{
	if (first < 0 || last >= t->rank || first > last)
		return 0;
	a->axis = first;
	a->k = a->inner = 1;
	for (int i = first; i <= last; i++)
		a->k *= t->shape[i];
	for (int i = last + 1; i < t->rank; i++)
		a->inner *= t->shape[i];
	return 1;
}

/* OPERAND is the place of T among the node's inputs. */
static int
of_node(hu_onnx_axis *a, const hu_onnx_node *x, size_t operand, const hu_stensor *t)
{
	if (*x->domain)
		return 0;
	if (!strcmp(x->op, "Conv") && operand == 1 && t->rank > 2)
		return along(a, t, 1, t->rank - 1);
	if (!strcmp(x->op, "ConvTranspose") && operand == 1 && t->rank > 2)
		return along(a, t, 0, 0);
	if (!strcmp(x->op, "Gemm") && t->rank == 2 && operand < 2) {
		int transposed = hu_onnx_int(x, operand ? "transB" : "transA", 0) != 0,
		    k = operand ? transposed : !transposed;
		return along(a, t, k, k);
	}
	if (!strcmp(x->op, "MatMul") && operand < 2 && t->rank > 0) {
		int k = operand && t->rank > 1 ? t->rank - 2 : t->rank - 1;
		return along(a, t, k, k);
	}
	return 0;
}

static int
in_graph(hu_onnx_axis *a, const hu_onnx_graph *g, const hu_stensor *t)
{
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		for (size_t k = 0; k < x->nin; k++)
			if (!strcmp(x->in[k], t->name) && of_node(a, x, k, t)) {
				a->node = x;
				return 1;
			}
		for (size_t k = 0; k < x->nattr; k++)
			for (size_t j = 0; j < x->attr[k].ngraphs; j++)
				if (in_graph(a, x->attr[k].graphs[j], t))
					return 1;
	}
	return 0;
}

int
hu_onnx_axis_of(hu_onnx_axis *a, const hu_onnx *m, const hu_stensor *t)
{
	hu_onnx_axis found;

	if (!in_graph(&found, m->graph, t))
		return 0;
	*a = found;
	return 1;
}
