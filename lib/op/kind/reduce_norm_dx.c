/* SPDX-License-Identifier: Apache-2.0
   reduce_norm_dx x, y, dy: the gradient of reduce_norm, whose result is y: dx = dy (x / y), and 0 where y is 0. */
#include "lib/op/axis/axes.h"

#define SAME(S, T) (out[0][i] = in[0][i], out[1][i] = in[1][i])
#define F(S, T) out[0][i] = hu_norm2_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(blocks, F, NULL)

static void
slope(mpfr_t y, const mpfr_t *of)
{
	if (!mpfr_nan_p(of[0]) && mpfr_sgn(of[0]) <= 0) {
		mpfr_set_zero(y, 1);
		return;
	}
	mpfr_div(y, y, of[0], MPFR_RNDN);
	mpfr_mul(y, y, of[1], MPFR_RNDN);
}

const hu_op hu_op_reduce_norm_dx = {
	.name = "reduce_norm_dx", .summary = "gradient of reduce_norm", .min_in = 3, .max_in = 3, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = hu_axes_shape_dx0, .reference = hu_axes_reference_dx0 },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.flops = 3, .slope = slope,
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &same, .results = 2,
			.from = { { HU_FROM_INPUT, 1, HU_EACH }, { HU_FROM_INPUT, 2, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups0, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(1) } } } },
	},
};
