/* SPDX-License-Identifier: Apache-2.0
   causal x: y = x up to each row's diagonal, fill behind it. The rows and columns are the last two axes: the scores of
   an attention in which no token sees those after it. */
#include "lib/op/move/moves.h"

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 2)
		return hu_fail(HU_EINVAL, "causal: the operand must have rank 2 or more");
	x->length[0] = in[0].d[in[0].rank - 2];
	x->length[1] = hu_last(in[0]);
	x->fill = hu_attr_num(c, "fill", 0);
	*out = in[0];
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	size_t column = i % x->length[1], diagonal = i / x->length[1] % x->length[0];

	if (column > diagonal)
		return (hu_moved){ -1, 0, x->fill, x->length[1] - column, 0 };
	return (hu_moved){ 0, i, 0, (diagonal < x->length[1] ? diagonal + 1 : x->length[1]) - column, 1 };
}

static size_t
row(const hu_moves *x)
{
	return x->length[1];
}

static const hu_grad grad[] = {
	{ "causal_dx", "d0 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_causal = {
	.name = "causal",
	.summary = "hides what lies behind each row's diagonal",
	.min_in = 1,
	.max_in = 1,
	.nout = 1,
	.same = "=",
	.attrs = "fill",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from, .row = row, .apart = 1 },
	.grad = grad,
};
