/* SPDX-License-Identifier: Apache-2.0
   What is asked of a model or of a node that stands already, and the memory that a model owns. */
#include "lib/store/onnx/parts.h"

#include "lib/base/mem.h"

#include <string.h>

void *
hu_onnx_own(hu_onnx *m, size_t count, size_t size)
{
	if (!count)
		return NULL;
	HU_GROW(m->owned, m->nowned, m->cap);
	return m->owned[m->nowned++] = hu_xcalloc(count, size);
}

int64_t
hu_onnx_version(const hu_onnx *m, const char *domain)
{
	for (size_t i = 0; i < m->nopset; i++)
		if (!strcmp(m->opset[i].domain, domain))
			return m->opset[i].version;
	return 0;
}

const hu_onnx_function *
hu_onnx_function_of(const hu_onnx *m, const hu_onnx_node *node)
{
	for (size_t i = 0; i < m->nfunction; i++)
		if (!strcmp(m->function[i].name, node->op) && !strcmp(m->function[i].domain, node->domain))
			return &m->function[i];
	return NULL;
}

const hu_onnx_attr *
hu_onnx_attr_find(const hu_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->nattr; i++)
		if (!strcmp(node->attr[i].name, name))
			return &node->attr[i];
	return NULL;
}

int64_t
hu_onnx_int(const hu_onnx_node *node, const char *name, int64_t otherwise)
{
	const hu_onnx_attr *a = hu_onnx_attr_find(node, name);

	return a && a->has_i ? a->i : otherwise;
}

float
hu_onnx_float(const hu_onnx_node *node, const char *name, float otherwise)
{
	const hu_onnx_attr *a = hu_onnx_attr_find(node, name);

	return a && a->has_f ? a->f : otherwise;
}

const char *
hu_onnx_text(const hu_onnx_node *node, const char *name, const char *otherwise)
{
	const hu_onnx_attr *a = hu_onnx_attr_find(node, name);

	return a && a->s ? a->s : otherwise;
}
