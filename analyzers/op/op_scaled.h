/* SPDX-License-Identifier: Apache-2.0
   op dot and op matmul with block-scaled operands: sums by a tensor core that takes scales (in=mxfp8, nvfp4, …). */
#ifndef HU_ANALYZERS_OP_SCALED_H
#define HU_ANALYZERS_OP_SCALED_H

#include "analyzers/op/op_run.h"

/* r->n, shape, value, and where judged exact and bound, for r->sum.group > 0. Without scales (sa, sb NULL) the arrays
   are quantised along k by lib/number/block.h, and the fp32 scale that nvfp4 has for all multiplies the sum, rounded to
   fp32, as an epilogue does. Else their elements are rounded to their format, and a row of sa or sb (of b's columns in
   matmul) holds a scale for every group. Exact and bound are those of the operands so made. */
hu_status hu_op_run_scaled(hu_op_run *r, int judged, const hu_npy *sa, const hu_npy *sb);
#endif
