/* SPDX-License-Identifier: Apache-2.0
   Products of codes as ONNX Runtime's CPU computes them on x86 processors without VNNI, where the model is said to run
   on one: of unsigned and signed bytes pairs of terms saturate (lib/op/contract/pairs16.h). Signed bytes on the left
   are 128 more there, as unsigned ones; with unsigned bytes on the right nothing saturates. */
#include "lib/import/importing.h"

#include <stdio.h>
#include <stdlib.h>

static int
is_zero(hu_importing *c, hu_value *v)
{
	double *x = v && hu_import_is_constant(c, v) ? hu_import_constant(c, v) : NULL;
	int zero = x != NULL;

	for (size_t i = 0; x && i < v->n; i++)
		zero &= x[i] == 0;
	free(x);
	return zero || !v;
}

int
hu_import_pairs_with(hu_importing *c, const hu_value *b, hu_value *zb)
{
	return c->m->pairs16 && b && b->type == HU_ONNX_INT8 && is_zero(c, zb);
}

void
hu_import_pairs(hu_importing *c, hu_value *a, hu_value *za, const hu_value *b, hu_value *zb)
{
	c->pairs = 0;
	if (!hu_import_pairs_with(c, b, zb) || !a || (a->type != HU_ONNX_UINT8 && a->type != HU_ONNX_INT8) ||
		(za && za->n != 1))
		return;
	double none = 0;
	size_t one = 1;
	int z = za ? hu_import_flat(c, hu_import_plain(c, za), hu_shape1(1))
		   : hu_import_numbers(c, HU_ONNX_INT64, 1, &one, &none);
	if (z >= 0 && c->p->t[z].format != HU_FP64)
		z = hu_import_call(c, "cast", HU_FP64, &z, 1);
	if (a->type == HU_ONNX_INT8)
		z = hu_import_call2(c, "add", z, hu_import_like(c, z, HU_ONNX_INT64, 128));
	c->pairs = z + 1;
}

int
hu_import_product(hu_importing *c, const char *op, int a, int b)
{
	char name[32];

	if (!c->pairs)
		return hu_import_call2(c, op, a, b);
	if (a < 0 || b < 0)
		return -1;
	snprintf(name, sizeof name, "%s_pairs16", op);
	return hu_import_call(c, name, c->p->t[a].format, (int[]){ a, b, c->pairs - 1 }, 3);
}
