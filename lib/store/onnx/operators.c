/* SPDX-License-Identifier: Apache-2.0
   Which of a model's nodes this program has the arithmetic for (operators.def). */
#include "lib/store/onnx/onnx.h"

#include <string.h>

static const struct {
	const char *name;
	int64_t since;
	const char *arithmetic;
} rows[] = {
#define OPERATOR(name, since, arithmetic) { #name, since, arithmetic },
#include "lib/store/onnx/operators.def"
#undef OPERATOR
};

/* Attributes under which an operator is another computation than its row's. */
static int
is_another(const hu_onnx_node *x)
{
	const hu_onnx_attr *axes = hu_onnx_attr_find(x, "kernel_shape");

	if (!strcmp(x->op, "Conv") || !strcmp(x->op, "ConvTranspose"))
		return axes && axes->nints > 2; /* volumes */
	if (!strcmp(x->op, "BatchNormalization") || !strcmp(x->op, "Dropout"))
		return hu_onnx_int(x, "training_mode", 0) != 0;
	return 0;
}

const char *
hu_onnx_arithmetic(const hu_onnx *m, const hu_onnx_node *node)
{
	if (*node->domain)
		return NULL;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, node->op))
			return hu_onnx_version(m, "") >= rows[i].since && !is_another(node) ? rows[i].arithmetic : NULL;
	return NULL;
}
