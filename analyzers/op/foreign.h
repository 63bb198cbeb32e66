/* SPDX-License-Identifier: Apache-2.0
   Arrays of numbers in files of other programs: one interface to safetensors, npy and npz. */
#ifndef HU_ANALYZERS_FOREIGN_H
#define HU_ANALYZERS_FOREIGN_H

#include "lib/store/npz.h"
#include "lib/store/safetensors.h"

#include "lib/number/format.h"

/* One array. Names have passed hu_shown, so that they can be printed. */
typedef struct hu_array {
	const char *name, *dtype;
	size_t n, last;           /* number of elements; length of the last axis, 1 for a scalar */
	const void *data;
	hu_format_id format;      /* format of the elements; HU_NO_FORMAT where they are not floating-point numbers */
} hu_array;

typedef struct hu_foreign {
	hu_array *array;
	size_t n;
	int activations;          /* 1 for a trace of this program, which has activations and gradients too */
	hu_safetensors s;         /* private */
	hu_npy a;
	hu_npz z;
	int kind;
	char **shown;
} hu_foreign;

/* Opens a file and recognises its kind by its first bytes, not by its name. HU_EFILE says what is wrong. */
hu_status hu_foreign_open(hu_foreign *s, const char *path);
void hu_foreign_release(hu_foreign *s);
/* Returns element i exactly; allowed only where the format is known. Elements of 4 and 6 bits are stored without gaps,
   the first in the low bits of the first byte (PyTorch's float4_e2m1fn_x2). */
double hu_array_get(const hu_array *a, size_t i);
#endif
