/* SPDX-License-Identifier: Apache-2.0
   Any bytes as an ONNX model: refused in one line, or every tensor is readable and every node comes after those that
   make what it reads. */
#include "t/fuzz/fuzz.h"

#include "lib/base/status.h"
#include "lib/store/onnx/onnx.h"

#include <string.h>

static volatile unsigned char sink;

/* Whether a node before number I of G, an input or an initialiser makes NAME. */
static int
made_before(const hu_onnx_graph *g, size_t i, const char *name)
{
	for (size_t k = 0; k < g->nin; k++)
		if (!strcmp(g->in[k].name, name))
			return 1;
	for (size_t k = 0; k < g->ninit; k++)
		if (!strcmp(g->init[k].name, name))
			return 1;
	for (size_t n = 0; n < i; n++)
		for (size_t k = 0; k < g->node[n].nout; k++)
			if (!strcmp(g->node[n].out[k], name))
				return 1;
	return 0;
}

FUZZ_TARGET(onnx)
{
	hu_onnx m;

	if (hu_onnx_parse(&m, "fuzz", data, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	for (size_t i = 0; i < m.n; i++) {
		const hu_stensor *t = m.tensor[i];
		hu_onnx_axis a;
		HU_ASSERT(t->name && t->dtype && t->data);
		for (size_t k = 0; k < t->bytes; k++)
			sink ^= ((const unsigned char *)t->data)[k];
		if (hu_onnx_axis_of(&a, &m, t) && a.k)
			HU_ASSERT(t->count % a.k == 0 && t->count / a.k % a.inner == 0);
	}
	for (size_t i = 0; i < m.graph->nnode; i++)
		for (size_t k = 0; k < m.graph->node[i].nin; k++)
			HU_ASSERT(!*m.graph->node[i].in[k] || made_before(m.graph, i, m.graph->node[i].in[k]));
	hu_onnx_release(&m);
	return 1;
}
