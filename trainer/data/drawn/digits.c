/* SPDX-License-Identifier: Apache-2.0
   The data set "digits": generated images, so that nothing has to be downloaded. The i-th training image does not
   depend on how many are asked for, nor does the i-th evaluation image; these are numbered from 2^32 on. */
#include "trainer/data/data.h"

#include "lib/base/mem.h"
#include "trainer/data/drawn/digits.h"

#include <string.h>

enum { SIZE = 28, CLASSES = 10, TRAIN = 10000, EVAL = 2000, SMALLEST = 8, LARGEST = 1024 };

static const uint64_t eval_from = (uint64_t)1 << 32;

hu_status
hu_dataset_digits(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t size = o->size ? o->size : SIZE, channels = o->channels ? o->channels : 1,
	       train = o->train ? o->train : TRAIN, eval = o->eval ? o->eval : EVAL;
	hu_data_array *x, *y;

	(void)arg;
	if (size < SMALLEST || size > LARGEST)
		return hu_fail(HU_EINVAL, "data set digits: size %zu; from %d to %d pixels can be drawn", size,
			SMALLEST, LARGEST);
	if (train >= eval_from || eval >= eval_from)
		return hu_fail(HU_EINVAL, "data set digits: fewer than 2^32 images of each kind can be drawn");
	ds->n_train = train;
	ds->n_eval = eval;
	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_PIXELS, hu_shape3(size, size, channels), 0, &x));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), CLASSES, &y));
	if (o->dimensions_only)
		return HU_OK;
	unsigned char *pixels = x->values, *labels = y->values;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < train + eval; i++) {
		unsigned char *image = pixels + i * size * size * channels;
		labels[i] =
			(unsigned char)hu_digits_draw(image, size, o->seed, i < train ? i : eval_from + (i - train));
		for (size_t k = channels > 1 ? size * size : 0;
			k--;) /* from the back, so that values are read before they are overwritten */
			memset(image + k * channels, image[k], channels);
	}
	return HU_OK;
}
