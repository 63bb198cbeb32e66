/* SPDX-License-Identifier: Apache-2.0
   Finds the summation model that gives another program's bits: every model is tried on the operands, and where no
   single one gives the whole result, columns or rows that have one each are told apart, as a library's kernel and
   its tail. */
#ifndef HU_ANALYZERS_OP_SUMS_H
#define HU_ANALYZERS_OP_SUMS_H

#include "analyzers/op/op_run.h"

/* Tries the models on r, whose operands are read and whose own sum does not count, and prints what they give of `got`,
   in lines or as JSON. Sets *wrong to 1 where elements are left that no column's or row's model gives. Fails with
   HU_EFILE where got has another shape. */
hu_status hu_op_sums(hu_op_run *r, const hu_npy *got, int json, int *wrong);
#endif
