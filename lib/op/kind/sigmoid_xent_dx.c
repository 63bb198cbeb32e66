/* SPDX-License-Identifier: Apache-2.0
   sigmoid_xent_dx: dx = dloss w / sum(w) (p - label). */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/stats.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define F(S, T) out[0][i] = hu_binary_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_BLOCKS(same, SAME, NULL)

/* x: p, label, weight, dloss; the reference divides by the sum of the weights. */
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sub(y, x[0], x[1], MPFR_RNDN);
	mpfr_mul(y, y, x[3], MPFR_RNDN);
	mpfr_mul(y, y, x[2], MPFR_RNDN);
}
HU_BLOCKS(blocks, F, exact)

static hu_groups
all(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_one(in[0]->n);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *y)
{
	hu_map m;

	hu_map_init(&m, c, &blocks, in[0]->n, in[0]->n);
	for (int k = 0; k < 3; k++)
		hu_map_add(&m, in[k], HU_EACH);
	hu_map_add(&m, in[3], HU_ONE);
	HU_TRY(hu_map_reference(&m, out, element, n, y));
	hu_exact_over_weights(y, n, in[2]);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_length(c, 1, in[1], hu_count(in[0])));
	HU_TRY(hu_shape_length(c, 2, in[2], hu_count(in[0])));
	HU_TRY(hu_shape_length(c, 3, in[3], 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

const hu_op hu_op_sigmoid_xent_dx = {
	.name = "sigmoid_xent_dx", .summary = "gradient of sigmoid_xent with respect to the logits", .min_in = 4,
	.max_in = 4, .nout = 1, .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.flops = 5, /* the sum of the weights, then a difference, two products and a quotient each */
		.rule = { { .kind = HU_STAT_SUM, .groups = all, .blocks = &same,
			.from = { { HU_FROM_INPUT, 2, HU_EACH } } } },
		.output = { { .map = { .groups = all, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_EACH },
				{ HU_FROM_INPUT, 2, HU_EACH }, { HU_FROM_INPUT, 3, HU_ONE },
				{ HU_FROM_STAT, 0, HU_ONE } } } } },
	},
};
