/* SPDX-License-Identifier: Apache-2.0
   reduce_squares_dx x, dy: the gradient of reduce_squares, dx = dy (x + x). */
#include "lib/op/axis/axes.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define F(S, T) out[0][i] = hu_squares_dx##S(c, in[0][i], in[1][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(blocks, F, NULL)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t group, at;
	mpfr_t dy;

	(void)out;
	mpfr_init2(dy, HU_EXACT_BITS);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], element[i]);
		hu_exact_get(dy, in[1], group);
		mpfr_mul(exact[i], exact[i], dy, MPFR_RNDN);
		mpfr_mul_2ui(exact[i], exact[i], 1, MPFR_RNDN);
	}
	mpfr_clear(dy);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	return hu_axes_shape_dx(c, in, out, 0);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 2.0 * (double)hu_count(in[0]);
}

const hu_op hu_op_reduce_squares_dx = {
	.name = "reduce_squares_dx", .summary = "gradient of reduce_squares", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &same,
			.from = { { HU_FROM_INPUT, 1, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups0, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } } } },
	},
};
