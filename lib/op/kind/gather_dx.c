/* SPDX-License-Identifier: Apache-2.0
   gather_dx dy, i, x: the gradient of gather for x (moves.h), as of an embedding: rows that i names more than once add
   up in the order of i. Of x only the shape is read. */
#include "lib/op/move/moves.h"

const hu_op hu_op_gather_dx = {
	.name = "gather_dx",
	.summary = "gradient of gather: adds to the elements that were named",
	.min_in = 3,
	.max_in = 3,
	.nout = 1,
	.attrs = "axis",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves_dx,
	.moves = &(hu_moves_own){ .forward = &hu_op_gather },
};
