/* SPDX-License-Identifier: Apache-2.0
   Reads safetensors files, and has the table of dtypes. A header is text from outside, so every number in it is checked
   before it becomes a size or an address. */
#include "lib/store/safetensors.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors and traces are little endian");

static const struct { const char *name; int bits; hu_format_id format;
} dtypes[] = {
#define DTYPE(name, bits, format, stored) { name, bits, format },
#include "lib/store/dtypes.def"
#undef DTYPE
};

static int
dtype_find(const char *name)
{
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (!strcmp(dtypes[i].name, name))
			return (int)i;
	return -1;
}

hu_format_id
hu_safetensors_format(const char *dtype)
{
	int i = dtype_find(dtype);

	return i < 0 ? HU_NO_FORMAT : dtypes[i].format;
}

int
hu_safetensors_bits(const char *dtype)
{
	int i = dtype_find(dtype);

	return i < 0 ? 0 : dtypes[i].bits;
}

int
hu_stensor_measure(hu_stensor *t, const char *dtype)
{
	int row = dtype_find(dtype);
	size_t bits;

	if (row < 0)
		return 0;
	t->dtype = dtypes[row].name;
	t->bits = dtypes[row].bits;
	t->count = 1;
	for (int i = 0; i < t->rank; i++)
		if (__builtin_mul_overflow(t->count, t->shape[i], &t->count))
			return 0;
	if (__builtin_mul_overflow(t->count, (size_t)t->bits, &bits) || bits % 8)
		return 0;
	t->bytes = bits / 8;
	return 1;
}

static hu_status
tensor_fields(const hu_safetensors *s, hu_stensor *t, const json_t *entry)
{
	const json_t *dtype = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape"),
		     *at = json_object_get(entry, "data_offsets");

	if (!json_is_string(dtype) || !json_is_array(shape) || json_array_size(at) != 2)
		return hu_fail(HU_EFILE, "%s: header: tensor '%.200s' needs a dtype, a shape and two data_offsets",
			s->path, t->name);
	if (!hu_safetensors_bits(json_string_value(dtype)))
		return hu_fail(HU_EFILE, "%s: header: tensor '%.200s' has the unknown dtype '%.40s'", s->path, t->name,
			json_string_value(dtype));
	if (json_array_size(shape) > HU_SAFETENSORS_RANK)
		return hu_fail(HU_EFILE, "%s: header: tensor '%.200s' has %zu dimensions; at most %d can be read",
			s->path, t->name, json_array_size(shape), HU_SAFETENSORS_RANK);
	t->rank = (int)json_array_size(shape);
	for (int i = 0; i < t->rank; i++) {
		const json_t *d = json_array_get(shape, (size_t)i);
		if (!json_is_integer(d) || json_integer_value(d) < 0)
			return hu_fail(HU_EFILE, "%s: header: tensor '%.200s': dimension %d is not a size", s->path,
				t->name, i);
		t->shape[i] = (size_t)json_integer_value(d);
	}
	if (!hu_stensor_measure(t, json_string_value(dtype)))
		return hu_fail(HU_EFILE,
			"%s: header: tensor '%.200s': its shape and dtype %s do not make a possible number of bytes",
			s->path, t->name, t->dtype);
	const json_t *b = json_array_get(at, 0), *e = json_array_get(at, 1);
	if (!json_is_integer(b) || !json_is_integer(e) || json_integer_value(b) < 0 ||
		json_integer_value(e) < json_integer_value(b))
		return hu_fail(HU_EFILE, "%s: header: tensor '%.200s': data_offsets are not a range", s->path, t->name);
	size_t range = (size_t)(json_integer_value(e) - json_integer_value(b));
	if (range != t->bytes)
		return hu_fail(HU_EFILE,
			"%s: header: tensor '%.200s': data_offsets span %zu bytes, its shape and dtype %s make %zu",
			s->path, t->name, range, t->dtype, t->bytes);
	t->offset = (size_t)json_integer_value(b);
	return HU_OK;
}

static int
by_offset(const void *a, const void *b)
{
	const hu_stensor *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(const hu_stensor *const *)a)->name, (*(const hu_stensor *const *)b)->name);
}

/* Checks that the ranges tile the data section: no gap, no overlap, nothing after the last. */
static hu_status
place(hu_safetensors *s, const unsigned char *bytes, size_t start, size_t room)
{
	size_t next = 0;

	qsort(s->tensor, s->n, sizeof *s->tensor, by_offset);
	for (size_t i = 0; i < s->n; i++) {
		hu_stensor *t = &s->tensor[i];
		if (t->offset != next)
			return hu_fail(HU_EFILE,
				"%s: tensor '%.200s' starts at byte %zu of the data, where the one before it ends at "
				"%zu",
				s->path, t->name, t->offset, next);
		if (t->bytes > room - next)
			return hu_fail(HU_EFILE,
				"%s: cut short: tensor '%.200s' needs bytes %zu to %zu, the file ends at %zu; copy or "
				"make it again",
				s->path, t->name, start + next, start + next + t->bytes, start + room);
		next += t->bytes;
		t->offset += start;
		t->data = bytes + t->offset;
		size_t align = t->bits > 8 ? (size_t)t->bits / 8 : 1;
		if (t->bytes && (uintptr_t)t->data % align) {
			void *copy = malloc(t->bytes);
			if (!copy)
				return hu_fail(HU_ENOMEM,
					"%s: there is no memory for the %zu bytes of tensor '%.200s'", s->path,
					t->bytes, t->name);
			s->copy[s->copies++] = copy;
			t->data = memcpy(copy, t->data, t->bytes);
		}
	}
	if (next != room)
		return hu_fail(
			HU_EFILE, "%s: %zu bytes at byte %zu belong to no tensor", s->path, room - next, start + next);
	return HU_OK;
}

