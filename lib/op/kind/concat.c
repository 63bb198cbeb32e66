/* SPDX-License-Identifier: Apache-2.0
   concat: the operands one behind the other along an axis; their other axes agree. */
#include "lib/op/move/moves.h"

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t axis = hu_attr_count(c, "axis", 0);

	if (axis >= (size_t)in[0].rank)
		return hu_fail(
			HU_EINVAL, "concat: axis=%zu, and the operands have %d axes, counted from 0", axis, in[0].rank);
	*out = in[0];
	for (int k = 1; k < c->nin; k++) {
		hu_shape s = in[k];
		if (s.rank == in[0].rank)
			s.d[axis] = in[0].d[axis];
		if (!hu_same_shape(s, in[0]))
			return hu_fail(HU_EINVAL,
				"concat: operand %d has another shape than operand 0 along other axes than "
				"axis %zu",
				k, axis);
		if (__builtin_add_overflow(out->d[axis], in[k].d[axis], &out->d[axis]))
			return hu_fail(HU_EINVAL, "concat: the output is longer than memory can be");
	}
	x->inner = 1;
	for (int j = (int)axis + 1; j < out->rank; j++)
		x->inner *= out->d[j];
	x->outer = out->d[axis];
	x->axis[0] = (int)axis;
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	size_t at = i % (x->inner * x->outer), row = i / (x->inner * x->outer), n;
	int k = 0;

	for (; at >= (n = x->in[k]->shape.d[x->axis[0]] * x->inner); k++)
		at -= n;
	return (hu_moved){ k, row * n + at, 0, n - at, 1 };
}

/* From one operand's elements to the next the order is kept: all along the axis and behind it is one row. */
static size_t
row(const hu_moves *x)
{
	return x->outer * x->inner;
}

/* A rule an operand, of which a gradient of at most ten is known. */
static const hu_grad grad[] = {
	{ "concat_dx", "d0 i0", "i0", NULL, NULL },
	{ "concat_dx", "d0 i0 i1", "i1", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2", "i2", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3", "i3", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4", "i4", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4 i5", "i5", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4 i5 i6", "i6", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4 i5 i6 i7", "i7", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4 i5 i6 i7 i8", "i8", NULL, NULL },
	{ "concat_dx", "d0 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9", "i9", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_concat = {
	.name = "concat",
	.summary = "operands one behind the other along an axis",
	.min_in = 1,
	.max_in = -1,
	.nout = 1,
	.same = "=",
	.attrs = "axis",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from, .row = row },
	.grad = grad,
};
