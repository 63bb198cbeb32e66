/* SPDX-License-Identifier: Apache-2.0
   The data set "cifar:DIR": the binary versions of CIFAR-10 (data_batch_1.bin to data_batch_5.bin and test_batch.bin)
   and CIFAR-100 (train.bin and test.bin, of which the 100 fine labels are read), as
   https://www.cs.toronto.edu/~kriz/cifar.html describes them: records of a label, or a coarse and a fine one, and 32 x
   32 pixels of red, then of green, then of blue. */
#include "trainer/data/data.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, PIXELS = SIDE * SIDE, COLOURS = 3, BATCHES = 5, FILES = BATCHES + 1 };

/* One of the two kinds: the bytes before a record's pixels, of which the last is the label. */
typedef struct kind { size_t labels, classes; } kind;

/* The files that are there, read; the last `tests` of them are to evaluate on. */
typedef struct files {
	kind kind;
	int n, tests;
	char *path[FILES], *data[FILES];
	size_t rows[FILES];
} files;

static void
release(files *f)
{
	for (int i = 0; i < f->n; i++) {
		free(f->path[i]);
		free(f->data[i]);
	}
}

static size_t
record(const kind *k)
{
	return k->labels + COLOURS * PIXELS;
}

/* Adds the file DIR/NAME where it is there; returns 1 where it is. */
static int
add(files *f, const char *dir, const char *name)
{
	char *path = hu_path(dir, "%s", name);

	if (!hu_exists(path)) {
		free(path);
		return 0;
	}
	f->path[f->n++] = path;
	return 1;
}

static hu_status
find(files *f, const char *dir)
{
	char name[32];

	f->kind = (kind){ 1, 10 };
	for (int i = 1; i <= BATCHES; i++) {
		snprintf(name, sizeof name, "data_batch_%d.bin", i);
		add(f, dir, name);
	}
	if (f->n) {
		f->tests = add(f, dir, "test_batch.bin");
		return HU_OK;
	}
	f->kind = (kind){ 2, 100 };
	if (!add(f, dir, "train.bin"))
		return hu_fail(HU_EFILE,
			"%s: neither data_batch_1.bin (CIFAR-10) nor train.bin (CIFAR-100) is there; give the folder "
			"that the binary version unpacks to",
			dir);
	f->tests = add(f, dir, "test.bin");
	return HU_OK;
}

/* Reads file i and checks its length and labels. */
static hu_status
take(files *f, int i)
{
	size_t bytes, each = record(&f->kind);

	HU_TRY(hu_file_read(f->path[i], &f->data[i], &bytes));
	f->rows[i] = bytes / each;
	if (!bytes || bytes % each)
		return hu_fail(HU_EFILE, "%s: %zu bytes are no whole number of records of %zu; copy or unpack it again",
			f->path[i], bytes, each);
	for (size_t r = 0; r < f->rows[i]; r++) {
		unsigned label = (unsigned char)f->data[i][r * each + f->kind.labels - 1];
		if (label >= f->kind.classes)
			return hu_fail(HU_EFILE, "%s: record %zu has the label %u, and there are %zu classes",
				f->path[i], r, label, f->kind.classes);
	}
	return HU_OK;
}

static void
copy_record(const kind *k, unsigned char *pixels, unsigned char *label, const char *from)
{
	*label = (unsigned char)from[k->labels - 1];
	from += k->labels;
	for (size_t i = 0; i < PIXELS; i++)
		for (size_t c = 0; c < COLOURS; c++)
			pixels[COLOURS * i + c] = (unsigned char)from[c * PIXELS + i];
}

static hu_status
fill(hu_dataset *ds, const files *f, int n, const hu_dataset_options *o)
{
	hu_data_array *x, *labels;
	size_t at = 0;

	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_PIXELS, hu_shape3(SIDE, SIDE, COLOURS), 0, &x));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), f->kind.classes, &labels));
	for (int i = 0; i < n && !o->dimensions_only; i++)
		for (size_t r = 0; r < f->rows[i]; r++, at++)
			copy_record(&f->kind, (unsigned char *)x->values + at * COLOURS * PIXELS,
				(unsigned char *)labels->values + at, f->data[i] + r * record(&f->kind));
	return HU_OK;
}

static hu_status
load(hu_dataset *ds, files *f, const char *dir, const hu_dataset_options *o)
{
	size_t train = 0;

	HU_TRY(find(f, dir));
	for (int i = 0; i < f->n; i++)
		HU_TRY(take(f, i));
	for (int i = 0; i < f->n - f->tests; i++)
		train += f->rows[i];
	if (!f->tests || o->split) {
		HU_TRY(hu_dataset_split(ds, train, o->split, dir));
		return fill(ds, f, f->n - f->tests, o);
	}
	ds->n_train = train;
	ds->n_eval = f->rows[f->n - 1];
	return fill(ds, f, f->n, o);
}

hu_status
hu_dataset_cifar(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	files f = { .n = 0 };
	hu_status st = load(ds, &f, arg, o);

	release(&f);
	return st;
}
