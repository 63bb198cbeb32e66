/* SPDX-License-Identifier: Apache-2.0
   Attributes of the node at hand, and lists that are attributes or inputs. */
#include "lib/import/importing.h"

#include <stdlib.h>

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

int
hu_import_list(hu_importing *c, const char *name, size_t i, double *list, int most)
{
	const hu_onnx_attr *a = name ? hu_import_attr(c, name) : NULL;
	hu_value *v = a ? NULL : hu_import_in(c, i);
	size_t n = a ? a->nints : v ? v->n : 0;

	if (!a && !v)
		return -1;
	if (n > (size_t)most)
		return hu_import_fail(c, HU_EUNABLE, "its list %s has %zu entries; at most %d are possible",
			name ? name : v->name, n, most);
	if (a) {
		for (size_t k = 0; k < n; k++)
			list[k] = (double)a->ints[k];
		return (int)n;
	}
	double *x = hu_import_constant(c, v);
	for (size_t k = 0; x && k < n; k++)
		list[k] = x[k];
	free(x);
	return x ? (int)n : -1;
}
