/* SPDX-License-Identifier: Apache-2.0
   reduce_squares_dx x, dy: the gradient of reduce_squares, dx = dy (x + x). */
#include "lib/op/axis/axes.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define F(S, T) out[0][i] = hu_squares_dx##S(c, in[0][i], in[1][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(blocks, F, NULL)

static void
slope(mpfr_t y, const mpfr_t *of)
{
	mpfr_mul(y, y, of[0], MPFR_RNDN);
	mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
}

const hu_op hu_op_reduce_squares_dx = {
	.name = "reduce_squares_dx", .summary = "gradient of reduce_squares", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = hu_axes_shape_dx0, .reference = hu_axes_reference_dx0 },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.flops = 2, .slope = slope,
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &same,
			.from = { { HU_FROM_INPUT, 1, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups0, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } } } },
	},
};
