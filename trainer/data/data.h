/* SPDX-License-Identifier: Apache-2.0
   Data to train and evaluate on, whole in memory: named arrays of equally many rows. Array "x" feeds a program's
   input.x, array "labels" its input.labels, and so on; how many arrays there are, and of which shapes, is the data
   set's own decision. A data set is one file here and one row of datasets.def. No shuffling: which rows make a batch
   is the training loop's decision. */
#ifndef HU_TRAINER_DATA_H
#define HU_TRAINER_DATA_H

#include "lib/op/tensor.h"

#include <stddef.h>
#include <stdint.h>

/* How an array's elements lie in memory, and what each is to a program. */
typedef enum hu_data_array_kind {
	HU_ARRAY_PIXELS, /* bytes; byte b stands for (float)b / 255.0f */
	HU_ARRAY_BYTES,  /* bytes; byte b stands for b */
	HU_ARRAY_FLOATS  /* floats */
} hu_data_array_kind;

typedef struct hu_data_array {
	char name[32]; /* of the program's input, without "input." */
	hu_data_array_kind kind;
	hu_shape shape; /* of one row; rank 0: one number */
	size_t classes; /* elements are whole numbers below it; 0: any numbers */
	void *values;   /* of n_train + n_eval rows; NULL where only dimensions were asked for */
} hu_data_array;

enum { HU_ARRAYS = 8 };

typedef struct hu_dataset {
	size_t n_train, n_eval; /* rows 0 … n_train-1 are to train on, the n_eval after them to evaluate */
	int narray;
	hu_data_array array[HU_ARRAYS];
	char *name; /* as it was asked for: "digits", "idx:DIR" */
} hu_dataset;

/* What a data set may be asked for; 0 means its default. Each set uses the fields its row names. */
typedef struct hu_dataset_options {
	size_t size;         /* height and width in pixels */
	size_t channels;     /* colour channels, all alike */
	size_t train, eval;  /* how many rows of each kind */
	size_t split;        /* the first this many train, the rest evaluate */
	uint64_t seed;       /* 0 is a seed like any other */
	const char *reads;   /* the inputs that the model reads, as MODEL's row has them; NULL: nobody said */
	int dimensions_only; /* the values will not be read: a set that needs no file need not make them */
} hu_dataset_options;

/* Opens `name`, "SET" or "SET:ARGUMENT". HU_EINVAL where the name or an option is
   wrong, HU_EFILE where a file is; then *ds needs no release. */
hu_status hu_dataset_open(hu_dataset *ds, const char *name, const hu_dataset_options *o);
void hu_dataset_release(hu_dataset *ds);

/* The array of that name, or NULL. */
const hu_data_array *hu_dataset_find(const hu_dataset *ds, const char *name);

/* n rows of array a by number into `out`, n × the row's elements. A number from n_train + n_eval
   on is a bug of the caller and aborts. The same number may come twice. */
void hu_dataset_batch(const hu_dataset *ds, const hu_data_array *a, const size_t *index, size_t n, float *out);

/* Bytes of one row of a in memory. */
size_t hu_array_row_bytes(const hu_data_array *a);

/* The shape of one row of a, "28x28x1" or "1", into `out`, which is returned. */
const char *hu_array_shape_text(const hu_data_array *a, char *out, size_t size);

/* 64 bits over sizes, split and all elements; the same on every machine. */
uint64_t hu_dataset_digest(const hu_dataset *ds);

/* Rows of datasets.def, for lists: NULL after the last. */
const char *hu_dataset_name(size_t i);
const char *hu_dataset_summary(size_t i);
const char *hu_dataset_reads(size_t i); /* options, a blank between two */

/* Whether the data set that `name` begins with reads option. */
int hu_dataset_takes(const char *name, const char *option);
/* Where in `name` the path of a file or folder begins; 0 where it has none. */
size_t hu_dataset_path(const char *name);

/* For the rows' files. Appends an array to ds, whose n_train and n_eval are set, and allocates its values, unless o
   asks for dimensions only. HU_ENOMEM. */
hu_status hu_dataset_add(hu_dataset *ds, const hu_dataset_options *o, const char *name, hu_data_array_kind kind,
	hu_shape shape, size_t classes, hu_data_array **out);
/* Sets n_train and n_eval of n rows that come in one piece, called `what` in messages: `at` rows train, nine tenths
   where `at` is 0. HU_EINVAL where none is left to evaluate. */
hu_status hu_dataset_split(hu_dataset *ds, size_t n, size_t at, const char *what);

/* One function a row. ARG: what followed the colon; NULL where there was none.
   It fills a zeroed *DS but for the name; after a failure the caller releases it. */
#define DATASET(id, argument, reads, summary)                                                                          \
	hu_status hu_dataset_##id(hu_dataset *ds, const char *arg, const hu_dataset_options *o);
#include "trainer/data/datasets.def"
#undef DATASET
#endif
