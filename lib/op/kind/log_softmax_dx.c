/* SPDX-License-Identifier: Apache-2.0
   log_softmax_dx y, dy: dx = dy - exp(y) sum(dy) along the axis of log_softmax, whose result y is; the sum by the fixed
   tree. */
#include "lib/op/axis/axes.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/axis/exact_exp.h"
#include "lib/op/reduce/exact_sum.h"

#define TERM(S, T) out[0][i] = in[0][i]
#define F(S, T) out[0][i] = hu_log_softmax_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(blocks, F, NULL)
HU_DDW_LOOPS(log_softmax_dx, blocks, F)

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axis_groups(c, in);
	size_t now = (size_t)-1, group, at, first, stride;
	mpfr_prec_t bits = hu_sum_bits(in[1]);
	mpfr_t sum, y;

	(void)out;
	mpfr_inits2(bits, sum, y, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		if (group != now) {
			now = group;
			hu_groups_place(&g, group, &first, &stride);
			hu_exact_sum(sum, in[1], NULL, first, hu_groups_size(&g), stride);
		}
		mpfr_set_prec(exact[i], bits); /* the difference may cancel */
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_exp(exact[i], exact[i], MPFR_RNDN);
		mpfr_mul(exact[i], exact[i], sum, MPFR_RNDN);
		hu_exact_get(y, in[1], element[i]);
		mpfr_neg(exact[i], exact[i], MPFR_RNDN);
		hu_exact_add_odd(exact[i], exact[i], y);
	}
	mpfr_clears(sum, y, (mpfr_ptr)NULL);
	return HU_OK;
}

const hu_op hu_op_log_softmax_dx = {
	.name = "log_softmax_dx", .summary = "gradient of log_softmax, from its result", .min_in = 2, .max_in = 2,
	.nout = 1, .attrs = "axis", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = hu_axis_shape, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.flops = 4,
		.rule = { { .kind = HU_STAT_SUM, .groups = hu_axis_groups, .blocks = &term,
			.from = { { HU_FROM_INPUT, 1, HU_EACH } } } },
		.output = { { .map = { .groups = hu_axis_groups, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_EACH },
				HU_OF_GROUP(0) } } } },
	},
};
