/* SPDX-License-Identifier: Apache-2.0
   Constants: tensors of the program that hold given values, decoded from the bytes that a model has. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"

#include <string.h>

double *
hu_import_room(hu_importing *c, size_t n)
{
	if (c->st == HU_OK && n <= HU_IMPORT_COMPUTED)
		return hu_xmalloc((n + 1) * sizeof(double));
	hu_import_fail(c, HU_EUNABLE, "%zu computed constants are too many", n);
	return NULL;
}

/* A new tensor of constants, whose data are to be filled in; one that a node makes has no NAME. */
static int
room(hu_importing *c, const char *name, int type, hu_shape s)
{
	hu_format_id f = hu_import_format(c, type);

	if (f == HU_NO_FORMAT && !name)
		return hu_import_fail(c, HU_EUNABLE, "elements of type %s are no numbers", hu_onnx_type_name(type));
	if (f == HU_NO_FORMAT)
		return hu_import_fail(c, HU_EUNABLE, "constant '%.120s' has elements of type %s, which are no numbers",
			name, hu_onnx_type_name(type));
	return hu_import_tensor(c, name, f, s, hu_import_whole(type) ? HU_OTHER : HU_WEIGHT, 1);
}

int
hu_import_numbers(hu_importing *c, int type, int rank, const size_t *d, const double *x)
{
	int t = c->st == HU_OK ? room(c, NULL, type, hu_import_shape(rank, d)) : -1;

	for (size_t i = 0; t >= 0 && i < c->constant[t].n; i++)
		hu_put(&c->constant[t], i, x[i]);
	return t;
}

int
hu_import_number(hu_importing *c, int type, double x)
{
	return hu_import_numbers(c, type, 0, NULL, &x);
}

int
hu_import_matrix(hu_importing *c, int type, size_t rows, size_t columns, const double *x)
{
	int t = hu_import_numbers(c, type, 2, (size_t[]){ rows, columns }, x);

	if (t >= 0) {
		c->p->t[t].cls = HU_OTHER;
		c->p->t[t].state = 0;
	}
	return t;
}

/* Element i of whole numbers of BITS bits, SIGNED or not, packed from the low bits on. */
static double
whole(const unsigned char *p, size_t i, int bits, int is_signed)
{
	uint64_t v = 0;

	if (bits < 8)
		v = (uint64_t)(p[i * (size_t)bits / 8] >> (i * (size_t)bits % 8)) & ((1u << bits) - 1);
	else
		memcpy(&v, p + i * (size_t)bits / 8, (size_t)bits / 8);
	if (!is_signed)
		return (double)v;
	int away = 64 - bits;
	return (double)((int64_t)(v << away) >> away);
}

int
hu_import_stored(hu_importing *c, const char *name, const hu_stensor *t)
{
	int type = hu_onnx_type_of(t->dtype);
	hu_format_id f = hu_safetensors_format(t->dtype); /* as it is stored, which may be narrower than it is held */

	if (t->rank > HU_RANK)
		return hu_import_fail(c, HU_EUNABLE, "constant '%.120s' has %d dimensions; at most %d are possible",
			name, t->rank, HU_RANK);
	int id = room(c, name, type, hu_import_shape(t->rank, t->shape));
	if (id < 0)
		return id;
	hu_tensor *to = &c->constant[id];
	if (type == HU_ONNX_FLOAT16 || type == HU_ONNX_BFLOAT16)
		hu_import_mark_half(c, id);
	if (!hu_import_whole(type)) {
		if (f == HU_FP64)
			memcpy(to->data, t->data, t->bytes);
		else if (t->bits >= 8)
			hu_bulk_unpack(to->data, t->data, t->count, f);
		else
			for (size_t i = 0; i < t->count; i++)
				hu_put(to, i, hu_decode((uint64_t)whole(t->data, i, t->bits, 0), hu_format_of(f)));
		return id;
	}
	for (size_t i = 0; i < t->count; i++)
		hu_put(to, i, whole(t->data, i, t->bits, t->dtype[0] == 'I'));
	return id;
}
