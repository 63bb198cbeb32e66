/* SPDX-License-Identifier: Apache-2.0
   sigmoid_xent: p = sigmoid of each logit x; loss = sum(w xent) / sum(w) with xent = log(1 + exp(-x)) where the label
   is 1 and log(1 + exp(x)) where it is 0: binary cross-entropy of logits. */
#include "lib/op/reduce/stats.h"

#define LOSS(S, T) (out[0][i] = hu_binary_xent##S(c, in[0][i], in[1][i], in[2][i]), out[1][i] = in[2][i])
#define MEAN(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
#define SHARE(S, T) out[0][i] = hu_numeric_sigmoid##S(c, in[0][i])
HU_BLOCKS(loss, LOSS, NULL)
HU_BLOCKS(mean, MEAN, NULL)
HU_BLOCKS(share, SHARE, NULL)

static hu_groups
all(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_one(in[0]->n);
}

static hu_status
check_labels(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	for (size_t i = 0; i < in[1]->n; i++) {
		double l = hu_get(in[1], i);
		if (l != 0 && l != 1)
			return hu_fail(HU_EINVAL, "sigmoid_xent: label %g of row %zu is neither 0 nor 1", l, i);
	}
	return HU_OK;
}

/* log(1 + exp(z)) of z = -x where label is set, else x */
static void
exact_xent(mpfr_t y, const mpfr_t x, int label)
{
	mpfr_t t;

	mpfr_init2(t, HU_EXACT_BITS);
	mpfr_abs(t, x, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_log1p(y, t, MPFR_RNDN);
	if (label ? mpfr_sgn(x) < 0 : mpfr_sgn(x) > 0) {
		mpfr_abs(t, x, MPFR_RNDN);
		mpfr_add(y, y, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

static void
exact_loss(hu_tensor *const *in, mpfr_t y)
{
	mpfr_t x, t, weight;

	mpfr_inits2(HU_EXACT_BITS, x, t, weight, (mpfr_ptr)NULL);
	mpfr_set_zero(y, 1);
	mpfr_set_zero(weight, 1);
	for (size_t i = 0; i < in[0]->n; i++) {
		hu_exact_get(x, in[0], i);
		exact_xent(t, x, hu_get(in[1], i) != 0);
		if (mpfr_nan_p(x))
			mpfr_set_nan(t);
		hu_exact_get(x, in[2], i);
		mpfr_mul(t, t, x, MPFR_RNDN);
		mpfr_add(y, y, t, MPFR_RNDN);
		hu_map_exact_add(weight, in[2], i);
	}
	mpfr_div(y, y, weight, MPFR_RNDN);
	mpfr_clears(x, t, weight, (mpfr_ptr)NULL);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	HU_TRY(check_labels(c, in));
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (out == 0) {
			exact_loss(in, exact[i]);
			continue;
		}
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_neg(exact[i], exact[i], MPFR_RNDN);
		mpfr_exp(exact[i], exact[i], MPFR_RNDN);
		mpfr_add_ui(exact[i], exact[i], 1, MPFR_RNDN);
		mpfr_ui_div(exact[i], 1, exact[i], MPFR_RNDN);
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (!hu_count(in[0]))
		return hu_fail(HU_EINVAL, "sigmoid_xent: there are no logits");
	HU_TRY(hu_shape_length(c, 1, in[1], hu_count(in[0])));
	HU_TRY(hu_shape_length(c, 2, in[2], hu_count(in[0])));
	HU_TRY(hu_shape_settle(c, 0, out, hu_shape0()));
	return hu_shape_settle(c, 1, out, in[0]);
}

/* For each logit: its sign by the label (3), log(1 + exp) (6), the weight, two sums, the sigmoid; then the quotient. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (c->nout > 1 ? 13.0 : 12.0) * (double)hu_count(in[0]) + 1;
}

static const hu_grad grad[] = {
	{ "sigmoid_xent_dx", "o1 i1 i2 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_sigmoid_xent = {
	.name = "sigmoid_xent", .summary = "sigmoid and weighted mean binary cross-entropy of logits", .min_in = 3,
	.max_in = 3, .nout = 2, .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .cost = cost, .reference = reference },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.check = check_labels,
		.rule = { /* 0 the sum of weighted losses, 1 that of the weights, 2 their quotient */
			{ .kind = HU_STAT_SUM, .groups = all, .blocks = &loss, .results = 2,
				.from = { { HU_FROM_INPUT, 0, HU_EACH }, { HU_FROM_INPUT, 1, HU_EACH },
					{ HU_FROM_INPUT, 2, HU_EACH } } },
			{ .kind = HU_STAT_EACH, .groups = all, .blocks = &mean,
				.from = { { HU_FROM_STAT, 0, HU_EACH }, { HU_FROM_STAT, 1, HU_EACH } } },
		},
		.output = {
			{ .stat = 2 },
			{ .map = { .groups = all, .blocks = &share, .from = { { HU_FROM_INPUT, 0, HU_EACH } } } },
		},
	},
	.grad = grad,
};
