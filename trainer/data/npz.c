/* SPDX-License-Identifier: Apache-2.0
   The data set "npz:FILE": arrays that numpy.savez wrote. An array feeds the program's input of its name: x [n, ...],
   labels [n], and whatever else a model reads; other arrays of the archive are ignored. An "x" of unsigned bytes is
   divided by 255, as images are; every other number is rounded to float32 once. */
#include "trainer/data/input.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/store/npz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More classes are taken for a mistake in the file. All class numbers are exact in float32. */
enum { MOST_CLASSES = 1 << 20 };

/* Sets the number of classes to the largest class plus one. */
static hu_status
count_classes(const hu_npy *a, const char *path, const char *name, size_t *classes)
{
	double most = 0;

	for (size_t i = 0; i < a->count; i++) {
		double v = hu_npy_real(a, i);
		if (!(v >= 0 && v < MOST_CLASSES && v == floor(v)))
			return hu_fail(HU_EFILE, "%s: %s: element %zu is %g; whole numbers from 0 to %d are needed",
				path, name, i, v, MOST_CLASSES - 1);
		most = v > most ? v : most;
	}
	*classes = (size_t)most + 1;
	return HU_OK;
}

static hu_status
copy(hu_data_array *to, const hu_npy *a, const char *path)
{
	float *values = to->values;

	if (to->kind == HU_ARRAY_PIXELS) {
		memcpy(to->values, a->data, a->count);
		return HU_OK;
	}
	for (size_t i = 0; i < a->count; i++) {
		values[i] = (float)hu_npy_real(a, i);
		if (!isfinite(values[i]))
			return hu_fail(HU_EFILE, "%s: %s: element %zu is %g; finite numbers of float32 are needed",
				path, to->name, i, hu_npy_real(a, i));
	}
	return HU_OK;
}

static hu_status
take(hu_dataset *ds, const hu_dataset_options *o, const char *path, const hu_input *in, const hu_npy *a)
{
	size_t rows = ds->n_train + ds->n_eval, classes = 0;
	hu_shape row = { a->rank - 1, { 1, 1, 1, 1 } };
	int pixels = !strcmp(in->name, "x") && !strcmp(a->dtype, "u1") && !in->classes;
	hu_data_array *to;

	if (!a->rank || a->rank > HU_RANK)
		return hu_fail(HU_EFILE, "%s: %s has %d dimensions; from 1 to %d are needed, the first one its rows",
			path, in->name, a->rank, HU_RANK);
	if (!ds->narray)
		HU_TRY(hu_dataset_split(ds, a->shape[0], o->split, path));
	else if (a->shape[0] != rows)
		return hu_fail(HU_EFILE, "%s: %s has %zu rows where %s has %zu", path, in->name, a->shape[0],
			ds->array[0].name, rows);
	for (int k = 1; k < a->rank; k++)
		row.d[k - 1] = a->shape[k];
	if (!hu_count(row))
		return hu_fail(HU_EFILE, "%s: %s has rows without elements", path, in->name);
	if (in->classes)
		HU_TRY(count_classes(a, path, in->name, &classes));
	HU_TRY(hu_dataset_add(ds, o, in->name, pixels ? HU_ARRAY_PIXELS : HU_ARRAY_FLOATS, row, classes, &to));
	return o->dimensions_only ? HU_OK : copy(to, a, path);
}

hu_status
hu_dataset_npz(hu_dataset *ds, const char *path, const hu_dataset_options *o)
{
	const char *reads = o->reads ? o->reads : "x[n,...] labels[n]:class";
	hu_status st = HU_OK;
	hu_str wanted;
	hu_input in;
	hu_npz z;

	hu_str_init(&wanted);
	for (int i = 0; hu_input_at(reads, i, &in); i++)
		hu_str_addf(&wanted, "%s%s", i ? " " : "", in.name);
	st = hu_npz_read_some(&z, path, wanted.s);
	hu_str_release(&wanted);
	HU_TRY(st);
	for (int i = 0; st == HU_OK && hu_input_at(reads, i, &in); i++) {
		const hu_npy *a = hu_npz_find(&z, in.name);
		st = a ? take(ds, o, path, &in, a) : hu_npz_absent(&z, path, in.name);
	}
	hu_npz_release(&z);
	return st;
}