static hu_status
read_header(hu_safetensors *s, const unsigned char *bytes, size_t n, size_t *start)
{
	json_error_t err;
	uint64_t len;

	if (n < 8)
		return hu_fail(HU_EFILE,
			"%s: cut short: %zu bytes where the header length takes 8; not a safetensors file", s->path, n);
	memcpy(&len, bytes, 8);
	if (len < 2 || len > HU_SAFETENSORS_HEADER)
		return hu_fail(HU_EFILE, "%s: byte 0: a header of %llu bytes is not possible; not a safetensors file",
			s->path, (unsigned long long)len);
	if (len > n - 8)
		return hu_fail(HU_EFILE,
			"%s: cut short: the header ends at byte %llu, the file at %zu; copy or make it again", s->path,
			(unsigned long long)len + 8, n);
	if (bytes[8] != '{')
		return hu_fail(
			HU_EFILE, "%s: byte 8: the header does not begin with '{'; not a safetensors file", s->path);
	s->header = json_loadb((const char *)bytes + 8, (size_t)len, JSON_REJECT_DUPLICATES, &err);
	if (!s->header)
		return hu_fail(HU_EFILE, "%s: byte %zu: header: %s", s->path,
			8 + (err.position > 0 ? (size_t)err.position : 0), err.text);
	*start = 8 + (size_t)len;
	return HU_OK;
}

static hu_status
read_metadata(hu_safetensors *s)
{
	const char *key;
	json_t *value;

	s->metadata = json_object_get(s->header, "__metadata__");
	if (!s->metadata)
		return HU_OK;
	if (!json_is_object(s->metadata))
		return hu_fail(HU_EFILE, "%s: header: __metadata__ is not an object", s->path);
	json_object_foreach(s->metadata, key, value)
		if (!json_is_string(value))
			return hu_fail(HU_EFILE, "%s: header: __metadata__ '%.200s' is not a string", s->path, key);
	return HU_OK;
}

static hu_status
parse(hu_safetensors *s, const unsigned char *bytes, size_t n)
{
	const char *name;
	json_t *entry;
	size_t start;

	HU_TRY(read_header(s, bytes, n, &start));
	HU_TRY(read_metadata(s));
	size_t most = json_object_size(s->header);
	s->tensor = hu_xcalloc(most, sizeof *s->tensor);
	s->copy = hu_xcalloc(most, sizeof *s->copy);
	s->by_name = hu_xcalloc(most, sizeof *s->by_name);
	json_object_foreach(s->header, name, entry) {
		if (!strcmp(name, "__metadata__"))
			continue;
		s->tensor[s->n].name = name;
		HU_TRY(tensor_fields(s, &s->tensor[s->n], entry));
		s->n++;
	}
	HU_TRY(place(s, bytes, start, n - start));
	for (size_t i = 0; i < s->n; i++)
		s->by_name[i] = &s->tensor[i];
	qsort(s->by_name, s->n, sizeof *s->by_name, by_name);
	return HU_OK;
}

hu_status
hu_safetensors_parse(hu_safetensors *s, const char *name, const void *bytes, size_t n)
{
	memset(s, 0, sizeof *s);
	s->path = hu_xstrdup(name);
	hu_status st = parse(s, bytes, n);
	if (st != HU_OK)
		hu_safetensors_release(s);
	return st;
}

hu_status
hu_safetensors_open(hu_safetensors *s, const char *path)
{
	void *map;
	size_t n;

	memset(s, 0, sizeof *s);
	HU_TRY(hu_file_map(path, &map, &n));
	hu_status st = hu_safetensors_parse(s, path, map ? map : "", n);
	if (st != HU_OK) {
		hu_file_unmap(map, n);
		return st;
	}
	s->map = map;
	s->map_bytes = n;
	return HU_OK;
}

void
hu_safetensors_release(hu_safetensors *s)
{
	for (size_t i = 0; i < s->copies; i++)
		free(s->copy[i]);
	free(s->copy);
	free(s->tensor);
	free(s->by_name);
	free(s->path);
	json_decref(s->header);
	hu_file_unmap(s->map, s->map_bytes);
	memset(s, 0, sizeof *s);
}

const hu_stensor *
hu_safetensors_find(const hu_safetensors *s, const char *name)
{
	hu_stensor key = { .name = name };
	const hu_stensor *k = &key;
	const hu_stensor **hit = s->n ? bsearch(&k, s->by_name, s->n, sizeof *s->by_name, by_name) : NULL;

	return hit ? *hit : NULL;
}

const char *
hu_safetensors_metadata(const hu_safetensors *s, const char *key)
{
	return json_string_value(json_object_get(s->metadata, key));
}
