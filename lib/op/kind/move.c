/* SPDX-License-Identifier: Apache-2.0
   move: transposes, slices, pads, broadcasts, or tells the same elements another shape. The output is rank d0 … d7.
   Along output axis j the coordinate of input axis `from`j is start`j + step`j i; without `from`j the axis repeats what
   is there. What lies outside the input is fill. An input axis that nothing runs over has one element. With flat=1
   the elements keep their order, and nothing else may be set. */
#include "lib/op/move/keys.h"
#include "lib/op/move/moves.h"

#include <math.h>

/* Coordinates stay far from the end of a long long: counts are below 2^31, and so are these. */
static int
whole(double x)
{
	return x == floor(x) && fabs(x) < 0x1p31;
}

/* Sets which output coordinates along axis j have a coordinate of the input. */
static void
span(hu_moves *x, hu_shape in, int j, size_t length)
{
	long long d = (long long)length, start = x->start[j], step = x->step[j], low = 0, high = d,
		  most = (long long)in.d[x->axis[j]] - 1;

	if (step == 0) {
		high = start >= 0 && start <= most ? d : 0;
	} else {
		/* 0 <= start + step i <= most */
		long long by = step > 0 ? step : -step, least = step > 0 ? -start : start - most,
			  greatest = step > 0 ? most - start : start;
		low = least > 0 ? (least + by - 1) / by : 0;
		high = greatest < 0 ? 0 : greatest / by + 1 < d ? greatest / by + 1 : d;
	}
	x->first[j] = (size_t)(low < high ? low : 0);
	x->last[j] = (size_t)(low < high ? high : 0);
}

static hu_status
axis(hu_moves *x, const hu_call *c, hu_shape in, int j, size_t length)
{
	double start = hu_attr_num(c, hu_move_key[j].start, 0), step = hu_attr_num(c, hu_move_key[j].step, 1);
	int from = (int)hu_attr_num(c, hu_move_key[j].from, -1);

	if (from >= in.rank)
		return hu_fail(HU_EINVAL, "move: %s=%d, and the input has %d axes, counted from 0", hu_move_key[j].from,
			from, in.rank);
	for (int k = 0; from >= 0 && k < j; k++)
		if (x->axis[k] == from)
			return hu_fail(HU_EINVAL, "move: %s and %s are both axis %d: an axis is run over once",
				hu_move_key[k].from, hu_move_key[j].from, from);
	if (!whole(start) || !whole(step))
		return hu_fail(HU_EINVAL, "move: %s and %s are whole numbers below 2^31", hu_move_key[j].start,
			hu_move_key[j].step);
	x->axis[j] = from;
	x->start[j] = (long long)start;
	x->step[j] = (long long)step;
	x->first[j] = 0;
	x->last[j] = length;
	if (from >= 0)
		span(x, in, j, length);
	return HU_OK;
}

/* Joins the last axes whose elements are in equal steps, one behind the other, from the first to the last: those of a
   number that is repeated, or of a matrix that stays whole. */
static void
join(hu_moves *x, hu_shape out)
{
	int any = 0;

	for (int j = out.rank - 1; j >= 0 && x->first[j] == 0 && x->last[j] == out.d[j]; j--) {
		ptrdiff_t stride = x->axis[j] >= 0 ? (ptrdiff_t)x->stride[x->axis[j]] : 0,
			  each = (ptrdiff_t)x->step[j] * stride;
		if (out.d[j] == 1)
			continue;
		if (any && each != x->by * (ptrdiff_t)x->joined)
			return;
		x->by = any ? x->by : each;
		any = 1;
		x->joined *= out.d[j];
	}
}

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t stride = 1, rank = hu_attr_count(c, "rank", 0);
	int used[HU_RANK] = { 0 };

	if (rank > HU_RANK)
		return hu_fail(HU_EINVAL, "move: rank=%zu; at most %d axes are possible", rank, HU_RANK);
	*out = (hu_shape){ .rank = (int)rank, .d = { 1, 1, 1, 1 } };
	for (int j = 0; j < out->rank; j++)
		if (!(out->d[j] = hu_attr_count(c, hu_move_key[j].d, 0)))
			return hu_fail(HU_EINVAL,
				"move: rank=%zu needs %s, the output's length along axis %d, of 1 or more", rank,
				hu_move_key[j].d, j);
	x->fill = hu_attr_num(c, "fill", 0);
	x->flat = hu_attr_num(c, "flat", 0) != 0;
	x->joined = 1;
	x->by = 0;
	if (x->flat) {
		if (hu_count(*out) != hu_count(in[0]))
			return hu_fail(HU_EINVAL, "move: flat=1, and %zu elements do not make a shape of %zu",
				hu_count(in[0]), hu_count(*out));
		return HU_OK;
	}
	for (int j = 0; j < out->rank; j++) {
		HU_TRY(axis(x, c, in[0], j, out->d[j]));
		if (x->axis[j] >= 0)
			used[x->axis[j]] = 1;
	}
	for (int k = in[0].rank - 1; k >= 0; k--) {
		x->length[k] = in[0].d[k];
		x->stride[k] = stride;
		stride *= in[0].d[k];
		if (!used[k] && in[0].d[k] != 1)
			return hu_fail(HU_EINVAL, "move: no from0 … from%d names input axis %d, which has %zu elements",
				HU_RANK - 1, k, in[0].d[k]);
	}
	join(x, *out);
	return HU_OK;
}

/* The run of element i is to the end of what is joined, else to the next place along the last axis where fill begins or
   ends. */
static hu_moved
from(const hu_moves *x, size_t i)
{
	hu_moved m = { 0, 0, 0, 1, 1 };
	size_t left = x->joined - i % x->joined;

	if (x->flat)
		return (hu_moved){ 0, i, 0, hu_count(x->out) - i, 1 };
	for (int j = x->out.rank - 1; j >= 0; j--) {
		size_t d = x->out.d[j], to = i % d, stride = x->axis[j] >= 0 ? x->stride[x->axis[j]] : 0;
		int inside = to >= x->first[j] && to < x->last[j];
		i /= d;
		if (j == x->out.rank - 1) {
			m.run = (to < x->first[j] ? x->first[j] : inside ? x->last[j] : d) - to;
			m.step = (ptrdiff_t)x->step[j] * (ptrdiff_t)stride;
		}
		if (!inside)
			return (hu_moved){ -1, 0, x->fill, m.run, 0 };
		m.at += (size_t)(x->start[j] + x->step[j] * (long long)to) * stride;
	}
	if (x->joined > hu_last(x->out)) {
		m.run = left;
		m.step = x->by;
	}
	return m;
}

/* Rows are those of the output's last axis, or of all axes that are joined with it; elements that keep their order are
   one row. */
static size_t
row(const hu_moves *x)
{
	size_t last = hu_last(x->out);

	return x->flat ? hu_count(x->out) : x->joined > last ? x->joined : last;
}

static const hu_grad grad[] = {
	{ "move_dx", "d0 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_move = {
	.name = "move",
	.summary = "transposes, slices, pads, broadcasts, or reshapes",
	.min_in = 1,
	.max_in = 1,
	.nout = 1,
	.same = "=",
	.attrs = "rank d0 d1 d2 d3 d4 d5 d6 d7 from0 from1 from2 from3 from4 from5 from6 from7 "
		 "start0 start1 start2 start3 start4 start5 start6 start7 "
		 "step0 step1 step2 step3 step4 step5 step6 step7 fill flat",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from, .row = row, .apart = 1 },
	.grad = grad,
};
