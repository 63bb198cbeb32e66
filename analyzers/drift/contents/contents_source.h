/* SPDX-License-Identifier: Apache-2.0
   The files behind hu_contents, and how its items are made; for this folder alone. */
#ifndef HU_ANALYZERS_CONTENTS_SOURCE_H
#define HU_ANALYZERS_CONTENTS_SOURCE_H

#include "analyzers/drift/contents/contents.h"
#include "lib/store/onnx/onnx.h"

/* One file. Members that belong to another kind of file are empty. */
typedef struct hu_contents_source {
	char *path;
	hu_safetensors s;
	hu_series_file f;
	hu_npy npy; /* an array that had to be turned round */
	void *map;  /* an npy file's bytes */
	size_t map_bytes;
	hu_onnx onnx;
	int is_onnx;
	struct zip *zip;
	hu_npy *turned; /* a zip's arrays that had to be */
	size_t nturned;
} hu_contents_source;

/* Appends an empty source and returns it. Items that are added belong to the last source. */
hu_contents_source *hu_contents_source_add(hu_contents *c);
/* Appends an item and returns it. It owns `name` from then on. */
hu_item *hu_contents_add(hu_contents *c, char *name);
/* Sets t's dtype, kind, format, bits and count from t->bytes and a dtype of safetensors. */
void hu_item_set_dtype(hu_item *t, const char *dtype);
/* Sets t's shape and dtype from an array's header. */
void hu_contents_npy(hu_item *t, const hu_npy *a);
hu_status hu_contents_add_npz(hu_contents *c, const char *path);
hu_status hu_contents_add_onnx(hu_contents *c, const char *path);
#endif
