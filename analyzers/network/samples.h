/* SPDX-License-Identifier: Apache-2.0
   The inputs on which a model is judged: arrays of an .npz file by the names of the model's inputs, one input of the
   model a row; and their labels. */
#ifndef HU_ANALYZERS_SAMPLES_H
#define HU_ANALYZERS_SAMPLES_H

#include "lib/import/import.h"
#include "lib/store/npz.h"

/* n inputs. array[i] belongs to the model's input i. Where `whole` is set, arrays have one axis more than the model's
   inputs, so that a row is a whole input. `label` is NULL without labels. */
typedef struct hu_samples {
	hu_npz z;
	size_t n, narray;
	const hu_npy **array;
	int whole;
	double *label, *fixed; /* fixed[i]: what scalars, or numbers an input, are throughout; NaN of others */
	size_t nlabel; /* labels of an input */
} hu_samples;

/* Opens PATH (.npz, or .npy for a model of one input) for the inputs of graph g. Where an array is missing, HU_EFILE
   lists those that are there. */
hu_status hu_samples_open(hu_samples *s, const hu_onnx_graph *g, const char *path);
/* Reads labels, whole numbers with as many rows as there are inputs, from an array of the same file, an .npy file or
   NPZ:NAME. */
hu_status hu_samples_labels(hu_samples *s, const char *labels);
void hu_samples_release(hu_samples *s);
/* Makes s the n rows of `from` that begin with row `first`, and their labels. `from` must outlive s, which
   hu_samples_part_free frees. */
void hu_samples_part(hu_samples *s, const hu_samples *from, size_t first, size_t n);
void hu_samples_part_free(hu_samples *s);

/* Appends what the data say of open sizes of the model's inputs, for batches of *BATCH rows; *BATCH becomes the model's
   own where that is fixed. HU_EFILE where a shape does not fit. */
hu_status hu_samples_given(
	const hu_samples *s, const hu_onnx_graph *g, size_t *batch, hu_given **given, size_t *ngiven, size_t *cap);

/* Fails with HU_EFILE where rows of s do not have the shape of m's inputs, of whose batches an input is a row, or other
   numbers where `data`, which m was imported for, have one throughout. */
hu_status hu_samples_fit(
	const hu_samples *s, const hu_samples *data, const hu_onnx_graph *g, const hu_imported *m);

/* Writes rows FIRST … FIRST + BATCH - 1 of input I to T; rows past the last repeat it. hu_samples_fill_round takes the
   first N rows alone, and begins again with row 0 behind them. */
void hu_samples_fill(const hu_samples *s, size_t i, size_t first, size_t batch, hu_tensor *t);
void hu_samples_fill_round(const hu_samples *s, size_t i, size_t first, size_t n, size_t batch, hu_tensor *t);
#endif
