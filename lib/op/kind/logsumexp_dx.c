/* SPDX-License-Identifier: Apache-2.0
   logsumexp_dx x, y, dy: the gradient of logsumexp, whose result is y: dx = dy exp(x - y). */
#include "lib/op/axis/axes.h"

#define SAME(S, T) (out[0][i] = in[0][i], out[1][i] = in[1][i])
#define F(S, T) out[0][i] = hu_logsumexp_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(blocks, F, NULL)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t group, at;
	mpfr_t y;

	(void)out;
	mpfr_init2(y, HU_EXACT_BITS);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], element[i]);
		hu_exact_get(y, in[1], group);
		mpfr_sub(exact[i], exact[i], y, MPFR_RNDN);
		mpfr_exp(exact[i], exact[i], MPFR_RNDN);
		hu_exact_get(y, in[2], group);
		mpfr_mul(exact[i], exact[i], y, MPFR_RNDN);
	}
	mpfr_clear(y);
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

const hu_op hu_op_logsumexp_dx = {
	.name = "logsumexp_dx", .summary = "gradient of logsumexp, from its result", .min_in = 3, .max_in = 3,
	.nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &same, .results = 2,
			.from = { { HU_FROM_INPUT, 1, HU_EACH }, { HU_FROM_INPUT, 2, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axes_groups0, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(1) } } } },
	},
};
