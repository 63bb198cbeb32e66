/* SPDX-License-Identifier: Apache-2.0
   The version of a network that a tool writes: its file in memory, imported as any file is. */
#include "analyzers/network/network.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The tensor of the port of this name; -1 where there is none. */
static int
tensor_of(const hu_port *port, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(port[i].name, name))
			return port[i].tensor;
	return -1;
}

/* What the floating-point constants and codes of the file take. */
static double
bytes_of(const hu_onnx_graph *g)
{
	double bytes = 0;

	for (size_t i = 0; i < g->ninit; i++)
		if (strcmp(g->init[i].dtype, "I64") && strcmp(g->init[i].dtype, "BOOL"))
			bytes += (double)g->init[i].bytes;
	return bytes;
}

/* Moves the program of M and its constants to V, and frees the rest. FLOAT32 is the model that V is a version of. */
static void
take(hu_version *v, hu_imported *m, const hu_imported *float32, char ***node)
{
	*v = (hu_version){ .p = m->p, .constant = m->constant };
	v->owned = hu_xcalloc((size_t)v->p->nt + 1, 1);
	v->bits = hu_xcalloc((size_t)v->p->nt + 1, sizeof *v->bits);
	memset(v->owned, 1, (size_t)v->p->nt);
	v->map = hu_xmalloc(((size_t)float32->p->nt + 1) * sizeof *v->map);
	for (int i = 0; i < float32->p->nt; i++)
		v->map[i] = -1;
	for (size_t i = 0; i < float32->nin; i++)
		if (float32->in[i].tensor >= 0)
			v->map[float32->in[i].tensor] = tensor_of(m->in, m->nin, float32->in[i].name);
	for (size_t i = 0; i < float32->nout; i++)
		v->map[float32->out[i].tensor] = tensor_of(m->out, m->nout, float32->out[i].name);
	for (int i = 0; i < m->p->nc && !node; i++)
		free(m->node[i]);
	if (node) {
		*node = m->node;
		m->node = NULL;
	}
	m->p = NULL;
	m->constant = NULL;
	hu_imported_release(m);
}

hu_status
hu_network_tool_version(hu_version *v, hu_network *n, const hu_tool *t, char ***node)
{
	size_t kept = n->ngiven, batch = n->batch;
	hu_imported m;
	hu_onnx onnx;

	HU_TRY(hu_samples_given(&n->s, &batch, &n->given, &n->ngiven, &n->givencap));
	char *notes;
	hu_status st = hu_tool_rewrite(&onnx, &notes, t, &n->onnx, &n->m, hu_calibrated_tool(&n->ranges));
	if (st == HU_OK) {
		st = hu_import(&m, &onnx, n->given, n->ngiven, HU_TYPING_STRICT);
		if (st == HU_OK) {
			take(v, &m, &n->m, node);
			v->weight_bytes = bytes_of(onnx.graph);
			v->notes = notes;
			notes = NULL;
		}
		hu_onnx_release(&onnx);
	}
	free(notes);
	n->ngiven = kept;
	return st;
}
