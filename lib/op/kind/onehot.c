/* SPDX-License-Identifier: Apache-2.0
   onehot labels: a vector of `classes` elements for each label, 1 in the label's place and 0 elsewhere; all 0 for what
   is no whole number from 0 to classes - 1. */
#include "lib/op/move/moves.h"

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	x->inner = hu_attr_count(c, "classes", 0);
	if (!x->inner)
		return hu_fail(HU_EINVAL, "onehot: classes=N is needed, a whole number from 1 on");
	if (in[0].rank >= HU_RANK)
		return hu_fail(
			HU_EINVAL, "onehot: labels of %d axes; at most %d are possible", in[0].rank, HU_RANK - 1);
	*out = in[0];
	out->d[out->rank++] = x->inner;
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	return (hu_moved){ -1, 0, hu_get(x->in[0], i / x->inner) == (double)(i % x->inner), 1, 0 };
}

const hu_op hu_op_onehot = {
	.name = "onehot",
	.summary = "1 in each label's place, 0 elsewhere",
	.min_in = 1,
	.max_in = 1,
	.nout = 1,
	.same = "=",
	.attrs = "classes",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from },
};
