/* SPDX-License-Identifier: Apache-2.0
   Items and the files that they are of: made here, and given back. */
#include "analyzers/drift/contents/contents_source.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

hu_contents_source *
hu_contents_source_add(hu_contents *c)
{
	HU_GROW(c->source, c->sources, c->sourcecap);
	hu_contents_source *s = &c->source[c->sources++];
	memset(s, 0, sizeof *s);
	return s;
}

static const struct {
	const char *name;
	hu_item_kind kind;
	hu_format_id format;
	int bits;
} dtypes[] = {
	{ "F64", HU_ITEM_FLOAT, HU_FP64, 64 },
	{ "F32", HU_ITEM_FLOAT, HU_FP32, 32 },
	{ "F16", HU_ITEM_FLOAT, HU_FP16, 16 },
	{ "BF16", HU_ITEM_FLOAT, HU_BF16, 16 },
	{ "F8_E4M3", HU_ITEM_FLOAT, HU_E4M3, 8 },
	{ "F8_E5M2", HU_ITEM_FLOAT, HU_E5M2, 8 },
	{ "F8_E4M3FNUZ", HU_ITEM_FLOAT, HU_E4M3FNUZ, 8 },
	{ "F8_E5M2FNUZ", HU_ITEM_FLOAT, HU_E5M2FNUZ, 8 },
	{ "F8_E8M0", HU_ITEM_FLOAT, HU_E8M0, 8 },
	{ "F4", HU_ITEM_FLOAT, HU_E2M1, 4 },
	{ "C64", HU_ITEM_FLOAT, HU_FP32, 32 },
	{ "I64", HU_ITEM_INT, HU_NO_FORMAT, 64 },
	{ "I32", HU_ITEM_INT, HU_NO_FORMAT, 32 },
	{ "I16", HU_ITEM_INT, HU_NO_FORMAT, 16 },
	{ "I8", HU_ITEM_INT, HU_NO_FORMAT, 8 },
	{ "U64", HU_ITEM_UINT, HU_NO_FORMAT, 64 },
	{ "U32", HU_ITEM_UINT, HU_NO_FORMAT, 32 },
	{ "U16", HU_ITEM_UINT, HU_NO_FORMAT, 16 },
	{ "U8", HU_ITEM_UINT, HU_NO_FORMAT, 8 },
	{ "BOOL", HU_ITEM_UINT, HU_NO_FORMAT, 8 },
};

void
hu_item_set_dtype(hu_item *t, const char *dtype)
{
	t->dtype = dtype;
	t->kind = HU_ITEM_UINT; /* F6: codes in a packing that is not agreed on, compared as bytes */
	t->format = HU_NO_FORMAT;
	t->bits = 8;
	t->count = t->bytes;
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (!strcmp(dtypes[i].name, dtype)) {
			t->dtype = dtypes[i].name;
			t->kind = dtypes[i].kind;
			t->format = dtypes[i].format;
			t->bits = dtypes[i].bits;
			t->count = t->bytes * 8 / (size_t)t->bits;
		}
}

hu_item *
hu_contents_add(hu_contents *c, char *name)
{
	HU_GROW(c->item, c->n, c->cap);
	c->item[c->n] = (hu_item){ .name = name, .source = c->sources - 1 };
	return &c->item[c->n++];
}

void
hu_contents_npy(hu_item *t, const hu_npy *a)
{
	char name[8];

	snprintf(name, sizeof name, "%c%zu", a->dtype[0] - 'a' + 'A', 8 * a->width);
	t->rank = a->rank;
	memcpy(t->shape, a->shape, sizeof t->shape);
	t->bytes = a->count * a->width;
	hu_item_set_dtype(t, strcmp(a->dtype, "b1") ? name : "BOOL");
}

void
hu_contents_release(hu_contents *c)
{
	for (size_t i = 0; i < c->sources; i++) {
		hu_contents_source *s = &c->source[i];
		hu_safetensors_release(&s->s);
		hu_series_release(&s->f);
		hu_npy_release(&s->npy);
		if (s->is_onnx)
			hu_onnx_release(&s->onnx);
		hu_file_unmap(s->map, s->map_bytes);
		if (s->zip)
			zip_discard(s->zip);
		for (size_t k = 0; k < s->nturned; k++)
			hu_npy_release(&s->turned[k]);
		free(s->turned);
		free(s->path);
	}
	for (size_t i = 0; i < c->n; i++)
		free(c->item[i].name);
	free(c->source);
	free(c->item);
	free(c->path);
	memset(c, 0, sizeof *c);
}
