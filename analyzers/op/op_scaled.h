/* SPDX-License-Identifier: Apache-2.0
   dot and matmul with block-scaled operands: sums by a tensor core that takes a scale for each group of elements
   (in=mxfp8, nvfp4, …). */
#ifndef HU_ANALYZERS_OP_SCALED_H
#define HU_ANALYZERS_OP_SCALED_H

#include "analyzers/op/op_run.h"

/* Fills r->n, shape and value, and where judged is 1 exact and bound, for r->sum.group > 0. Where sa and sb are NULL
   the arrays are quantised along k by block.h; the fp32 scale that nvfp4 has for a whole array multiplies
   the sum that was rounded to fp32, as an epilogue does. Otherwise the elements are rounded to their format, and each
   row of sa and sb (for matmul: column of b) holds a scale for every group. exact and bound are those of the operands
   made in this way. */
hu_status hu_op_run_scaled(hu_op_run *r, int judged, const hu_npy *sa, const hu_npy *sb);
#endif
