/* SPDX-License-Identifier: Apache-2.0
   Data to train and evaluate on, held in memory as a whole: named arrays with equally many rows. Array "x" feeds a
   program's input.x, array "labels" its input.labels, and so on; each data set decides which arrays it has and their
   shapes. A data set is one file here and one row of datasets.def. It does not shuffle: the training loop decides which
   rows make a batch. */
#ifndef HU_TRAINER_DATA_H
#define HU_TRAINER_DATA_H

#include "lib/op/tensor.h"

#include <stddef.h>
#include <stdint.h>

/* How an array's elements are stored in memory, and the values that they stand for. */
typedef enum hu_data_array_kind {
	HU_ARRAY_PIXELS, /* bytes; byte b stands for (float)b / 255.0f */
	HU_ARRAY_BYTES,  /* bytes; byte b stands for b */
	HU_ARRAY_FLOATS  /* floats */
} hu_data_array_kind;

typedef struct hu_data_array {
	char name[32]; /* of the program's input, without "input." */
	hu_data_array_kind kind;
	hu_shape shape; /* of one row; rank 0: one number */
	size_t classes; /* elements are whole numbers below it; 0 where they are any numbers */
	void *values;   /* n_train + n_eval rows; NULL where only dimensions were asked for */
} hu_data_array;

enum { HU_ARRAYS = 8 };

/* Rows of array 0 that are made when a batch first asks for them (made.h). */
typedef struct hu_made hu_made;

typedef struct hu_dataset {
	size_t n_train, n_eval; /* rows 0 to n_train - 1 are for training, the next n_eval for evaluation */
	size_t candidates;      /* rows for evaluation come in groups of so many, the chosen item first; 0: in none */
	int narray;
	hu_data_array array[HU_ARRAYS];
	char *name;    /* as it was asked for: "digits", "idx:DIR" */
	hu_made *made; /* NULL where all rows are in memory from the start */
} hu_dataset;

/* Options of a data set; 0 means its default. Each set uses the fields that its row names. */
typedef struct hu_dataset_options {
	size_t size;             /* height and width in pixels */
	size_t channels;         /* colour channels, all alike */
	size_t classes;          /* how many classes there are */
	size_t length;           /* tokens of a row of text */
	const char *word_pieces; /* file of a vocabulary; NULL: made of the sentences to train on */
	size_t users, items;     /* of ratings */
	size_t train, eval;      /* how many rows of each kind */
	size_t split;            /* the first this many train, the rest evaluate */
	uint64_t seed;           /* 0 is a seed like any other */
	const char *reads;       /* the inputs that the model reads, as in its row of models.def; NULL where unknown */
	int dimensions_only;     /* the values will not be read: a set that needs no file need not make them */
} hu_dataset_options;

/* Opens the data set called `name`, "SET" or "SET:ARGUMENT". HU_EINVAL where the name or an option is wrong, HU_EFILE
   where a file is; *ds then needs no release. */
hu_status hu_dataset_open(hu_dataset *ds, const char *name, const hu_dataset_options *o);
void hu_dataset_release(hu_dataset *ds);

/* Returns the array of that name, or NULL. */
const hu_data_array *hu_dataset_find(const hu_dataset *ds, const char *name);

/* Copies n rows of array a into `out`, as floats: row index[i] to place i, so `out` has n times the row's elements. The
   same index may occur several times. An index from n_train + n_eval on is a bug of the caller and aborts. Only rows
   that are made now can fail, as their maker says: a damaged image gives HU_EFILE. */
hu_status hu_dataset_batch(const hu_dataset *ds, const hu_data_array *a, const size_t *index, size_t n, float *out);

/* Says for which rows hu_dataset_batch will be called next, so that a thread can make those that are not in memory
   while the caller does other work. It changes no value. */
void hu_dataset_ask(const hu_dataset *ds, const size_t *index, size_t n);

/* Returns the bytes that one row of a takes in memory. */
size_t hu_array_row_bytes(const hu_data_array *a);

/* Writes the shape of one row of a, "28x28x1" or "1", into `out` and returns `out`. */
const char *hu_array_shape_text(const hu_data_array *a, char *out, size_t size);

/* Returns a 64-bit checksum of sizes, split and all elements; it is the same on every machine. Of rows that are made
   later it has their maker's checksum. */
uint64_t hu_dataset_digest(const hu_dataset *ds);
/* Of rows that are made when a batch asks for them: *number gets how many rows i with wanted[i] are kept, each of which
   is made now unless it was before, and *digest the sum of their pixels' terms, those which they have in the digest of
   a set that is in memory. 0 rows of other sets. Fails as hu_dataset_batch does. */
hu_status hu_dataset_read_rows(const hu_dataset *ds, const char *wanted, size_t *number, uint64_t *digest);

/* The columns of row i of datasets.def; NULL past the last row. */
const char *hu_dataset_name(size_t i);
const char *hu_dataset_reads(size_t i); /* names of the options that it reads, separated by blanks */

/* Returns 1 where the data set that `name` begins with reads option. */
int hu_dataset_takes(const char *name, const char *option);
/* Returns 1 where the data set that `name` begins with is a file's. */
int hu_dataset_is_file(const char *name);
/* Returns the position in `name` at which the path of a file or folder begins; 0 where it has none. */
size_t hu_dataset_path(const char *name);

/* For the data sets' files. Appends an array to ds, whose n_train and n_eval are set, and allocates its values unless o
   asks for dimensions only. HU_ENOMEM. */
hu_status hu_dataset_add(hu_dataset *ds, const hu_dataset_options *o, const char *name, hu_data_array_kind kind,
	hu_shape shape, size_t classes, hu_data_array **out);
/* Splits n rows of a file, called `what` in messages, by setting n_train and n_eval: the first `at` rows are for
   training, or nine tenths where `at` is 0. HU_EINVAL where none is left to evaluate. */
hu_status hu_dataset_split(hu_dataset *ds, size_t n, size_t at, const char *what);

/* Every row has such a function. arg is the text after the colon, NULL where there was none. It fills a zeroed *ds
   except its name; after a failure the caller releases *ds. */
#define DATASET(id, argument, reads, summary)                                                                          \
	hu_status hu_dataset_##id(hu_dataset *ds, const char *arg, const hu_dataset_options *o);
#include "trainer/data/datasets.def"
#undef DATASET
#endif
