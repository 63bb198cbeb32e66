/* SPDX-License-Identifier: Apache-2.0
   softmax: y = exp(x - top) / sum(exp(x - top)) along an axis, by default the last, where top is the largest element;
   the sum by the fixed tree. */
#include "lib/op/axis/axes.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/axis/exact_exp.h"

#define TERM(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define SHARE(S, T) out[0][i] = hu_softmax##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(share, SHARE, NULL)
HU_DDW_LOOPS(softmax_term, term, TERM)
HU_DDW_LOOPS(softmax, share, SHARE)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axis_groups(c, in);
	size_t now = (size_t)-1, group, at, first, stride;
	mpfr_t sum, top, one;
	hu_exact_exp e;

	(void)out;
	hu_exact_exp_init(&e);
	mpfr_inits2(HU_EXACT_BITS, sum, top, one, (mpfr_ptr)NULL);
	mpfr_set_ui(one, 1, MPFR_RNDN);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		if (group != now) {
			now = group;
			hu_groups_place(&g, group, &first, &stride);
			hu_exact_exp_others(in[0], first, hu_groups_size(&g), stride, top, sum);
			hu_exact_add_odd(sum, sum, one);
		}
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_sub(exact[i], exact[i], top, MPFR_RNDN);
		hu_exact_exp_of(&e, exact[i]);
		mpfr_div(exact[i], exact[i], sum, MPFR_RNDN);
	}
	hu_exact_exp_clear(&e);
	mpfr_clears(sum, top, one, (mpfr_ptr)NULL);
	return HU_OK;
}

static const hu_grad grad[] = {
	{ "softmax_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_softmax = {
	.name = "softmax", .summary = "shares of exponentials along an axis", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "axis", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = hu_axis_shape, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		/* the largest element, the sum of exponentials of the distances to it, and the shares */
		.flops = 7,
		.rule = { /* of each group: 0 the largest element, 1 the sum of exponentials */
			{ .kind = HU_STAT_SHIFT, .groups = hu_axis_groups },
			{ .kind = HU_STAT_SUM, .groups = hu_axis_groups, .blocks = &term,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
		},
		.output = { { .map = { .groups = hu_axis_groups, .blocks = &share,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(1) } } } },
	},
	.grad = grad,
};
