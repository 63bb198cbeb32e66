/* SPDX-License-Identifier: Apache-2.0
   reduce_norm_dx x, y, dy: the gradient of reduce_norm, whose result is y: dx = dy (x / y), and 0 where y is 0. */
#include "lib/op/axis/axes.h"

#define SAME(S, T) (out[0][i] = in[0][i], out[1][i] = in[1][i])
#define F(S, T) out[0][i] = hu_norm2_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(blocks, F, NULL)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t group, at;
	mpfr_t x;

	(void)out;
	mpfr_init2(x, HU_EXACT_BITS);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[1], group);
		if (!mpfr_nan_p(exact[i]) && mpfr_sgn(exact[i]) <= 0) {
			mpfr_set_zero(exact[i], 1);
			continue;
		}
		hu_exact_get(x, in[0], element[i]);
		mpfr_div(exact[i], x, exact[i], MPFR_RNDN);
		hu_exact_get(x, in[2], group);
		mpfr_mul(exact[i], exact[i], x, MPFR_RNDN);
	}
	mpfr_clear(x);
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
	k->flops = 3.0 * (double)hu_count(in[0]);
}

const hu_op hu_op_reduce_norm_dx = {
	.name = "reduce_norm_dx", .summary = "gradient of reduce_norm", .min_in = 3, .max_in = 3, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &same, .results = 2,
			.from = { { HU_FROM_INPUT, 1, HU_EACH }, { HU_FROM_INPUT, 2, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups0, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(1) } } } },
	},
};
