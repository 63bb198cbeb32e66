/* SPDX-License-Identifier: Apache-2.0
   Changes a model and writes it: nodes put before and behind others, and constants. What is not changed stays as the
   file had it. */
#ifndef HU_STORE_ONNX_EDIT_H
#define HU_STORE_ONNX_EDIT_H

#include "lib/store/onnx/onnx.h"

typedef struct hu_onnx_edit hu_onnx_edit;

/* A copy of M that can be changed; constants that lie in files of their own become its own. HU_EUNABLE where all of
   them are more than one file can hold, 2 GB. */
hu_status hu_onnx_edit_open(hu_onnx_edit **e, const hu_onnx *m);
void hu_onnx_edit_free(hu_onnx_edit *e);

/* The number of the only node of the main graph called NAME, or without a name and with that first output, the same
   until the end; -1 where there is none or there are several. */
int hu_onnx_edit_find(const hu_onnx_edit *e, const char *name);
size_t hu_onnx_edit_inputs(const hu_onnx_edit *e, int node);
const char *hu_onnx_edit_input(const hu_onnx_edit *e, int node, size_t k); /* the value that it reads */
void hu_onnx_edit_read(hu_onnx_edit *e, int node, size_t k, const char *value);

/* Puts a node OP before node NODE, which reads the N values IN, and returns its output, a name made of STEM, which *e
   owns. KEY: an attribute, a whole number; NULL: none. Later ones stand behind earlier ones. */
const char *hu_onnx_edit_before(hu_onnx_edit *e, int node, const char *op, const char *const *in, size_t n,
	const char *stem, const char *key, int64_t value);
/* The same with a node of NODE's operator and attributes. */
const char *hu_onnx_edit_twin(hu_onnx_edit *e, int node, const char *const *in, size_t n, const char *stem);
/* Puts two nodes Cast, to element type TYPE and back to FLOAT, behind output K of NODE; its readers read theirs. */
void hu_onnx_edit_round_output(hu_onnx_edit *e, int node, size_t k, int type);

/* Puts a node OP behind output K of NODE, which reads that output and OTHER; the output's readers read its result. */
void hu_onnx_edit_behind(hu_onnx_edit *e, int node, size_t k, const char *op, const char *other);

/* Leaves NODE out of the file that is written; nothing may read it. */
void hu_onnx_edit_drop(hu_onnx_edit *e, int node);

/* Makes the node's attribute KEY the real number VALUE. */
void hu_onnx_edit_real(hu_onnx_edit *e, int node, const char *key, float value);

/* Adds a constant of element type TYPE, whose BYTES are copied, and returns its name, made of STEM, which *e owns. */
const char *hu_onnx_edit_constant(
	hu_onnx_edit *e, const char *stem, int type, int rank, const size_t *d, const void *bytes, size_t n);

/* Drops constants that nothing reads any more, and writes the model to PATH as version 10 of the format or later. */
hu_status hu_onnx_edit_write(hu_onnx_edit *e, const char *path);
#endif
