/* SPDX-License-Identifier: Apache-2.0
   move_dx dy, x: the gradient of move (moves.h). Of x only the shape is read. */
#include "lib/op/move/moves.h"

const hu_op hu_op_move_dx = {
	.name = "move_dx",
	.summary = "gradient of move: sums the elements that came from one",
	.min_in = 2,
	.max_in = 2,
	.nout = 1,
	.attrs = "rank d0 d1 d2 d3 d4 d5 d6 d7 from0 from1 from2 from3 from4 from5 from6 from7 "
		 "start0 start1 start2 start3 start4 start5 start6 start7 "
		 "step0 step1 step2 step3 step4 step5 step6 step7 fill flat",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves_dx,
	.moves = &(hu_moves_own){ .forward = &hu_op_move },
};
