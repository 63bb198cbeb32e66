/* SPDX-License-Identifier: Apache-2.0
   groupnorm x, gamma, beta: y = (x - mean) / sqrt(var + eps) gamma + beta, where each row (the last axis) is a group
   with its own statistics and each of its elements has a factor and an offset of its own; then each row's mean and
   1 / sqrt(var + eps). The sums run by the fixed tree. */
#include "lib/op/reduce/norm.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/reduce/stats.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define SQUARE(S, T) out[0][i] = hu_deviation2##S(c, in[0][i], in[1][i])
#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
#define INVERSE(S, T) out[0][i] = hu_norm_rstd##S(c, in[0][i])
#define APPLY(S, T) out[0][i] = hu_norm_apply##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(square, SQUARE, NULL)
HU_BLOCKS(divide, DIVIDE, NULL)
HU_BLOCKS(inverse, INVERSE, NULL)
HU_BLOCKS(apply, APPLY, NULL)
HU_DDW_LOOPS(groupnorm_square, square, SQUARE)
HU_DDW_LOOPS(groupnorm, apply, APPLY)

static hu_groups
rows(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_rows(in[0]->n, hu_last(in[0]->shape));
}

static int
epsilon(const hu_call *c, const hu_groups *g, double *k)
{
	(void)g;
	k[0] = hu_norm_eps(c);
	return 1;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	double eps = hu_norm_eps(c);
	size_t size = hu_last(in[0]->shape);
	hu_norm_exact e;

	hu_norm_exact_init(&e, in[0]);
	for (size_t i = 0; i < n; i++) {
		hu_norm_exact_of(&e, in[0], HU_ROW, out ? element[i] : element[i] / size, eps);
		mpfr_set_prec(exact[i], mpfr_get_prec(e.mean));
		if (out)
			mpfr_set(exact[i], out == 1 ? e.mean : e.rstd, MPFR_RNDN);
		else
			hu_norm_exact_apply(&e, in, element[i], element[i], exact[i]);
	}
	hu_norm_exact_clear(&e);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "groupnorm: the input must have rank 2 or more");
	HU_TRY(hu_shape_expect(c, 1, in[1], in[0]));
	HU_TRY(hu_shape_expect(c, 2, in[2], in[0]));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	for (int k = 1; k < 3; k++)
		HU_TRY(hu_shape_settle(c, k, out, hu_shape1(hu_count(in[0]) / hu_last(in[0]))));
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 8.0 * (double)hu_count(in[0]) + 5.0 * (double)(hu_count(in[0]) / hu_last(in[0]));
}

const hu_op hu_op_groupnorm = {
	.name = "groupnorm", .summary = "normalises each row, with a factor of each element", .min_in = 3, .max_in = 3,
	.nout = 3, .attrs = "eps", .cls = HU_CLASS_NORM, .parity = HU_PARITY_NONE,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.undefined = HU_UNDEFINED_DIVISION,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		/* of each row: 0 the sum, 1 the mean, 2 the sum of squares around it, 3 the variance, 4 rstd */
		.rule = {
			{ .kind = HU_STAT_SUM, .groups = rows, .blocks = &same,
				.from = { { HU_FROM_INPUT, 0, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = rows, .blocks = &divide, .constants = hu_stats_size,
				.from = { { HU_FROM_STAT, 0, HU_EACH } } },
			{ .kind = HU_STAT_SUM, .groups = rows, .blocks = &square,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(1) } },
			{ .kind = HU_STAT_EACH, .groups = rows, .blocks = &divide, .constants = hu_stats_size,
				.from = { { HU_FROM_STAT, 2, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = rows, .blocks = &inverse, .constants = epsilon,
				.from = { { HU_FROM_STAT, 3, HU_EACH } } },
		},
		.output = {
			{ .map = { .groups = rows, .blocks = &apply,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_EACH },
					{ HU_FROM_INPUT, 2, HU_EACH }, HU_OF_GROUP(1), HU_OF_GROUP(4) } } },
			{ .stat = 1 },
			{ .stat = 4 },
		},
	},
};
