/* SPDX-License-Identifier: Apache-2.0
   A constant tensor: its shape, type and bytes, wherever the file has them. */
#include "lib/store/onnx/parts.h"

#include "lib/base/show.h"

#include <string.h>

enum field { FLOAT, INT32, INT64, DOUBLE, UINT64, STRING };

static const struct row {
	const char *name, *dtype;
	int number, bits;
	enum field field;
	int entries;
} rows[] = {
#define TYPE(number, name, dtype, bits, field, entries) { #name, dtype, number, bits, field, entries },
#include "lib/store/onnx/types.def"
#undef TYPE
};

static const struct row *
find(int number)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

const char *
hu_onnx_type_name(int type)
{
	const struct row *r = find(type);

	return r ? r->name : "?";
}

int
hu_onnx_type_of(const char *dtype)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].dtype, dtype))
			return rows[i].number;
	return 0;
}

/* The shape and size of T, whose name stands already; elements below a byte fill the last one up. */
static hu_status
measure(const hu_onnx *m, hu_stensor *t, const Hu__Onnx__Pb__Tensor *pb, const struct row *r)
{
	size_t bits;

	if (pb->n_dims > HU_SAFETENSORS_RANK)
		return hu_fail(HU_EFILE, "%s: tensor '%.200s' has %zu dimensions; at most %d can be read", m->path,
			t->name, pb->n_dims, HU_SAFETENSORS_RANK);
	t->rank = (int)pb->n_dims;
	t->count = 1;
	for (int i = 0; i < t->rank; i++) {
		t->shape[i] = (size_t)pb->dims[i];
		if (pb->dims[i] < 0 || __builtin_mul_overflow(t->count, t->shape[i], &t->count))
			return hu_fail(HU_EFILE,
				"%s: tensor '%.200s': dimension %d, %lld, makes no possible number of elements",
				m->path, t->name, i, (long long)pb->dims[i]);
	}
	t->dtype = r->dtype;
	t->bits = r->bits;
	if (__builtin_mul_overflow(t->count, (size_t)r->bits, &bits) || bits > SIZE_MAX - 7)
		return hu_fail(HU_EFILE, "%s: tensor '%.200s': %zu elements of %s are more than memory can be", m->path,
			t->name, t->count, r->name);
	t->bytes = (bits + 7) / 8;
	return HU_OK;
}

/* Entries of the typed field R->field; *DATA their array. */
static size_t
entries(const Hu__Onnx__Pb__Tensor *pb, const struct row *r, const void **data)
{
	switch (r->field) {
	case FLOAT: *data = pb->float_data; return pb->n_float_data;
	case INT32: *data = pb->int32_data; return pb->n_int32_data;
	case INT64: *data = pb->int64_data; return pb->n_int64_data;
	case DOUBLE: *data = pb->double_data; return pb->n_double_data;
	case UINT64: *data = pb->uint64_data; return pb->n_uint64_data;
	case STRING: *data = pb->string_data; return pb->n_string_data;
	}
	return 0;
}

/* N entries of which each holds WIDTH bits, the low ones, without gaps into BYTES, which are 0. */
static hu_status
narrow(const hu_onnx *m, const hu_stensor *t, const struct row *r, const void *data, size_t n, int width,
	unsigned char *bytes)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v = r->field == INT32 ? ((const int32_t *)data)[i] : (int64_t)((const uint64_t *)data)[i];
		uint64_t low = (uint64_t)v & (((uint64_t)1 << width) - 1);
		if (v >> width && v >> (width - 1) != -1)
			return hu_fail(HU_EFILE, "%s: tensor '%.200s': entry %zu, %lld, has more than %d bits", m->path,
				t->name, i, (long long)v, width);
		for (size_t at = i * (size_t)width, left = (size_t)width; left;) {
			size_t take = 8 - at % 8 < left ? 8 - at % 8 : left;
			bytes[at / 8] |= (unsigned char)((low & ((1u << take) - 1)) << at % 8);
			low >>= take;
			at += take;
			left -= take;
		}
	}
	return HU_OK;
}

/* The elements as the typed field has them: its own array where that is the elements' bytes. */
static hu_status
typed(hu_onnx *m, hu_stensor *t, const Hu__Onnx__Pb__Tensor *pb, const struct row *r)
{
	const void *data = NULL;
	size_t n = entries(pb, r, &data), each = r->entries > 0 ? (size_t)r->entries : 1, need = t->count / each;
	int width = r->bits * (int)each;

	need += t->count % each != 0;
	if (r->entries < 0 && __builtin_mul_overflow(t->count, (size_t)-r->entries, &need))
		need = SIZE_MAX;
	if (n != need)
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' has %zu entries and its shape and type %s need %zu; copy or export it "
			"again",
			m->path, t->name, n, r->name, need);
	if (r->field == STRING || !n)
		return HU_OK;
	t->data = data;
	if (r->field == FLOAT || r->field == DOUBLE || r->field == INT64 || width == (r->field == INT32 ? 32 : 64))
		return HU_OK;
	/* The last entry of 4-bit elements may hold more than they fill. */
	unsigned char *bytes = hu_onnx_own(m, (n * (size_t)width + 7) / 8, 1);
	t->data = bytes;
	return narrow(m, t, r, data, n, width, bytes);
}

hu_status
hu_onnx_tensor(hu_onnx *m, hu_stensor *t, const Hu__Onnx__Pb__Tensor *pb, const char *name, const char *where)
{
	const struct row *r = find(pb->data_type);

	*t = (hu_stensor){ .name = name, .data = "" };
	if (!r)
		return hu_fail(HU_EFILE, "%s: tensor '%.200s'%.300s has the unknown element type %d", m->path, name,
			where, pb->data_type);
	HU_TRY(measure(m, t, pb, r));
	if (pb->data_location == 1 && r->field != STRING)
		return hu_onnx_external(m, pb, name, t->bytes, &t->data);
	if (!pb->has_raw_data)
		return typed(m, t, pb, r);
	if (r->field == STRING)
		return hu_fail(
			HU_EFILE, "%s: tensor '%.200s' holds texts as raw bytes, which they cannot be", m->path, name);
	if (pb->raw_data.len != t->bytes)
		return hu_fail(HU_EFILE,
			"%s: tensor '%.200s' has %zu bytes and its shape and type %s need %zu; copy or export it again",
			m->path, name, pb->raw_data.len, r->name, t->bytes);
	t->data = t->bytes ? pb->raw_data.data : (const void *)"";
	return HU_OK;
}
