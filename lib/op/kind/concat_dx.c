/* SPDX-License-Identifier: Apache-2.0
   concat_dx dy, a, b, …: the gradient of concat for the last of the operands a, b, …: the elements of dy behind those
   that came from the operands before it. Of the operands only the shapes are read. */
#include "lib/op/move/moves.h"

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t axis = hu_attr_count(c, "axis", 0), before = 0, after;
	const hu_shape *last = &in[c->nin - 1];

	if (axis >= (size_t)in[0].rank)
		return hu_fail(HU_EINVAL, "concat_dx: axis=%zu, and the gradient has %d axes, counted from 0", axis,
			in[0].rank);
	for (int k = 1; k < c->nin; k++) {
		hu_shape s = in[k];
		if (s.rank == in[0].rank)
			s.d[axis] = in[0].d[axis];
		if (!hu_same_shape(s, in[0]))
			return hu_fail(HU_EINVAL,
				"concat_dx: operand %d has another shape than the gradient along other axes than "
				"axis %zu",
				k, axis);
		before += k + 1 < c->nin ? in[k].d[axis] : 0;
	}
	if (__builtin_add_overflow(before, last->d[axis], &after) || after > in[0].d[axis])
		return hu_fail(HU_EINVAL,
			"concat_dx: the operands are longer together than the gradient's axis %zu, %zu", axis,
			in[0].d[axis]);
	*out = *last;
	x->inner = 1;
	for (int j = (int)axis + 1; j < out->rank; j++)
		x->inner *= out->d[j];
	x->outer = last->d[axis];
	x->start[0] = (long long)before;
	x->axis[0] = (int)axis;
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	size_t length = x->outer * x->inner, row = i / length, at = i % length;

	return (hu_moved){ 0, (row * x->in[0]->shape.d[x->axis[0]] + (size_t)x->start[0]) * x->inner + at, 0,
		length - at, 1 };
}

static size_t
row(const hu_moves *x)
{
	return x->outer * x->inner;
}

/* The first operand alone is read. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	k->flops = 0;
	k->reads = 1;
	k->unread = (double)hu_count(in[0]) - (double)hu_count(out[0]);
}

const hu_op hu_op_concat_dx = {
	.name = "concat_dx",
	.summary = "gradient of concat for one operand",
	.min_in = 2,
	.max_in = -1,
	.nout = 1,
	.same = "=",
	.attrs = "axis",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.own = { .cost = cost },
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from, .row = row, .sources = 1 },
};
