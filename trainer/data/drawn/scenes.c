/* SPDX-License-Identifier: Apache-2.0
   The data set "scenes": generated coloured objects on textured ground. The i-th image to train on does not depend on
   how many are asked for, nor does the i-th to evaluate on; these are numbered from 2^32 on. Where the model reads the
   array "mask" it is there: 1 where the object is, else 0. */
#include "trainer/data/data.h"

#include "lib/base/mem.h"
#include "trainer/data/input.h"
#include "trainer/data/drawn/scenes.h"

enum { SIZE = 32, CLASSES = 10, TRAIN = 4000, EVAL = 1000, SMALLEST = 8, LARGEST = 1024 };

static const uint64_t eval_from = (uint64_t)1 << 32;

static hu_status
add_arrays(hu_dataset *ds, const hu_dataset_options *o, size_t size, size_t classes, hu_data_array **x,
	hu_data_array **labels, hu_data_array **mask)
{
	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_PIXELS, hu_shape3(size, size, 3), 0, x));
	HU_TRY(hu_dataset_add(ds, o, "labels", classes > 256 ? HU_ARRAY_FLOATS : HU_ARRAY_BYTES, hu_shape0(), classes,
		labels));
	*mask = NULL;
	if (!o->reads || !hu_input_named(o->reads, "mask"))
		return HU_OK;
	return hu_dataset_add(ds, o, "mask", HU_ARRAY_BYTES, hu_shape2(size, size), 2, mask);
}

hu_status
hu_dataset_scenes(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	size_t size = o->size ? o->size : SIZE, classes = o->classes ? o->classes : CLASSES,
	       train = o->train ? o->train : TRAIN, eval = o->eval ? o->eval : EVAL;
	hu_data_array *x, *labels, *mask;

	(void)arg;
	if (size < SMALLEST || size > LARGEST)
		return hu_fail(HU_EINVAL, "data set scenes: size %zu; from %d to %d pixels can be drawn", size,
			SMALLEST, LARGEST);
	if (train >= eval_from || eval >= eval_from)
		return hu_fail(HU_EINVAL, "data set scenes: fewer than 2^32 images of each kind can be drawn");
	ds->n_train = train;
	ds->n_eval = eval;
	HU_TRY(add_arrays(ds, o, size, classes, &x, &labels, &mask));
	if (o->dimensions_only)
		return HU_OK;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < train + eval; i++) {
		int class = hu_scenes_draw((unsigned char *)x->values + i * size * size * 3,
			mask ? (unsigned char *)mask->values + i * size * size : NULL, size, classes, o->seed,
			i < train ? i : eval_from + (i - train));
		if (classes > 256)
			((float *)labels->values)[i] = (float)class;
		else
			((unsigned char *)labels->values)[i] = (unsigned char)class;
	}
	return HU_OK;
}
