/* SPDX-License-Identifier: Apache-2.0
   reduce_sum_dx dy, x: the gradient of reduce_sum: every element's is that of its sum. Of x only the shape is read. */
#include "lib/op/axis/axes.h"

#define SAME(S, T) out[0][i] = in[0][i]
HU_BLOCKS(same, SAME, NULL)

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	(void)out;
	k->flops = 0;
	k->reads = 1;
}

const hu_op hu_op_reduce_sum_dx = {
	.name = "reduce_sum_dx", .summary = "gradient of reduce_sum", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = hu_axes_shape_dx1, .cost = cost, .reference = hu_axes_reference_dx1 },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups1, .blocks = &same,
			.from = { { HU_FROM_INPUT, 0, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups1, .blocks = &same,
			.from = { HU_OF_GROUP(0) } } } },
	},
};
