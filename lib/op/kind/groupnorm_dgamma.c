/* SPDX-License-Identifier: Apache-2.0
   groupnorm_dgamma x, mean, rstd, dy: y = sum(dy (x - mean) rstd) over all rows, one sum for each element of the last
   axis: the gradient of a normalisation's factors, where every element comes with its own group's statistics. */
#include "lib/op/reduce/norm.h"
#include "lib/op/reduce/stats.h"

#define TERM(S, T) out[0][i] = hu_scaled##S(c, in[3][i], hu_normal##S(c, in[0][i], in[1][i], in[2][i]))
HU_BLOCKS(term, TERM, NULL)

static hu_groups
columns(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_columns(in[0]->n, hu_last(in[0]->shape));
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape);
	mpfr_t t, x;

	(void)c;
	(void)out;
	mpfr_inits2(HU_EXACT_BITS, t, x, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		mpfr_set_zero(exact[i], 1);
		for (size_t j = element[i]; j < in[0]->n; j += C) {
			hu_exact_get(t, in[0], j);
			hu_exact_get(x, in[1], j);
			mpfr_sub(t, t, x, MPFR_RNDN);
			for (int k = 2; k < 4; k++) {
				hu_exact_get(x, in[k], j);
				mpfr_mul(t, t, x, MPFR_RNDN);
			}
			mpfr_add(exact[i], exact[i], t, MPFR_RNDN);
		}
	}
	mpfr_clears(t, x, (mpfr_ptr)NULL);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 1 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "groupnorm_dgamma: the input must have rank 1 or more");
	for (int k = 1; k < 4; k++)
		HU_TRY(hu_shape_expect(c, k, in[k], in[0]));
	return hu_shape_settle(c, 0, out, hu_shape1(hu_last(in[0])));
}

const hu_op hu_op_groupnorm_dgamma = {
	.name = "groupnorm_dgamma", .summary = "gradient of groupnorm's factors", .min_in = 4, .max_in = 4, .nout = 1,
	.cls = HU_CLASS_NORM, .parity = HU_PARITY_NONE,
	.undefined = HU_UNDEFINED_DIVISION,
	.own = { .shape = shape, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.flops = 4,
		.rule = { { .kind = HU_STAT_SUM, .groups = columns, .blocks = &term,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_EACH },
				{ HU_FROM_INPUT, 2, HU_EACH }, { HU_FROM_INPUT, 3, HU_EACH } } } },
		.output = { { .stat = 0 } },
	},
};
