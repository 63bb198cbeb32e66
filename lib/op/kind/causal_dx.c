/* SPDX-License-Identifier: Apache-2.0
   causal_dx dy, x: the gradient of causal (moves.h). Of x only the shape is read. */
#include "lib/op/move/moves.h"

const hu_op hu_op_causal_dx = {
	.name = "causal_dx",
	.summary = "gradient of causal: zero behind each row's diagonal",
	.min_in = 2,
	.max_in = 2,
	.nout = 1,
	.attrs = "fill",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves_dx,
	.moves = &(hu_moves_own){ .forward = &hu_op_causal },
};
