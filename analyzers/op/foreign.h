/* SPDX-License-Identifier: Apache-2.0
   Arrays of numbers in files of other programs: one interface to safetensors, npy, npz and ONNX models. */
#ifndef HU_ANALYZERS_FOREIGN_H
#define HU_ANALYZERS_FOREIGN_H

#include "lib/store/npz.h"
#include "lib/store/onnx/onnx.h"
#include "lib/store/safetensors.h"

#include "lib/number/format.h"

/* One array. Names have passed hu_shown, so that they can be printed. */
typedef struct hu_array {
	const char *name, *dtype;
	/* n is the number of elements; last is how many of them may share scales: the length of the last axis, 1 for a
	   scalar. For a model's weights it is the number of terms of the sum that reads them, from axis `axis` on;
	   these are inner elements apart. */
	size_t n, last, inner;
	int axis;                 /* -1 where the file does not name it */
	char shape[96];           /* 3x4; "scalar" */
	int rank;
	size_t dims[HU_SAFETENSORS_RANK];
	const void *data;
	hu_format_id format;      /* format of the elements; HU_NO_FORMAT where they are not floating-point numbers */
	int mapped;               /* data lie in a mapped file */
} hu_array;

typedef struct hu_foreign {
	hu_array *array;
	size_t n;
	int activations;          /* 1 for a trace of this program, which has activations and gradients too */
	hu_safetensors s;         /* private */
	hu_npy a;
	hu_npz z;
	hu_onnx m;
	int kind;
	char **shown;
} hu_foreign;

/* Opens a file and recognises its kind by its first bytes, and a model by its name's ending .onnx. HU_EFILE says what
   is wrong. */
hu_status hu_foreign_open(hu_foreign *s, const char *path);
void hu_foreign_release(hu_foreign *s);
/* Returns element i exactly; allowed only where the format is known. Elements of 4 and 6 bits are stored without gaps,
   the first in the low bits of the first byte (PyTorch's float4_e2m1fn_x2). */
double hu_array_get(const hu_array *a, size_t i);
/* Lets elements that may share scales be those along axis `axis`, counted from the last where it is negative. Returns
   0, with nothing changed, where the array has no such axis. */
int hu_array_set_axis(hu_array *a, int axis);
/* Gives back the memory of those whole pages of a mapped array that lie in its bytes from `from` to `to`; they are read
   again from the file when they are needed. */
void hu_array_drop(const hu_array *a, size_t from, size_t to);
#endif
