/* SPDX-License-Identifier: Apache-2.0
   Which of a model's nodes this program has the arithmetic for (operators.def). */
#include "lib/import/importing.h"

#include <string.h>

typedef struct row {
	const char *domain, *name;
	int64_t since;
	const char *arithmetic;
	hu_node_import *code;
} row;

static const row rows[] = {
#define OPERATOR(name, since, arithmetic, code) { "", #name, since, arithmetic, hu_node_##code },
#define MICROSOFT(name, since, arithmetic, code) { "com.microsoft", #name, since, arithmetic, hu_node_##code },
#include "lib/import/operators.def"
#undef OPERATOR
};

/* Attributes under which an operator is another computation than its row's. */
static int
is_another(const hu_onnx_node *x)
{
	const hu_onnx_attr *axes = hu_onnx_attr_find(x, "kernel_shape");

	return axes && axes->nints > 3; /* windows over more than volumes */
}

static const row *
of_name(const hu_onnx_node *node)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, node->op) && !strcmp(rows[i].domain, node->domain))
			return &rows[i];
	return NULL;
}

static const row *
find(const hu_onnx *m, const hu_onnx_node *node)
{
	const row *r = of_name(node);

	return r && hu_onnx_version(m, r->domain) >= r->since && !is_another(node) ? r : NULL;
}

const char *
hu_onnx_arithmetic(const hu_onnx *m, const hu_onnx_node *node)
{
	const row *r = find(m, node);

	return r ? r->arithmetic : NULL;
}

hu_node_import *
hu_import_of(const hu_onnx *m, const hu_onnx_node *node)
{
	const row *r = find(m, node);

	return r ? r->code : NULL;
}

int64_t
hu_operators_since(const hu_onnx *m, const hu_onnx_node *node)
{
	const row *r = of_name(node);

	return r && hu_onnx_version(m, r->domain) < r->since ? r->since : 0;
}

const char *
hu_operators_arithmetic(const hu_onnx_node *node)
{
	const row *r = of_name(node);

	HU_ASSERT(r);
	return r->arithmetic;
}
