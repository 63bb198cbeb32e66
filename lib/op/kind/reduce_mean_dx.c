/* SPDX-License-Identifier: Apache-2.0
   reduce_mean_dx dy, x: the gradient of reduce_mean: every element's is that of its mean, divided by the number of
   elements. Of x only the shape is read. */
#include "lib/op/axis/axes.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define QUOTIENT(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(quotient, QUOTIENT, NULL)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups1(c, in);

	HU_TRY(hu_axes_reference_dx1(c, in, out, element, n, exact));
	for (size_t i = 0; i < n; i++)
		mpfr_div_ui(exact[i], exact[i], hu_groups_size(&g), MPFR_RNDN);
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]);
	k->reads = 1;
}

const hu_op hu_op_reduce_mean_dx = {
	.name = "reduce_mean_dx", .summary = "gradient of reduce_mean", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = hu_axes_shape_dx1, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { { .kind = HU_STAT_EACH, .groups = hu_axes_groups1, .blocks = &quotient,
			.from = { { HU_FROM_INPUT, 0, HU_EACH } }, .constants = hu_stats_size } },
		.output = { { .map = { .groups = hu_axes_groups1, .blocks = &same,
			.from = { HU_OF_GROUP(0) } } } },
	},
};
