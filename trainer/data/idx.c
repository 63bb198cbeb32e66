/* SPDX-License-Identifier: Apache-2.0
   The data set "idx:DIR": the image and label files of the MNIST family, under the names that they are distributed
   with. */
#include "trainer/data/data.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/idx.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10 };

/* The files of a pair as found in the folder; NULL where one is not there. */
typedef struct pair {
	char *images, *labels;
} pair;

/* Returns the path DIR/SET-WHAT-KIND, or with the dot that some archives put before kind; a plain file is preferred to
   a gzipped one. NULL where there is none. */
static char *
find(const char *dir, const char *set, const char *what, const char *kind)
{
	for (int i = 0; i < 4; i++) {
		char *p = hu_xprintf("%s/%s-%s%c%s%s", dir, set, what, i & 1 ? '.' : '-', kind, i & 2 ? ".gz" : "");
		if (hu_exists(p))
			return p;
		free(p);
	}
	return NULL;
}

static pair
find_pair(const char *dir, const char *set)
{
	pair p = { find(dir, set, "images", "idx3-ubyte"), find(dir, set, "labels", "idx1-ubyte") };

	return p;
}

/* A file without its partner is reported as a mistake, rather than ignored with its set. */
static hu_status
whole(const pair *p, const char *dir, const char *set)
{
	if (!p->images == !p->labels)
		return HU_OK;
	return hu_fail(HU_EFILE, "%s: %s is there, %s-%s is not; both are needed", dir,
		p->images ? p->images : p->labels, set, p->images ? "labels-idx1-ubyte" : "images-idx3-ubyte");
}

/* Joins the images and labels of both pairs, one after the other; the test pair may be absent. */
static hu_status
join(hu_dataset *ds, const hu_dataset_options *o, const hu_idx *images, const hu_idx *labels, int pairs)
{
	hu_data_array *x, *y;

	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_PIXELS, hu_shape3(images->shape[1], images->shape[2], 1), 0, &x));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), CLASSES, &y));
	for (size_t k = 0, at = 0; k < (size_t)pairs && !o->dimensions_only; at += labels[k++].count) {
		memcpy((unsigned char *)x->values + at * hu_array_row_bytes(x), images[k].data, images[k].count);
		memcpy((unsigned char *)y->values + at, labels[k].data, labels[k].count);
	}
	return HU_OK;
}

static hu_status
read_pairs(hu_dataset *ds, const pair *const *pairs, int n, const hu_dataset_options *o)
{
	hu_idx images[2], labels[2];
	hu_status st = HU_OK;
	int read = 0;

	while (read < n && st == HU_OK) {
		st = hu_idx_read_pair(&images[read], &labels[read], pairs[read]->images, pairs[read]->labels, CLASSES);
		read += st == HU_OK;
	}
	const size_t *a = images[0].shape, *b = images[n - 1].shape;
	if (st == HU_OK && (a[1] != b[1] || a[2] != b[2]))
		st = hu_fail(HU_EFILE, "%s: images of %zu x %zu where those to train on have %zu x %zu",
			pairs[n - 1]->images, b[1], b[2], a[1], a[2]);
	if (st == HU_OK && n == 1)
		st = hu_dataset_split(ds, labels[0].count, o->split, pairs[0]->images);
	else if (st == HU_OK) {
		ds->n_train = labels[0].count;
		ds->n_eval = labels[1].count;
	}
	if (st == HU_OK)
		st = join(ds, o, images, labels, n);
	while (read--) {
		hu_idx_release(&images[read]);
		hu_idx_release(&labels[read]);
	}
	return st;
}

static hu_status
load(hu_dataset *ds, const char *dir, const pair *train, const pair *test, const hu_dataset_options *o)
{
	const pair *first = train->images ? train : test;

	HU_TRY(whole(train, dir, "train"));
	HU_TRY(whole(test, dir, "t10k"));
	if (!first->images)
		return hu_fail(HU_EFILE,
			"%s: neither train-images-idx3-ubyte nor t10k-images-idx3-ubyte is there, with .gz or without",
			dir);
	return read_pairs(ds, (const pair *[]){ first, test }, train->images && test->images && !o->split ? 2 : 1, o);
}

hu_status
hu_dataset_idx(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	pair train = find_pair(arg, "train"), test = find_pair(arg, "t10k");
	hu_status st = load(ds, arg, &train, &test, o);
	free(train.images);
	free(train.labels);
	free(test.images);
	free(test.labels);
	return st;
}
