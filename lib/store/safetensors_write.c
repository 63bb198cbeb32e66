/* SPDX-License-Identifier: Apache-2.0
   Writes safetensors files: it borrows the tensors until commit, then writes the header and the data. */
#include "lib/store/safetensors.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void
hu_safetensors_begin(hu_safetensors_writer *w)
{
	memset(w, 0, sizeof *w);
	w->names = json_object();
	w->metadata = json_object();
	HU_ASSERT(w->names && w->metadata);
}

hu_status
hu_safetensors_add(
	hu_safetensors_writer *w, const char *name, const char *dtype, int rank, const size_t *shape, const void *data)
{
	hu_stensor t = { .rank = rank, .data = data };

	if (!hu_safetensors_bits(dtype))
		return hu_fail(HU_EINVAL, "tensor '%.200s': safetensors has no dtype '%.40s'", name, dtype);
	if (rank < 0 || rank > HU_SAFETENSORS_RANK)
		return hu_fail(HU_EINVAL, "tensor '%.200s' has %d dimensions; at most %d can be written", name, rank,
			HU_SAFETENSORS_RANK);
	for (int i = 0; i < rank; i++)
		t.shape[i] = shape[i];
	if (!hu_stensor_measure(&t, dtype) || t.bytes > (size_t)INT64_MAX - hu_safetensors_bytes(w))
		return hu_fail(HU_EINVAL,
			"tensor '%.200s' is too large, or its size is not a whole number of bytes", name);
	if (!strcmp(name, "__metadata__") || json_object_get(w->names, name))
		return hu_fail(HU_EINVAL, "tensor '%.200s': the name is taken", name);
	if (json_object_set_new(w->names, name, json_null()))
		return hu_fail(HU_EINVAL, "tensor %zu: its name is not UTF-8", w->n);
	t.name = hu_xstrdup(name);
	HU_GROW(w->tensor, w->n, w->cap);
	w->tensor[w->n++] = t;
	return HU_OK;
}

hu_status
hu_safetensors_set(hu_safetensors_writer *w, const char *key, const char *value)
{
	if (json_object_set_new(w->metadata, key, json_string(value)))
		return hu_fail(HU_EINVAL, "metadata %zu: key or value is not UTF-8", json_object_size(w->metadata));
	return HU_OK;
}

size_t
hu_safetensors_bytes(const hu_safetensors_writer *w)
{
	size_t sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += w->tensor[i].bytes;
	return sum;
}

/* During writing, offset holds the order of adding until it gets the position in the file. */
static int
by_width(const void *a, const void *b)
{
	const hu_stensor *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits > y->bits ? -1 : 1;
	return x->offset < y->offset ? -1 : 1;
}

static char *
header_text(hu_safetensors_writer *w)
{
	json_t *h = json_object();
	size_t at = 0;

	if (json_object_size(w->metadata))
		json_object_set(h, "__metadata__", w->metadata);
	for (size_t i = 0; i < w->n; i++)
		w->tensor[i].offset = i;
	if (w->n)
		qsort(w->tensor, w->n, sizeof *w->tensor, by_width);
	for (size_t i = 0; i < w->n; i++) {
		hu_stensor *t = &w->tensor[i];
		json_t *shape = json_array();
		for (int d = 0; d < t->rank; d++)
			json_array_append_new(shape, json_integer((json_int_t)t->shape[d]));
		json_t *e = json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->dtype, "shape", shape, "data_offsets",
			(json_int_t)at, (json_int_t)(at + t->bytes));
		int bad = json_object_set_new(h, t->name, e);
		HU_ASSERT(!bad);
		at += t->bytes;
	}
	char *text = json_dumps(h, JSON_COMPACT);
	json_decref(h);
	HU_ASSERT(text);
	return text;
}

static hu_status
write_all(hu_safetensors_writer *w, const char *path)
{
	hu_outfile o;
	char *text = header_text(w);
	size_t len = strlen(text), pad = (8 - len % 8) % 8;
	uint64_t field = len + pad;
	int ok;

	if (field > HU_SAFETENSORS_HEADER) {
		free(text);
		return hu_fail(HU_EINVAL, "%s: %zu tensors need a header of %llu bytes; at most %d can be read again",
			path, w->n, (unsigned long long)field, HU_SAFETENSORS_HEADER);
	}
	hu_status st = hu_outfile_open(&o, path);
	if (st != HU_OK) {
		free(text);
		return st;
	}
	ok = fwrite(&field, 8, 1, o.f) == 1 && fwrite(text, 1, len, o.f) == len &&
	     fwrite("       ", 1, pad, o.f) == pad;
	/* After a failed write the rest is skipped; commit reports the stream's error. */
	for (size_t i = 0; ok && i < w->n; i++)
		ok = fwrite(w->tensor[i].data, 1, w->tensor[i].bytes, o.f) == w->tensor[i].bytes;
	free(text);
	return hu_outfile_commit(&o);
}

hu_status
hu_safetensors_commit(hu_safetensors_writer *w, const char *path)
{
	hu_status st = write_all(w, path);

	hu_safetensors_abandon(w);
	return st;
}

void
hu_safetensors_abandon(hu_safetensors_writer *w)
{
	for (size_t i = 0; i < w->n; i++)
		free((char *)(uintptr_t)w->tensor[i].name);
	free(w->tensor);
	json_decref(w->names);
	json_decref(w->metadata);
	memset(w, 0, sizeof *w);
}
