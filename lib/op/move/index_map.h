/* SPDX-License-Identifier: Apache-2.0
   The index map of a call that only moves elements, or of a call's gradient, from attributes and shapes: all that a
   back end needs to move them in loops of its own. C and C++. */
#ifndef HU_OP_INDEX_MAP_H
#define HU_OP_INDEX_MAP_H

#include "lib/op/call.h"

/* A call's index map once its shapes are known. Along output axis j: the input axis that it runs over (-1: none), the
   first coordinate there, and the step; of whole rows the stride in elements and the length of each input axis. Output
   coordinates from first[j] to last[j] - 1 have a coordinate of the input, the others are fill. flat: elements keep
   their order, and no axis is described. */
typedef struct hu_moves {
	const hu_call *c;
	hu_tensor *const *in;
	hu_shape out;
	int axis[HU_RANK];
	long long start[HU_RANK], step[HU_RANK];
	size_t stride[HU_RANK], length[HU_RANK], first[HU_RANK], last[HU_RANK];
	double fill;
	int flat;
	size_t joined; /* elements of the last axes of a move that are one run, each BY behind the one before */
	ptrdiff_t by;
	size_t outer, inner; /* elements before and behind the one axis that concat and gather speak of */
} hu_moves;

/* Describes call c of the family of moves (moves.h) on operands of these shapes, or, where c is a gradient, the forward
   call on its own operands: then in[0] is the shape of x. The operands' values are neither read nor checked, and x->in
   is NULL. */
hu_status hu_moves_describe(hu_moves *x, const hu_call *c, const hu_shape *in);
#endif
