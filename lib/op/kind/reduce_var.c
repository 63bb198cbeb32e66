/* SPDX-License-Identifier: Apache-2.0
   reduce_var: y = sum((x - mean)^2) / (n - correction) over some axes, where mean is that of the n elements; correction
   is 0 unless given, and 1 for the unbiased variance of a sample. Both sums run by the fixed tree. */
#include "lib/op/axis/axes.h"
#include "lib/op/reduce/exact_sum.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define SQUARE(S, T) out[0][i] = hu_deviation2##S(c, in[0][i], in[1][i])
#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(square, SQUARE, NULL)
HU_BLOCKS(divide, DIVIDE, NULL)

/* What the sum of squares is divided by. */
static int
degrees(const hu_call *c, const hu_groups *g, double *k)
{
	k[0] = (double)hu_groups_size(g) - hu_attr_num(c, "correction", 0);
	return 1;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups0(c, in);
	size_t first, stride, size = hu_groups_size(&g);
	mpfr_t mean, x;
	double k;

	(void)out;
	degrees(c, &g, &k);
	mpfr_inits2(hu_sum_bits(in[0]), mean, x, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		hu_groups_place(&g, element[i], &first, &stride);
		hu_exact_sum(mean, in[0], NULL, first, size, stride);
		mpfr_div_ui(mean, mean, size, MPFR_RNDN);
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_zero(exact[i], 1);
		for (size_t j = 0; j < size; j++) {
			hu_exact_get(x, in[0], first + j * stride);
			mpfr_sub(x, x, mean, MPFR_RNDN);
			mpfr_sqr(x, x, MPFR_RNDN);
			mpfr_add(exact[i], exact[i], x, MPFR_RNDN);
		}
		mpfr_div_d(exact[i], exact[i], k, MPFR_RNDN);
	}
	mpfr_clears(mean, x, (mpfr_ptr)NULL);
	return HU_OK;
}

/* Of an element a sum, a difference, a square and its sum; of a group two quotients. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	k->flops = 4.0 * (double)hu_count(in[0]) + 2.0 * (double)hu_count(out[0]);
}

const hu_op hu_op_reduce_var = {
	.name = "reduce_var", .summary = "variance over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_AXES_ATTRS " correction", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_NONE,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = { .shape = hu_axes_shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = { /* of each group: 0 the sum, 1 the mean, 2 the sum of squares around it, 3 the result */
			{ .kind = HU_STAT_SUM, .groups = hu_axes_groups0, .blocks = &same,
				.from = { { HU_FROM_INPUT, 0, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &divide,
				.constants = hu_stats_size, .from = { { HU_FROM_STAT, 0, HU_EACH } } },
			{ .kind = HU_STAT_SUM, .groups = hu_axes_groups0, .blocks = &square,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(1) } },
			{ .kind = HU_STAT_EACH, .groups = hu_axes_groups0, .blocks = &divide, .constants = degrees,
				.from = { { HU_FROM_STAT, 2, HU_EACH } } },
		},
		.output = { { .stat = 3 } },
	},
};
