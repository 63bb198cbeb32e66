/* SPDX-License-Identifier: Apache-2.0
   Finds out whether an array holds a result in another order of its axes: transposed, or NCHW in place of NHWC. */
#ifndef HU_ANALYZERS_OP_LAYOUT_H
#define HU_ANALYZERS_OP_LAYOUT_H

#include "lib/op/tensor.h"
#include "lib/store/npy.h"

/* Axis A of the array is axis `axis`[A] of the result; element numbers run in row-major order. */
typedef struct hu_op_layout { int rank, axis[HU_RANK]; size_t d[HU_RANK], step[HU_RANK]; } hu_op_layout;

/* Returns the identity: element i of the array is element i of the result. */
hu_op_layout hu_op_layout_same(hu_shape result);
/* Returns the index in the array of element i of the result. */
size_t hu_op_layout_at(const hu_op_layout *l, size_t i);
int hu_op_layout_is_same(const hu_op_layout *l);

/* Finds the first order of the axes in which fits(context, index in the result, index in the array) holds for all n
   elements. Orders that give the array's shape are tried first, then, unless but_same is 1, the identity, then the
   others. Returns 0 where there is none. */
int hu_op_layout_find(hu_op_layout *l, hu_shape result, const hu_npy *array, int but_same,
	int (*fits)(const void *context, size_t i, size_t at), const void *context);

/* Writes words such as "its transpose" or "transpose(0, 3, 1, 2), which takes NHWC to NCHW" into `text`, of at least 80
   bytes. */
void hu_op_layout_words(const hu_op_layout *l, char *text, size_t size);

/* Writes a shape as NumPy does: (2, 3). */
void hu_op_shape_words(int rank, const size_t *d, char *text, size_t size);
/* Returns 1 where rank and lengths are the same. */
int hu_op_same_shape(hu_shape result, const hu_npy *array);
#endif
