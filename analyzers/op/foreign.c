/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/foreign.h"

#include "lib/base/guard/input.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/number/code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAFETENSORS = 1, NPY, NPZ, ONNX };

/* Returns the format of a dtype as NumPy writes it, or as safetensors and ONNX do. */
static hu_format_id
format_of(const char *dtype)
{
	return !strcmp(dtype, "f8")   ? HU_FP64
	       : !strcmp(dtype, "f4") ? HU_FP32
	       : !strcmp(dtype, "f2") ? HU_FP16
				      : hu_safetensors_format(dtype);
}

static hu_array
array(const char *name, const char *dtype, size_t n, int rank, const size_t *shape, const void *data)
{
	hu_array a = { .name = name,
		.dtype = dtype,
		.n = n,
		.last = rank ? shape[rank - 1] : 1,
		.inner = 1,
		.axis = -1,
		.data = data,
		.format = format_of(dtype),
		.shape = "scalar",
		.rank = rank };
	size_t at = 0;

	for (int i = 0; i < rank && i < HU_SAFETENSORS_RANK; i++)
		a.dims[i] = shape[i];

	for (int i = 0; i < rank && at < sizeof a.shape; i++)
		at += (size_t)snprintf(a.shape + at, sizeof a.shape - at, i ? "x%zu" : "%zu", shape[i]);
	return a;
}

static hu_status
open_safetensors(hu_foreign *s, const char *path)
{
	HU_TRY(hu_safetensors_open(&s->s, path));
	s->kind = SAFETENSORS;
	const char *made = hu_safetensors_metadata(&s->s, "halfulp");
	s->activations = made && !strcmp(made, "trace");
	s->n = s->s.n;
	s->array = hu_xcalloc(s->n + 1, sizeof *s->array);
	for (size_t i = 0; i < s->n; i++) {
		const hu_stensor *t = &s->s.tensor[i];
		s->array[i] = array(t->name, t->dtype, t->count, t->rank, t->shape, t->data);
		const char *map = s->s.map, *data = t->data;
		s->array[i].mapped = map && data >= map && data < map + s->s.map_bytes;
	}
	return HU_OK;
}

/* A model's tensors, with the axis along which their products are summed. */
static hu_status
open_onnx(hu_foreign *s, const char *path)
{
	hu_onnx_axis a;

	HU_TRY(hu_onnx_open(&s->m, path));
	s->kind = ONNX;
	s->n = s->m.n;
	s->array = hu_xcalloc(s->n + 1, sizeof *s->array);
	for (size_t i = 0; i < s->n; i++) {
		const hu_stensor *t = s->m.tensor[i];
		s->array[i] = array(t->name, t->dtype, t->count, t->rank, t->shape, t->data);
		if (!hu_onnx_axis_of(&a, &s->m, t))
			continue;
		s->array[i].axis = a.axis;
		s->array[i].last = a.k;
		s->array[i].inner = a.inner;
	}
	return HU_OK;
}

static hu_status
open_npy(hu_foreign *s, const char *path)
{
	HU_TRY(hu_npy_read(&s->a, path));
	s->kind = NPY;
	s->n = 1;
	s->array = hu_xcalloc(2, sizeof *s->array);
	s->array[0] = array("array", s->a.dtype, s->a.count, s->a.rank, s->a.shape, s->a.data);
	return HU_OK;
}

static hu_status
open_npz(hu_foreign *s, const char *path)
{
	HU_TRY(hu_npz_read(&s->z, path));
	s->kind = NPZ;
	s->n = s->z.n;
	s->array = hu_xcalloc(s->n + 1, sizeof *s->array);
	for (size_t i = 0; i < s->n; i++) {
		const hu_npy *a = &s->z.array[i];
		s->array[i] = array(s->z.name[i], a->dtype, a->count, a->rank, a->shape, a->data);
	}
	return HU_OK;
}

static hu_status
open_file(hu_foreign *s, const char *path)
{
	char head[6] = "";
	FILE *f;

	memset(s, 0, sizeof *s);
	HU_TRY(hu_input_open(path, &f));
	size_t got = fread(head, 1, sizeof head, f);
	fclose(f);
	if (hu_onnx_is(path))
		return open_onnx(s, path);
	if (hu_npz_is(path))
		return open_npz(s, path);
	return got == sizeof head && !memcmp(head, "\x93NUMPY", 6) ? open_npy(s, path) : open_safetensors(s, path);
}

hu_status
hu_foreign_open(hu_foreign *s, const char *path)
{
	HU_TRY(open_file(s, path));
	s->shown = hu_xcalloc(s->n + 1, sizeof *s->shown);
	for (size_t i = 0; i < s->n; i++)
		s->array[i].name = s->shown[i] = hu_xstrdup(hu_shown(s->array[i].name));
	return HU_OK;
}

void
hu_foreign_release(hu_foreign *s)
{
	for (size_t i = 0; s->shown && i < s->n; i++)
		free(s->shown[i]);
	free(s->shown);
	if (s->kind == SAFETENSORS)
		hu_safetensors_release(&s->s);
	if (s->kind == NPY)
		hu_npy_release(&s->a);
	if (s->kind == NPZ)
		hu_npz_release(&s->z);
	if (s->kind == ONNX)
		hu_onnx_release(&s->m);
	free(s->array);
	memset(s, 0, sizeof *s);
}

/* Returns the bits of element i, which may continue in the next byte where it has 6 bits. */
static uint64_t
packed(const unsigned char *data, size_t i, int bits)
{
	size_t at = i / 8 * (size_t)bits + i % 8 * (size_t)bits / 8;
	int shift = (int)(i % 8 * (size_t)bits % 8);
	unsigned pair = data[at];

	if (shift + bits > 8)
		pair |= (unsigned)data[at + 1] << 8;
	return pair >> shift & ((1u << bits) - 1);
}

double
hu_array_get(const hu_array *a, size_t i)
{
	hu_format f = hu_format_of(a->format);
	uint64_t code = 0;

	if (f.bits < 8)
		code = packed(a->data, i, f.bits);
	else
		memcpy(&code, (const char *)a->data + i * (size_t)(f.bits / 8), (size_t)(f.bits / 8));
	return hu_decode(code, f);
}

int
hu_array_set_axis(hu_array *a, int axis)
{
	int at = axis < 0 ? axis + a->rank : axis;

	if (at < 0 || at >= a->rank)
		return 0;
	a->axis = at;
	a->last = a->dims[at];
	a->inner = 1;
	for (int i = at + 1; i < a->rank; i++)
		a->inner *= a->dims[i];
	return 1;
}

void
hu_array_drop(const hu_array *a, size_t from, size_t to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), base = (uintptr_t)a->data;
	uintptr_t first = (base + from) / page * page, end = (base + to) / page * page;

	if (a->mapped && end > first)
		madvise((void *)first, end - first, MADV_DONTNEED);
}
