/* SPDX-License-Identifier: Apache-2.0
   log_softmax: y = (x - top) - log(sum(exp(x - top))) along an axis, by default the last, where top is the largest
   element; the sum by the fixed tree. */
#include "lib/op/axis/axes.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/axis/exact_exp.h"

#define TERM(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define LOG(S, T) out[0][i] = hu_numeric_log##S(c, in[0][i])
#define F(S, T) out[0][i] = hu_log_softmax##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(logarithm, LOG, NULL)
HU_BLOCKS(blocks, F, NULL)
HU_DDW_LOOPS(log_softmax_term, term, TERM)
HU_DDW_LOOPS(log_softmax, blocks, F)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axis_groups(c, in);
	size_t now = (size_t)-1, group, at, first, stride;
	mpfr_t sum, top;

	(void)out;
	mpfr_inits2(HU_EXACT_BITS, sum, top, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		if (group != now) {
			now = group;
			hu_groups_place(&g, group, &first, &stride);
			hu_exact_exp_others(in[0], first, hu_groups_size(&g), stride, top, sum);
			mpfr_log1p(sum, sum, MPFR_RNDN);
			mpfr_neg(sum, sum, MPFR_RNDN);
		}
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_sub(exact[i], exact[i], top, MPFR_RNDN);
		hu_exact_add_odd(exact[i], exact[i], sum);
	}
	mpfr_clears(sum, top, (mpfr_ptr)NULL);
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_reduce_dims d = { 1, 1, 1 };

	(void)out;
	k->flops = hu_axis_of(c, in[0], &d) == HU_OK
			   ? 6.0 * (double)hu_count(in[0]) + (double)d.outer * (double)d.inner
			   : 0;
}

static const hu_grad grad[] = {
	{ "log_softmax_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_log_softmax = {
	.name = "log_softmax", .summary = "logarithm of softmax along an axis", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "axis", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = hu_axis_shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { /* of each group: 0 the largest element, 1 the sum of exponentials, 2 its logarithm */
			{ .kind = HU_STAT_SHIFT, .groups = hu_axis_groups },
			{ .kind = HU_STAT_SUM, .groups = hu_axis_groups, .blocks = &term,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
			{ .kind = HU_STAT_EACH, .groups = hu_axis_groups, .blocks = &logarithm,
				.from = { { HU_FROM_STAT, 1, HU_EACH } } },
		},
		.output = { { .map = { .groups = hu_axis_groups, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(2) } } } },
	},
	.grad = grad,
};
