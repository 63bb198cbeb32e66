/* SPDX-License-Identifier: Apache-2.0
   A model as a tool that rewrites it sees it: values by name, and which nodes are the tool's. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

int
hu_rewriting_find(const hu_rewriting *x, const char *name)
{
	const json_t *id = *name ? json_object_get(x->ids, name) : NULL;

	return id ? (int)json_integer_value(id) : -1;
}

int
hu_rewriting_id(hu_rewriting *x, const char *name)
{
	int id = hu_rewriting_find(x, name);

	if (id >= 0)
		return id;
	HU_GROW(x->value, x->nvalue, x->cap);
	id = (int)x->nvalue++;
	x->value[id] = (hu_tool_value){ .name = name };
	json_object_set_new_nocheck(x->ids, name, json_integer(id));
	return id;
}

int
hu_rewriting_listed(const hu_tool_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return 1;
	return 0;
}

int
hu_rewriting_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = strstr(list, word); s && n; s = strstr(s + 1, word))
		if ((s == list || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return 1;
	return 0;
}

int
hu_rewriting_wants(const hu_rewriting *x, const hu_onnx_node *node, const char *defaults)
{
	const hu_tool *t = x->t;

	if (*node->domain || (t->nodes.n && !hu_rewriting_listed(&t->nodes, node->name)) ||
		hu_rewriting_listed(&t->exclude, node->name))
		return 0;
	return t->op_types.n ? hu_rewriting_listed(&t->op_types, node->op) : hu_rewriting_has(defaults, node->op);
}

const float *
hu_rewriting_floats(const hu_stensor *t)
{
	return t && !strcmp(t->dtype, "F32") ? t->data : NULL;
}
