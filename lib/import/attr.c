/* SPDX-License-Identifier: Apache-2.0
   Attributes of the node at hand. */
#include "lib/import/importing.h"

const hu_onnx_attr *
hu_import_attr(hu_importing *c, const char *name)
{
	const hu_onnx_attr *a = hu_onnx_attr_find(c->node, name);

	if (a && *a->ref)
		return c->scope->caller ? hu_onnx_attr_find(c->scope->caller, a->ref) : NULL;
	return a;
}

int64_t
hu_import_int(hu_importing *c, const char *name, int64_t otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	return a && a->has_i ? a->i : otherwise;
}

double
hu_import_real(hu_importing *c, const char *name, double otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	return a && a->has_f ? a->f : otherwise;
}

const char *
hu_import_text(hu_importing *c, const char *name, const char *otherwise)
{
	const hu_onnx_attr *a = hu_import_attr(c, name);

	return a && a->s ? a->s : otherwise;
}
