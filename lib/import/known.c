/* SPDX-License-Identifier: Apache-2.0
   What is looked at before a model is imported: whether every operator is known, and every size given is asked for. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

/* An operator that is not known: a node that has it, and how many do. */
typedef struct unknown {
	const hu_onnx_node *node;
	size_t n;
} unknown;

int
hu_import_is_known(const hu_onnx *m, const hu_onnx_node *x)
{
	return hu_import_of(m, x) || hu_onnx_function_of(m, x) || (!strcmp(x->op, "If") && !*x->domain);
}

static void
look(const hu_onnx *m, const hu_onnx_graph *g, unknown **u, size_t *n, size_t *cap)
{
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		size_t k = 0;
		int known = hu_import_is_known(m, x);
		for (; !known && k < *n && strcmp((*u)[k].node->op, x->op); k++)
			;
		if (!known && k == *n) {
			HU_GROW(*u, *n, *cap);
			(*u)[(*n)++] = (unknown){ x, 0 };
		}
		if (!known)
			(*u)[k].n++;
		/* Loops run their bodies; which branch of an If runs is not known yet. */
		for (size_t a = 0; known && strcmp(x->op, "If") && a < x->nattr; a++)
			for (size_t j = 0; j < x->attr[a].ngraphs; j++)
				look(m, x->attr[a].graphs[j], u, n, cap);
	}
}

hu_status
hu_import_all_known(const hu_onnx *m)
{
	unknown *u = NULL;
	size_t n = 0, cap = 0;
	hu_str s;

	look(m, m->graph, &u, &n, &cap);
	for (size_t i = 0; i < m->nfunction; i++)
		look(m, m->function[i].body, &u, &n, &cap);
	if (!n)
		return HU_OK;
	hu_str_init(&s);
	int64_t since = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t from = hu_operators_since(m, u[i].node);
		since = from > since ? from : since;
		hu_str_addf(&s, "%s%.60s (%zu node%s, such as '%.60s')", i ? ", " : "", u[i].node->op, u[i].n,
			u[i].n == 1 ? "" : "s", u[i].node->name);
		if (from)
			hu_str_addf(&s, " before version %lld of the operators", (long long)from);
	}
	if (since)
		hu_str_addf(&s, "; export the model with opset_version=%lld or later", (long long)since);
	hu_status st = hu_fail(HU_EUNABLE, "%s: operators that are not known: %s", m->path, s.s);
	hu_str_release(&s);
	free(u);
	return st;
}

hu_status
hu_import_all_asked(const hu_onnx *m, const hu_given *given, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int found = 0;
		for (size_t k = 0; k < m->graph->nin; k++) {
			const hu_onnx_value *v = &m->graph->in[k];
			found |= !strcmp(v->name, given[i].name);
			for (int j = 0; j < v->rank; j++)
				found |= !strcmp(v->dim[j].param, given[i].name);
		}
		if (!found)
			return hu_fail(HU_EINVAL, "%s: no input and no open dimension of an input is called '%s'",
				m->path, given[i].name);
	}
	return HU_OK;
}
