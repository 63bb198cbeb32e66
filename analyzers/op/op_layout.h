/* SPDX-License-Identifier: Apache-2.0
   Whether an array holds a result in another order of its axes: transposed, or NCHW in place of NHWC. */
#ifndef HU_ANALYZERS_OP_LAYOUT_H
#define HU_ANALYZERS_OP_LAYOUT_H

#include "lib/op/tensor.h"
#include "lib/store/npy.h"

/* Axis A of the array is axis `axis`[A] of the result; element numbers run in row-major order. */
typedef struct hu_op_layout { int rank, axis[HU_RANK]; size_t d[HU_RANK], step[HU_RANK]; } hu_op_layout;

/* The identity: element I of the array is element I of the result. */
hu_op_layout hu_op_layout_same(hu_shape result);
/* Where element i of the result lies in the array. */
size_t hu_op_layout_at(const hu_op_layout *l, size_t i);
int hu_op_layout_is_same(const hu_op_layout *l);

/* The first order of the axes in which all N elements are FITS(context, number in the result, number in the array):
   orders that give the array's shape come first, then, unless but_same, the identity, then the others. 0: there is
   none. */
int hu_op_layout_find(hu_op_layout *l, hu_shape result, const hu_npy *array, int but_same,
	int (*fits)(const void *context, size_t i, size_t at), const void *context);

/* "its transpose", "transpose(0, 3, 1, 2), which takes NHWC to NCHW", into `text` of 80 bytes or more. */
void hu_op_layout_words(const hu_op_layout *l, char *text, size_t size);

/* (2, 3), as NumPy writes it. */
void hu_op_shape_words(int rank, const size_t *d, char *text, size_t size);
/* Same rank, same lengths. */
int hu_op_same_shape(hu_shape result, const hu_npy *array);
#endif
