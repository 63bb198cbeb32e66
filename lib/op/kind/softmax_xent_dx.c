/* SPDX-License-Identifier: Apache-2.0
   softmax_xent_dx: dlogits = dloss w / sum(w) (p - onehot(label)); with label_smoothing s, of C classes, the target is
   (1 - s) onehot(label) + s / C. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/stats.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define WEIGHT(S, T) out[0][i] = hu_xent_weight##S(c, in[0][i], in[1][i], in[2][i])
#define F(S, T) out[0][i] = hu_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i])
#define SMOOTH(S, T) out[0][i] = hu_smooth_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(weight, WEIGHT, NULL)

/* k[0]: sum of the weights; x: p, label, class, weight, dloss */
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_equal_p(x[1], x[2]))
		mpfr_sub_ui(y, x[0], 1, MPFR_RNDN);
	else
		mpfr_set(y, x[0], MPFR_RNDN);
	mpfr_mul(y, y, x[4], MPFR_RNDN);
	mpfr_mul(y, y, x[3], MPFR_RNDN);
}
HU_BLOCKS(blocks, F, exact)

/* k: the smoothing and the number of classes */
static void
exact_smooth(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t target;

	(void)out;
	mpfr_init2(target, HU_EXACT_BITS);
	mpfr_div(target, k[0], k[1], MPFR_RNDN);
	if (mpfr_equal_p(x[1], x[2])) {
		mpfr_add_ui(target, target, 1, MPFR_RNDN);
		mpfr_sub(target, target, k[0], MPFR_RNDN);
	}
	mpfr_sub(y, x[0], target, MPFR_RNDN);
	mpfr_mul(y, y, x[4], MPFR_RNDN);
	mpfr_mul(y, y, x[3], MPFR_RNDN);
	mpfr_clear(target);
}
HU_BLOCKS(smooth, SMOOTH, exact_smooth)

static int is_smooth(const hu_call *c) { return hu_attr_num(c, "label_smoothing", 0) != 0; }

static hu_groups
classes(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_rows(in[0]->n, hu_last(in[0]->shape));
}

static hu_groups
all_weights(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_one(in[2]->n);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *y)
{
	hu_groups g = classes(c, in);
	hu_map m;

	hu_map_init(&m, c, is_smooth(c) ? &smooth : &blocks, g.n, g.channels);
	m.nk = hu_stats_smoothing(c, &g, m.k);
	hu_map_add(&m, in[0], HU_EACH);
	hu_map_add(&m, in[1], HU_ROW);
	hu_map_add(&m, NULL, HU_INDEX);
	hu_map_add(&m, in[2], HU_ROW);
	hu_map_add(&m, in[3], HU_ONE);
	HU_TRY(hu_map_reference(&m, out, element, n, y));
	hu_exact_over_weights(y, n, in[2]);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL,
			"softmax_xent_dx: the probabilities must have rank 2 or more, the last of the classes");
	HU_TRY(hu_shape_length(c, 1, in[1], hu_count(in[0]) / hu_last(in[0])));
	HU_TRY(hu_shape_length(c, 2, in[2], hu_count(in[0]) / hu_last(in[0])));
	HU_TRY(hu_shape_length(c, 3, in[3], 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	double n = (double)hu_count(in[0]), rows = (double)(hu_count(in[0]) / hu_last(in[0]));

	(void)out;
	/* 1, or 1 - s, goes only into the label's element. */
	k->flops = is_smooth(c) ? 4 * n + 4 * rows : n + 4 * rows;
}

static const hu_stats_own smoothed = {
	.rule = {
		/* 0 the sum of the weights, 1 the factor of p less its target for each row */
		{ .kind = HU_STAT_SUM, .groups = all_weights, .blocks = &same,
			.from = { { HU_FROM_INPUT, 2, HU_EACH } } },
		{ .kind = HU_STAT_EACH, .groups = classes, .blocks = &weight,
			.from = { { HU_FROM_INPUT, 2, HU_EACH }, { HU_FROM_INPUT, 3, HU_ONE },
				{ HU_FROM_STAT, 0, HU_ONE } } },
	},
	.output = { { .map = { .groups = classes, .blocks = &smooth, .constants = hu_stats_smoothing,
		.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_ROW }, HU_OF_INDEX,
			HU_OF_GROUP(1) } } } },
};

const hu_op hu_op_softmax_xent_dx = {
	.name = "softmax_xent_dx", .summary = "gradient of softmax_xent with respect to the logits", .min_in = 4,
	.max_in = 4, .nout = 1, .attrs = "label_smoothing", .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.key = "label_smoothing", .with = &smoothed,
		.rule = {
			/* 0 the sum of the weights, 1 the factor of p - onehot for each row */
			{ .kind = HU_STAT_SUM, .groups = all_weights, .blocks = &same,
				.from = { { HU_FROM_INPUT, 2, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = classes, .blocks = &weight,
				.from = { { HU_FROM_INPUT, 2, HU_EACH }, { HU_FROM_INPUT, 3, HU_ONE },
					{ HU_FROM_STAT, 0, HU_ONE } } },
		},
		.output = { { .map = { .groups = classes, .blocks = &blocks,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_ROW }, HU_OF_INDEX,
				HU_OF_GROUP(1) } } } },
	},
};
