/* SPDX-License-Identifier: Apache-2.0
   softmax_xent: p = softmax of each row of logits (a row, or a pixel of an image), shifted by the row's maximum;
   loss = sum(w xent) / sum(w) with xent = log(sum exp) - logit of the label. With label_smoothing s, as in PyTorch, the
   label's logit gives way to 1 - s of it and s of the mean of the row's logits. */
#include "lib/op/axis/exact_exp.h"
#include "lib/op/element/ddw_loops.h"
#include "lib/op/reduce/stats.h"

#define TERM(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define SHARE(S, T) out[0][i] = hu_softmax##S(c, in[0][i], in[1][i], in[2][i])
#define LOSS(S, T) (out[0][i] = hu_xent##S(c, in[0][i], in[1][i], in[2][i], in[3][i]), out[1][i] = in[3][i])
#define BELOW(S, T) out[0][i] = hu_below##S(c, in[0][i], in[1][i])
#define TARGET(S, T) out[0][i] = hu_smooth_target##S(c, in[0][i], in[1][i], in[2][i])
#define SMOOTH(S, T) (out[0][i] = hu_smooth_xent##S(c, in[0][i], in[1][i], in[2][i]), out[1][i] = in[2][i])
#define MEAN(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(share, SHARE, NULL)
HU_DDW_LOOPS(softmax_xent_term, term, TERM)
HU_DDW_LOOPS(softmax_xent_share, share, SHARE)
HU_BLOCKS(loss, LOSS, NULL)
HU_BLOCKS(below, BELOW, NULL)
HU_BLOCKS(target, TARGET, NULL)
HU_BLOCKS(smooth, SMOOTH, NULL)
HU_BLOCKS(mean, MEAN, NULL)

static hu_groups
classes(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_rows(in[0]->n, hu_last(in[0]->shape));
}

static hu_groups
losses(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_one(in[1]->n);
}

static hu_status
check_labels(const hu_call *c, hu_tensor *const *in)
{
	const hu_tensor *labels = in[1];
	size_t n = hu_last(in[0]->shape);

	(void)c;
	for (size_t i = 0; i < labels->n; i++) {
		double l = hu_get(labels, i);
		if (!(l >= 0 && l < (double)n && l == (double)(size_t)l))
			return hu_fail(HU_EINVAL, "softmax_xent: label %g of row %zu is not one of %zu classes", l, i,
				n);
	}
	return HU_OK;
}

/* Sets y to what the sum of exponentials is compared with: row i's logit of the label, or if it is smoothed, by s, a
   mean of that and the mean of all. t is room for a number. */
static void
exact_target(hu_tensor *const *in, size_t i, double s, mpfr_t t, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape);

	hu_exact_get(y, in[0], i * C + (size_t)hu_get(in[1], i));
	if (s == 0)
		return;
	mpfr_mul_d(t, y, s, MPFR_RNDN);
	mpfr_sub(y, y, t, MPFR_RNDN);
	for (size_t j = 0; j < C; j++) {
		hu_exact_get(t, in[0], i * C + j);
		mpfr_mul_d(t, t, s, MPFR_RNDN);
		mpfr_div_ui(t, t, (unsigned long)C, MPFR_RNDN);
		mpfr_add(y, y, t, MPFR_RNDN);
	}
}

