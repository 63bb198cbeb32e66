/* SPDX-License-Identifier: Apache-2.0
   Labelled images to train and evaluate on, whole in memory as bytes. A data
   set is one file here and one row of datasets.def. No shuffling: which images
   make a batch is the training loop's decision. */
#ifndef HU_TRAINER_DATA_H
#define HU_TRAINER_DATA_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hu_dataset {
	size_t n_train, n_eval;     /* images 0 … n_train-1 are to train on, the n_eval after them to evaluate */
	size_t height, width, channels;
	size_t classes;             /* labels are below it */
	unsigned char *pixels;      /* n_train + n_eval images, each height × width × channels */
	unsigned char *labels;
	char *name;                 /* as it was asked for: "digits", "idx:DIR" */
} hu_dataset;

/* What a data set may be asked for; 0 means its default. Each set uses the fields its row names. */
typedef struct hu_dataset_options {
	size_t size;                /* digits: height and width in pixels */
	size_t channels;            /* digits: colour channels, all alike */
	size_t train, eval;         /* digits: how many of each */
	size_t split;               /* idx: the first this many train, the rest evaluate */
	uint64_t seed;              /* digits: 0 is a seed like any other */
} hu_dataset_options;

/* Opens NAME, "SET" or "SET:ARGUMENT". HU_EINVAL where the name or an option is
   wrong, HU_EFILE where a file is; then *DS needs no release. */
hu_status hu_dataset_open(hu_dataset *ds, const char *name, const hu_dataset_options *o);
void hu_dataset_release(hu_dataset *ds);

/* N images by number into X, n × height × width × channels, each byte b as
   (float)b / 255.0f, and their labels as floats. A number from n_train + n_eval
   on is a bug of the caller and aborts. The same number may come twice. */
void hu_dataset_batch(const hu_dataset *ds, const size_t *index, size_t n, float *x, float *labels);

/* Bytes of one image. */
size_t hu_dataset_pixels(const hu_dataset *ds);

/* 64 bits over sizes, split, images and labels; the same on every machine. */
uint64_t hu_dataset_digest(const hu_dataset *ds);

/* Rows of datasets.def, for lists and --help: NULL after the last. */
const char *hu_dataset_name(size_t i);
const char *hu_dataset_summary(size_t i);
const char *hu_dataset_reads(size_t i);   /* options, a blank between two */

/* One function a row. ARG: what followed the colon; NULL where there was none.
   It fills a zeroed *DS but for the name; after a failure the caller releases it. */
#define DATASET(id, reads, summary)                                                                                    \
	hu_status hu_dataset_##id(hu_dataset *ds, const char *arg, const hu_dataset_options *o);
#include "trainer/data/datasets.def"
#undef DATASET
#endif
