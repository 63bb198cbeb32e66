/* SPDX-License-Identifier: Apache-2.0
   Arrays of numbers in files of others: safetensors, npy, npz and ONNX models behind one face. */
#ifndef HU_ANALYZERS_FOREIGN_H
#define HU_ANALYZERS_FOREIGN_H

#include "lib/store/npz.h"
#include "lib/store/onnx/onnx.h"
#include "lib/store/safetensors.h"

#include "lib/number/format.h"

/* A name is as hu_shown has it. */
typedef struct hu_array {
	const char *name, *dtype;
	/* Elements; how many of them scales may be shared along: the last axis's length, 1 of a scalar; of a model's
	   weights the terms of the sum that reads them, from axis AXIS on, INNER elements apart. */
	size_t n, last, inner;
	int axis;                 /* -1 where the file says nothing of it */
	char shape[96];           /* 3x4; "scalar" */
	const void *data;
	hu_format_id format;      /* of the elements; HU_NO_FORMAT where they are no floating-point numbers */
} hu_array;

typedef struct hu_foreign {
	hu_array *array;
	size_t n;
	int activations;          /* a trace of this program: activations and gradients are there too */
	hu_safetensors s;         /* private */
	hu_npy a;
	hu_npz z;
	hu_onnx m;
	int kind;
	char **shown;
} hu_foreign;

/* By the file's beginning, but for a model's .onnx. HU_EFILE says what is wrong. */
hu_status hu_foreign_open(hu_foreign *s, const char *path);
void hu_foreign_release(hu_foreign *s);
/* Element i; exact. Only where the format is known. Elements of 4 and 6 bits follow each other without gaps, the first
   in the low bits of the first byte (PyTorch's float4_e2m1fn_x2). */
double hu_array_get(const hu_array *a, size_t i);
#endif
