/* SPDX-License-Identifier: Apache-2.0
   The data set "images:DIR": photographs and drawings in a folder for each class (folder.h), decoded and scaled to one
   size when a batch first asks for them. */
#include "trainer/data/data.h"

#include "lib/base/guard/input.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "trainer/data/images/folder.h"
#include "trainer/data/images/image.h"
#include "trainer/data/images/resize.h"
#include "trainer/data/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 64, CHANNELS = 3 };

/* Decodes the file at path, whose first bytes say whether it is a JPEG or a PNG. channels is 3 or 1: a grey image
   becomes three equal colours, a coloured one its luminance (as its own library defines it: JPEG's Y, or Rec. 709 for
   PNG). Transparency is dropped, 16-bit samples are scaled to 8 bits, and the orientation of EXIF is not applied: all
   as Pillow's convert('RGB') does. HU_EFILE names the file and what is wrong: no image, cut short, damaged or too
   large. The caller frees to->pixel. */
static hu_status
decode(hu_image *to, const char *path, size_t channels)
{
	static const unsigned char png[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	unsigned char first[8] = { 0 };
	FILE *f;
	hu_status st;

	memset(to, 0, sizeof *to);
	HU_TRY(hu_input_open(path, &f));
	size_t n = fread(first, 1, sizeof first, f);
	rewind(f);
	if (n >= 3 && first[0] == 0xff && first[1] == 0xd8 && first[2] == 0xff)
		st = hu_jpeg_decode(to, f, path, channels);
	else if (n == sizeof first && !memcmp(first, png, sizeof png))
		st = hu_png_decode(to, f, path, channels);
	else
		st = hu_fail(HU_EFILE, "%s: neither a JPEG nor a PNG image", path);
	fclose(f);
	if (st != HU_OK) {
		free(to->pixel);
		to->pixel = NULL;
	}
	return st;
}

typedef struct images {
	hu_image_folder folder;
	size_t size, channels;
} images;

static hu_status
make(const void *own, size_t row, unsigned char *to)
{
	const images *x = own;
	hu_image image;

	HU_TRY(decode(&image, x->folder.file[row].path, x->channels));
	hu_image_fit(to, &image, x->size);
	free(image.pixel);
	return HU_OK;
}

static void
release(void *own)
{
	images *x = own;

	hu_image_folder_release(&x->folder);
	free(x);
}

static hu_status
fill(hu_dataset *ds, images *x, const hu_dataset_options *o)
{
	hu_dataset_options none = *o;
	hu_data_array *array;
	size_t n = x->folder.n_train + x->folder.n_eval;

	none.dimensions_only = 1; /* the images are made later */
	HU_TRY(hu_dataset_add(ds, &none, "x", HU_ARRAY_PIXELS, hu_shape3(x->size, x->size, x->channels), 0, &array));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_FLOATS, hu_shape0(), x->folder.nclass, &array));
	for (size_t i = 0; i < n && array->values; i++)
		((float *)array->values)[i] = (float)x->folder.file[i].label;
	return HU_OK;
}

hu_status
hu_dataset_images(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	images *x = hu_xcalloc(1, sizeof *x);

	x->size = o->size ? o->size : SIZE;
	x->channels = o->channels ? o->channels : CHANNELS;
	hu_status st = x->channels == 1 || x->channels == 3
			       ? hu_image_folder_list(&x->folder, arg)
			       : hu_fail(HU_EINVAL, "--data channels=%zu: images have 3 channels, or 1 for luminance",
					 x->channels);
	if (st != HU_OK) {
		free(x);
		return st;
	}
	hu_image_folder_limit(&x->folder, o->train, o->eval);
	ds->n_train = x->folder.n_train;
	ds->n_eval = x->folder.n_eval;
	uint64_t digest = 0;
	st = fill(ds, x, o);
	if (st == HU_OK && !o->dimensions_only)
		st = hu_image_folder_digest(&x->folder, arg, &digest);
	ds->made = hu_made_new((hu_maker){ make, release, x, digest }, ds->n_train + ds->n_eval,
		x->size * x->size * x->channels);
	return st;
}
