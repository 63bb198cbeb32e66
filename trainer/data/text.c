/* SPDX-License-Identifier: Apache-2.0
   The data set "text:FILE": the characters of a text file, cut into samples of equal length, and for each character the
   one after it. A character is a byte; the vocabulary is the bytes that occur, in ascending order. The file's first
   part trains and its end evaluates. */
#include "lib/base/file.h"
#include "trainer/data/data.h"

#include <stdlib.h>

enum { LENGTH = 64 };

/* Numbers the bytes that occur; *classes gets how many there are. */
static hu_status
number(const char *path, const unsigned char *text, size_t n, unsigned char *of, size_t *classes)
{
	unsigned char seen[256] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!text[i])
			return hu_fail(HU_EFILE, "%s: byte %zu is 0, so this is no text", path, i);
		seen[text[i]] = 1;
	}
	*classes = 0;
	for (int b = 0; b < 256; b++)
		if (seen[b])
			of[b] = (unsigned char)(*classes)++;
	return HU_OK;
}

static hu_status
cut(hu_dataset *ds, const char *path, const unsigned char *text, size_t n, const hu_dataset_options *o)
{
	size_t length = o->length ? o->length : LENGTH, classes = 0;
	unsigned char of[256] = { 0 };
	hu_data_array *tokens, *labels;

	HU_TRY(number(path, text, n, of, &classes));
	if (n < 2 * length + 1)
		return hu_fail(HU_EFILE,
			"%s: %zu characters are too few for two samples of %zu; choose a shorter length=", path, n,
			length);
	HU_TRY(hu_dataset_split(ds, (n - 1) / length, o->split, path));
	HU_TRY(hu_dataset_add(ds, o, "tokens", HU_ARRAY_BYTES, hu_shape1(length), classes, &tokens));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape1(length), classes, &labels));
	if (o->dimensions_only)
		return HU_OK;
	unsigned char *t = tokens->values, *l = labels->values;
	for (size_t i = 0; i < (ds->n_train + ds->n_eval) * length; i++) {
		t[i] = of[text[i]];
		l[i] = of[text[i + 1]];
	}
	return HU_OK;
}

hu_status
hu_dataset_text(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	char *text;
	size_t n;

	HU_TRY(hu_file_read(arg, &text, &n));
	hu_status st = cut(ds, arg, (const unsigned char *)text, n, o);
	free(text);
	return st;
}