static void
reference_loss(const hu_call *c, hu_tensor *const *in, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape);
	double s = hu_attr_num(c, "label_smoothing", 0);
	mpfr_t sum, t, u, weight, x;

	mpfr_inits2(HU_EXACT_BITS, sum, t, u, weight, x, (mpfr_ptr)NULL);
	mpfr_set_zero(y, 1);
	mpfr_set_zero(weight, 1);
	for (size_t i = 0; i < in[1]->n; i++) {
		hu_exact_exp_others(in[0], i * C, C, 1, t, sum);
		mpfr_log1p(sum, sum, MPFR_RNDN);
		exact_target(in, i, s, u, x);
		mpfr_sub(t, t, x, MPFR_RNDN);
		hu_exact_add_odd(t, t, sum);
		hu_exact_get(x, in[2], i);
		mpfr_mul(t, t, x, MPFR_RNDN);
		hu_exact_add_odd(y, y, t);
		hu_map_exact_add(weight, in[2], i);
	}
	mpfr_div(y, y, weight, MPFR_RNDN);
	mpfr_clears(sum, t, u, weight, x, (mpfr_ptr)NULL);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape), row = (size_t)-1;
	mpfr_t sum, top, one;

	HU_TRY(check_labels(c, in));
	mpfr_inits2(HU_EXACT_BITS, sum, top, one, (mpfr_ptr)NULL);
	mpfr_set_ui(one, 1, MPFR_RNDN);
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (out == 0) {
			reference_loss(c, in, exact[i]);
			continue;
		}
		if (element[i] / C != row) {
			row = element[i] / C;
			hu_exact_exp_others(in[0], row * C, C, 1, top, sum);
			hu_exact_add_odd(sum, sum, one);
		}
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_sub(exact[i], exact[i], top, MPFR_RNDN);
		mpfr_exp(exact[i], exact[i], MPFR_RNDN);
		mpfr_div(exact[i], exact[i], sum, MPFR_RNDN);
	}
	mpfr_clears(sum, top, one, (mpfr_ptr)NULL);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "softmax_xent: the logits must have rank 2 or more, the last of the classes");
	HU_TRY(hu_shape_length(c, 1, in[1], hu_count(in[0]) / hu_last(in[0])));
	HU_TRY(hu_shape_length(c, 2, in[2], hu_count(in[0]) / hu_last(in[0])));
	HU_TRY(hu_shape_settle(c, 0, out, hu_shape0()));
	return hu_shape_settle(c, 1, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	/* Counts the largest logit, the sum of exponentials of the distances to it, and the probabilities if they are
	   wanted. */
	int smoothing = hu_attr_num(c, "label_smoothing", 0) != 0;
	k->flops = ((c->nout > 1 ? 7.0 : 4.0) + 2 * smoothing) * (double)hu_count(in[0]) +
		   (6.0 + 5 * smoothing) * (double)(hu_count(in[0]) / hu_last(in[0])) + 1;
}

static const hu_grad grad[] = {
	{ "softmax_xent_dx", "o1 i1 i2 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static const hu_stats_own smoothed = {
	.check = check_labels,
	.rule = {
		/* Of each row: 0 the largest logit, 1 the label's logit, 2 the sum of exponentials, 3 that of the
		   distances to the largest, 4 what the label asks for. */
		{ .kind = HU_STAT_SHIFT, .groups = classes },
		{ .kind = HU_STAT_PICK, .groups = classes, .b = 1 },
		{ .kind = HU_STAT_SUM, .groups = classes, .blocks = &term,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
		{ .kind = HU_STAT_SUM, .groups = classes, .blocks = &below,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
		{ .kind = HU_STAT_EACH, .groups = classes, .blocks = &target, .constants = hu_stats_smoothing,
			.from = { HU_OF_GROUP(1), HU_OF_GROUP(0), HU_OF_GROUP(3) } },
		/* 5 the sum of weighted losses, 6 that of the weights, 7 their quotient */
		{ .kind = HU_STAT_SUM, .groups = losses, .blocks = &smooth, .results = 2,
			.from = { { HU_FROM_STAT, 4, HU_EACH }, { HU_FROM_STAT, 2, HU_EACH },
				{ HU_FROM_INPUT, 2, HU_EACH } } },
		{ .kind = HU_STAT_EACH, .groups = losses, .blocks = &mean,
			.from = { { HU_FROM_STAT, 5, HU_EACH }, { HU_FROM_STAT, 6, HU_EACH } } },
	},
	.output = {
		{ .stat = 7 },
		{ .map = { .groups = classes, .blocks = &share,
			.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0), HU_OF_GROUP(2) } } },
	},
};

const hu_op hu_op_softmax_xent = {
	.name = "softmax_xent", .summary = "softmax and weighted mean cross-entropy", .min_in = 3, .max_in = 3,
	.nout = 2, .attrs = "label_smoothing", .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.undefined = HU_UNDEFINED_DOMAIN,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.key = "label_smoothing", .with = &smoothed,
		.check = check_labels,
		.rule = {
			/* Of each row: 0 the largest logit, 1 the label's logit, 2 the sum of exponentials. */
			{ .kind = HU_STAT_SHIFT, .groups = classes },
			{ .kind = HU_STAT_PICK, .groups = classes, .b = 1 },
			{ .kind = HU_STAT_SUM, .groups = classes, .blocks = &term,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0) } },
			/* 3 the sum of weighted losses, 4 that of the weights, 5 their quotient */
			{ .kind = HU_STAT_SUM, .groups = losses, .blocks = &loss, .results = 2,
				.from = { { HU_FROM_STAT, 1, HU_EACH }, { HU_FROM_STAT, 0, HU_EACH },
					{ HU_FROM_STAT, 2, HU_EACH }, { HU_FROM_INPUT, 2, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = losses, .blocks = &mean,
				.from = { { HU_FROM_STAT, 3, HU_EACH }, { HU_FROM_STAT, 4, HU_EACH } } },
		},
		.output = {
			{ .stat = 5 },
			{ .map = { .groups = classes, .blocks = &share,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, HU_OF_GROUP(0),
					HU_OF_GROUP(2) } } },
		},
	},
	.grad = grad,
};
