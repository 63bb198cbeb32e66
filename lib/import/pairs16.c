/* SPDX-License-Identifier: Apache-2.0
   Products of codes as ONNX Runtime's CPU computes them on x86 processors without VNNI, where the model is said to run
   on one: of unsigned bytes on the left and signed ones on the right pairs of terms saturate
   (lib/op/contract/pairs16.h); all other products of bytes add up in 32 bits. */
#include "lib/import/importing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one number that constant V has in all its elements, 0 where there is no V; NAN where it is no such constant. */
static double
zero_point(hu_importing *c, hu_value *v)
{
	double *x = v && hu_import_is_constant(c, v) ? hu_import_constant(c, v) : NULL, z = x && v->n ? x[0] : NAN;

	for (size_t i = 1; x && i < v->n; i++)
		z = x[i] == z ? z : NAN;
	free(x);
	return v ? z : 0;
}

int
hu_import_pairs_with(hu_importing *c, const hu_value *b, hu_value *zb)
{
	return c->m->pairs16 && b && b->type == HU_ONNX_INT8 && zero_point(c, zb) == 0;
}

void
hu_import_pairs(hu_importing *c, hu_value *a, hu_value *za, const hu_value *b, hu_value *zb)
{
	double none = 0, zero = c->m->pairs16 ? zero_point(c, zb) : NAN;
	size_t one = 1;

	c->pairs = 0;
	if (isnan(zero) || !a || !b || a->type != HU_ONNX_UINT8 || b->type != HU_ONNX_INT8 || (za && za->n != 1))
		return;
	int z = za ? hu_import_flat(c, hu_import_plain(c, za), hu_shape1(1))
		   : hu_import_numbers(c, HU_ONNX_INT64, 1, &one, &none);
	if (z >= 0 && c->p->t[z].format != HU_FP64)
		z = hu_import_call(c, "cast", HU_FP64, &z, 1);
	c->pairs = z + 1;
	c->pairs_zero = zero;
}

/* The kernel's right operand are the codes themselves. What their zero point adds is subtracted behind the sums. */
static int
with_zero_point(hu_importing *c, const char *op, const char *pairs, int a, int b)
{
	hu_attr attr[HU_MAX_ATTR];
	int nattr = c->nattr;

	memcpy(attr, c->attr, sizeof attr);
	c->nattr = 0;
	int zero = hu_import_like(c, b, HU_ONNX_INT64, c->pairs_zero), codes = hu_import_call2(c, "add", b, zero);
	memcpy(c->attr, attr, sizeof attr);
	c->nattr = nattr;
	int y = hu_import_call(c, pairs, c->p->t[a].format, (int[]){ a, codes, c->pairs - 1 }, 3);
	memcpy(c->attr, attr, sizeof attr);
	c->nattr = nattr;
	return hu_import_call2(c, "sub", y, hu_import_call2(c, op, a, zero));
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
	if (c->pairs_zero != 0)
		return with_zero_point(c, op, name, a, b);
	return hu_import_call(c, name, c->p->t[a].format, (int[]){ a, b, c->pairs - 1 }, 3);
}
