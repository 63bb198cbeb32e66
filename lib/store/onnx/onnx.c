/* SPDX-License-Identifier: Apache-2.0
   Opening and closing a model, and what is asked of a model or a node as a whole. */
#include "lib/store/onnx/parts.h"

#include "lib/base/file.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Appends the constant tensors of G and of the graphs in it; TO NULL: only counts them. */
static size_t
collect(hu_onnx *m, const hu_onnx_graph *g, const hu_stensor **to, size_t n)
{
	for (size_t i = 0; i < g->ninit; i++, n++)
		if (to)
			to[n] = &g->init[i];
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		const hu_onnx_attr *v = hu_onnx_attr_find(x, "value");
		if (!strcmp(x->op, "Constant") && !*x->domain && x->nout && v && v->t) {
			if (to) {
				hu_stensor *t = hu_onnx_own(m, 1, sizeof *t);
				*t = *v->t;
				t->name = x->out[0];
				to[n] = t;
			}
			n++;
		}
		for (size_t k = 0; k < x->nattr; k++)
			for (size_t j = 0; j < x->attr[k].ngraphs; j++)
				n = collect(m, x->attr[k].graphs[j], to, n);
	}
	return n;
}

static hu_status
opsets(hu_onnx *m, const Hu__Onnx__Pb__Model *pb)
{
	m->opset = hu_onnx_own(m, pb->n_opset_import, sizeof *m->opset);
	for (size_t i = 0; i < pb->n_opset_import; i++) {
		const Hu__Onnx__Pb__OpsetId *o = pb->opset_import[i];
		const char *domain = o->domain && strcmp(o->domain, "ai.onnx") ? o->domain : "";
		if (o->version > 0 && hu_onnx_version(m, domain) == o->version)
			continue; /* skl2onnx writes a domain once for each step of a pipeline */
		if (hu_onnx_version(m, domain))
			return hu_fail(HU_EFILE, "%s: two versions of the operators of domain '%.100s' are imported",
				m->path, domain);
		if (o->version < 1 || o->version > 1000000)
			return hu_fail(HU_EFILE, "%s: %lld is no version of operators", m->path, (long long)o->version);
		m->opset[m->nopset++] = (hu_onnx_opset){ domain, o->version };
	}
	return m->nopset ? HU_OK
			 : hu_fail(HU_EFILE, "%s: cut short, or not an ONNX model: it imports no operators", m->path);
}

static hu_status
parse(hu_onnx *m, const void *bytes, size_t n)
{
	Hu__Onnx__Pb__Model *pb = hu__onnx__pb__model__unpack(&hu_allocators_protobuf, n, bytes);

	m->message = pb;
	if (!pb)
		return hu_fail(HU_EFILE,
			"%s: not an ONNX model, or damaged: its protobuf does not parse; copy or export it again",
			m->path);
	if (!pb->graph)
		return hu_fail(HU_EFILE, "%s: not an ONNX model, or cut short: it holds no graph", m->path);
	m->ir = pb->ir_version;
	HU_TRY(opsets(m, pb));
	HU_TRY(hu_onnx_graph_of(m, &m->graph, pb->graph, 0));
	m->function = hu_onnx_own(m, pb->n_functions, sizeof *m->function);
	for (; m->nfunction < pb->n_functions; m->nfunction++)
		HU_TRY(hu_onnx_function_from(m, &m->function[m->nfunction], pb->functions[m->nfunction]));
	HU_TRY(hu_onnx_order(m, m->graph));
	for (size_t i = 0; i < m->nfunction; i++)
		HU_TRY(hu_onnx_order(m, m->function[i].body));
	m->n = collect(m, m->graph, NULL, 0);
	m->tensor = hu_onnx_own(m, m->n, sizeof *m->tensor);
	collect(m, m->graph, m->tensor, 0);
	return HU_OK;
}

hu_status
hu_onnx_parse(hu_onnx *m, const char *name, const void *bytes, size_t n)
{
	memset(m, 0, sizeof *m);
	m->path = hu_xstrdup(name);
	hu_status st = parse(m, bytes, n);
	if (st != HU_OK)
		hu_onnx_release(m);
	return st;
}

hu_status
hu_onnx_open(hu_onnx *m, const char *path)
{
	void *map;
	size_t n;

	memset(m, 0, sizeof *m);
	HU_TRY(hu_file_map(path, &map, &n));
	hu_status st = hu_onnx_parse(m, path, map ? map : "", n);
	hu_file_unmap(map, n);
	return st;
}

void
hu_onnx_release(hu_onnx *m)
{
	hu_onnx_unmap(m);
	for (size_t i = 0; i < m->ninner; i++)
		hu__onnx__pb__graph__free_unpacked(m->inner[i], &hu_allocators_protobuf);
	if (m->message)
		hu__onnx__pb__model__free_unpacked(m->message, &hu_allocators_protobuf);
	for (size_t i = 0; i < m->nowned; i++)
		free(m->owned[i]);
	free(m->inner);
	free(m->owned);
	free(m->path);
	memset(m, 0, sizeof *m);
}

int
hu_onnx_is(const char *path)
{
	size_t n = strlen(path);

	return n >= 5 && !strcmp(path + n - 5, ".onnx");
}
