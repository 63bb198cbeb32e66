/* SPDX-License-Identifier: Apache-2.0
   gather x, i -> y: along an axis of x the elements that i names, whose shape stands in that axis' place. Indices are
   whole numbers; negative ones count from the axis' end. */
#include "lib/op/move/moves.h"

#include <math.h>

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	int axis = (int)hu_attr_count(c, "axis", 0);

	if (axis >= in[0].rank)
		return hu_fail(
			HU_EINVAL, "gather: axis=%d, and the input has %d axes, counted from 0", axis, in[0].rank);
	if (in[0].rank + in[1].rank - 1 > HU_RANK)
		return hu_fail(HU_EINVAL, "gather: the output would have %d axes; at most %d are possible",
			in[0].rank + in[1].rank - 1, HU_RANK);
	*out = (hu_shape){ .rank = 0, .d = { 1, 1, 1, 1 } };
	x->inner = x->outer = 1;
	for (int j = 0; j < axis; j++)
		out->d[out->rank++] = in[0].d[j];
	for (int j = 0; j < in[1].rank; j++) {
		out->d[out->rank++] = in[1].d[j];
		x->outer *= in[1].d[j];
	}
	for (int j = axis + 1; j < in[0].rank; j++) {
		out->d[out->rank++] = in[0].d[j];
		x->inner *= in[0].d[j];
	}
	x->length[0] = in[0].d[axis];
	return HU_OK;
}

static hu_status
check(const hu_moves *x)
{
	double n = (double)x->length[0];

	for (size_t i = 0; i < x->in[1]->n; i++) {
		double at = hu_get(x->in[1], i);
		if (!(at >= -n && at < n) || at != floor(at))
			return hu_fail(
				HU_EINVAL, "gather: index %zu is %g, and the axis has elements 0 to %g", i, at, n - 1);
	}
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	size_t rest = i % x->inner, row = i / x->inner / x->outer;
	double at = hu_get(x->in[1], i / x->inner % x->outer);

	at = at < 0 ? at + (double)x->length[0] : at;
	return (hu_moved){ 0, (row * x->length[0] + (size_t)at) * x->inner + rest, 0,
		x->inner - rest, 1 };
}

/* What lies behind the axis. */
static size_t
row(const hu_moves *x)
{
	return x->inner;
}

static const hu_grad grad[] = {
	{ "gather_dx", "d0 i1 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_gather = {
	.name = "gather",
	.summary = "the elements along an axis that another operand names",
	.min_in = 2,
	.max_in = 2,
	.nout = 1,
	.same = "=",
	.attrs = "axis",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){
		.describe = describe, .check = check, .from = from, .row = row, .sources = 1, .apart = 1 },
	.grad = grad,
};
