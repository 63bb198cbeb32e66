/* SPDX-License-Identifier: Apache-2.0
   "idx:DIR": the image and label files of the MNIST family, under the names
   they are handed out with. */
#include "trainer/data/data.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/idx.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10 };

/* A pair as found in the folder; NULLs where it is not there. */
typedef struct pair { char *images, *labels; } pair;

/* DIR/SET-WHAT-KIND, or the dot some archives put before KIND; plain before gzip; NULL where there is none. */
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

/* A file without its partner is a mistake to tell of, not a set to pass over. */
static hu_status
whole(const pair *p, const char *dir, const char *set)
{
	if (!p->images == !p->labels)
		return HU_OK;
	return hu_fail(HU_EFILE, "%s: %s is there, %s-%s is not; both are needed", dir,
		p->images ? p->images : p->labels, set, p->images ? "labels-idx1-ubyte" : "images-idx3-ubyte");
}

static hu_status
append(hu_dataset *ds, const pair *p)
{
	hu_idx images, labels;
	size_t have = ds->n_train + ds->n_eval;

	HU_TRY(hu_idx_read_pair(&images, &labels, p->images, p->labels, CLASSES));
	if (!have) {
		ds->height = images.shape[1];
		ds->width = images.shape[2];
		ds->channels = 1;
		ds->classes = CLASSES;
	}
	hu_status st = HU_OK;
	if (images.shape[1] != ds->height || images.shape[2] != ds->width)
		st = hu_fail(HU_EFILE, "%s: images of %zu x %zu where those to train on have %zu x %zu", p->images,
			images.shape[1], images.shape[2], ds->height, ds->width);
	else if (!have) {
		ds->pixels = images.data;
		ds->labels = labels.data;
		ds->n_train = labels.count;
		return HU_OK;
	} else {
		ds->pixels = hu_xrealloc(ds->pixels, have * hu_dataset_pixels(ds) + images.count);
		memcpy(ds->pixels + have * hu_dataset_pixels(ds), images.data, images.count);
		ds->labels = hu_xrealloc(ds->labels, have + labels.count);
		memcpy(ds->labels + have, labels.data, labels.count);
		ds->n_eval = labels.count;
	}
	hu_idx_release(&images);
	hu_idx_release(&labels);
	return st;
}

/* One pair: its first SPLIT images train, nine tenths where nothing was said. */
static hu_status
split(hu_dataset *ds, size_t at, const char *path)
{
	size_t n = ds->n_train;

	if (!at)
		at = n - (n + 9) / 10;
	if (!at || at >= n)
		return hu_fail(
			HU_EINVAL, "split %zu: %s has %zu images, and some must be left to evaluate", at, path, n);
	ds->n_train = at;
	ds->n_eval = n - at;
	return HU_OK;
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
	HU_TRY(append(ds, first));
	if (train->images && test->images && !o->split)
		return append(ds, test);
	return split(ds, o->split, first->images);
}

hu_status
hu_dataset_idx(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	if (!arg || !*arg)
		return hu_fail(HU_EINVAL, "data set idx needs a folder: idx:DIR");
	pair train = find_pair(arg, "train"), test = find_pair(arg, "t10k");
	hu_status st = load(ds, arg, &train, &test, o);
	free(train.images);
	free(train.labels);
	free(test.images);
	free(test.labels);
	return st;
}
