/* SPDX-License-Identifier: Apache-2.0
   The inputs on which a model is judged: arrays of an .npz file by the names of the model's inputs, one input of the
   model a row; and their labels. */
#ifndef HU_ANALYZERS_SAMPLES_H
#define HU_ANALYZERS_SAMPLES_H

#include "analyzers/network/rows.h"

#include "lib/import/import.h"
#include "lib/store/npz.h"

/* What the command line says of batch axes: axis[i], below 0 for none, is that of the model's input or output
   name[i]. */
typedef struct hu_batch_axes {
	char **name;
	int *axis;
	size_t n;
} hu_batch_axes;

/* The axis of NAME, OTHERWISE where nothing is said of it. */
int hu_samples_axis_of(const hu_batch_axes *said, const char *name, int otherwise);

/* n inputs. array[i] belongs to the model's input input[i], along whose axis axis[i] the inputs of a batch lie, each of
   them run[i] elements of it; below 0 a row of the array is all of that, and the model runs input by input, or with
   shared[i] set the whole array is the model's for every input alike. `label` is NULL without labels; else each input
   has the nlabel labels of a value of shape label_d. */
typedef struct hu_samples {
	hu_npz z;
	size_t n, narray;
	const hu_npy **array;
	const hu_onnx_value **input;
	const hu_batch_axes *said;
	int *axis;
	size_t *run;
	char *shared;
	double *label, *fixed; /* fixed[i]: what scalars, or numbers an input, are throughout; NaN of others */
	size_t nlabel;         /* labels of an input */
	int label_rank;
	size_t label_d[HU_RANK];
} hu_samples;

/* Opens PATH (.npz, or .npy for a model of one input) for the inputs of graph g. Where an array is missing, HU_EFILE
   lists those that are there. SAID, which must outlive s, may be NULL. */
hu_status hu_samples_open(hu_samples *s, const hu_onnx_graph *g, const char *path, const hu_batch_axes *said);
/* The elements of array i that belong to one input. */
size_t hu_samples_each(const hu_samples *s, size_t i);
/* Sets the axes to the choice number ATTEMPT, the most promising first; hu_samples_open has made choice 0. Returns 0
   where there is no such choice. */
int hu_samples_axes(hu_samples *s, size_t attempt);
/* The largest k of the dimensions "k*name" of V, otherwise 1. */
size_t hu_samples_times(const hu_onnx_value *v);
/* Reads labels, whole numbers with as many rows as there are inputs, from an array of the same file, an .npy file or
   NPZ:NAME. */
hu_status hu_samples_labels(hu_samples *s, const char *labels);
void hu_samples_release(hu_samples *s);
/* Makes s the n rows of `from` that begin with row `first`, and their labels. `from` must outlive s, which
   hu_samples_part_free frees. */
void hu_samples_part(hu_samples *s, const hu_samples *from, size_t first, size_t n);
void hu_samples_part_free(hu_samples *s);

/* The batch of the model's own, where an axis along which inputs lie is fixed; 0: there is none. And how many inputs
   run together where BATCH were to. */
size_t hu_samples_fixed(const hu_samples *s);
size_t hu_samples_batch(const hu_samples *s, size_t batch);

/* Appends what the data say of open sizes of the model's inputs, for batches of *BATCH rows; *BATCH becomes the model's
   own where that is fixed. HU_EFILE where a shape does not fit. */
hu_status hu_samples_given(const hu_samples *s, size_t *batch, hu_given **given, size_t *ngiven, size_t *cap);

/* Gives s, of another file for the same model, the axes of `data`. Fails with HU_EFILE where its rows have other shapes
   than those of data, or other numbers where these, which the model was imported for, have one throughout. */
hu_status hu_samples_fit(hu_samples *s, const hu_samples *data);

/* Writes row ROW of input I to the place of the batch's input AT in T, of a batch of BATCH. */
void hu_samples_put(const hu_samples *s, size_t i, size_t row, size_t at, size_t batch, hu_tensor *t);
/* Writes rows FIRST … FIRST + BATCH - 1 of input I to T; rows past the last repeat it. hu_samples_fill_round takes the
   first N rows alone, and begins again with row 0 behind them. */
void hu_samples_fill(const hu_samples *s, size_t i, size_t first, size_t batch, hu_tensor *t);
void hu_samples_fill_round(const hu_samples *s, size_t i, size_t first, size_t n, size_t batch, hu_tensor *t);
#endif
