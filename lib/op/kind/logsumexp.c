/* SPDX-License-Identifier: Apache-2.0
   logsumexp: y = top + log(sum(exp(x - top))) over some axes, where top is the largest element; the sum by the fixed
   tree. */
#include "lib/op/axis/axes.h"
#include "lib/op/axis/exact_exp.h"

#define TERM(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define F(S, T) out[0][i] = hu_numeric_add##S(c, in[0][i], hu_numeric_log##S(c, in[1][i]))
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(blocks, F, NULL)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t first, stride;
	mpfr_t sum, top;

	(void)out;
	mpfr_inits2(HU_EXACT_BITS, sum, top, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		hu_groups_place(&g, element[i], &first, &stride);
		hu_exact_exp_others(in[0], first, hu_groups_size(&g), stride, top, sum);
		mpfr_log1p(sum, sum, MPFR_RNDN);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_add_odd(exact[i], top, sum);
	}
	mpfr_clears(sum, top, (mpfr_ptr)NULL);
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	k->flops = 4.0 * (double)hu_count(in[0]) + 2.0 * (double)hu_count(out[0]);
}

static const hu_grad grad[] = {
	{ "logsumexp_dx", "i0 o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_logsumexp = {
	.name = "logsumexp", .summary = "logarithm of the sum of exponentials over axes", .min_in = 1, .max_in = 1,
	.nout = 1, .attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = hu_axes_shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { /* of each group: 0 the largest element, 1 the sum of exponentials, 2 the result */
			{ .kind = HU_STAT_SHIFT, .groups = hu_axes_groups0 },
			{ .kind = HU_STAT_SUM, .groups = hu_axes_groups0, .blocks = &term,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
			{ .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &blocks,
				.from = { { HU_FROM_STAT, 0, HU_EACH }, { HU_FROM_STAT, 1, HU_EACH } } },
		},
		.output = { { .stat = 2 } },
	},
	.grad = grad,
};
