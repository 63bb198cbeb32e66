/* SPDX-License-Identifier: Apache-2.0
   grad_norm: the Euclidean norm of all inputs together. Squares and sums are in the compute format: the fixed tree in
   each tensor, then the tensors' sums in order. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/stats.h"

#include <math.h>

#define SQUARE(S, T) out[0][i] = hu_square##S(c, in[0][i])
#define ROOT(S, T) out[0][i] = hu_numeric_sqrt##S(c, in[0][i])
HU_BLOCKS(square, SQUARE, NULL)
HU_BLOCKS(root, ROOT, NULL)

static hu_groups
one(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	(void)in;
	return hu_groups_one(1);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	mpfr_t x, sum;

	(void)out;
	(void)element;
	mpfr_init2(x, hu_sum_bits(in[0]));
	mpfr_init2(sum, hu_sum_bits(in[0]));
	mpfr_set_zero(sum, 1);
	for (int k = 0; k < c->nin; k++) {
		hu_exact_sum(x, in[k], in[k], 0, in[k]->n, 1);
		mpfr_add(sum, sum, x, MPFR_RNDN);
	}
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		mpfr_sqrt(exact[i], sum, MPFR_RNDN);
	}
	mpfr_clear(x);
	mpfr_clear(sum);
	return HU_OK;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	size_t n = 0;

	for (int k = 0; k < c->nin; k++)
		n += in[k]->n;
	/* Besides the tree there are a square, an addition per tensor, and the root. The root halves relative errors,
	   which the bound ignores. A square that underflows changes the sum by at most the smallest number s, so n of
	   them change the root by at most sqrt(n s). */
	return hu_reduce_roundings(
		c, in, out, n, (size_t)c->nin + 1, sqrt((double)n * hu_smallest(hu_format_of(c->fmt.compute))));
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	(void)in;
	return hu_shape_settle(c, 0, out, hu_shape0());
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = 1; /* the root */
	for (int i = 0; i < c->nin; i++)
		k->flops += 2.0 * (double)hu_count(in[i]);
}

const hu_op hu_op_grad_norm = {
	.name = "grad_norm", .summary = "Euclidean norm of several tensors together", .min_in = 1, .max_in = -1,
	.nout = 1, .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.role = HU_ROLE_NORM,
	.own = { .shape = shape, .cost = cost, .reference = reference, .roundings = roundings },
	.family = &hu_family_stats,
	.stats = &(hu_stats_own){
		.rule = {
			{ .kind = HU_STAT_INPUTS, .blocks = &square },
			{ .kind = HU_STAT_EACH, .groups = one, .blocks = &root,
				.from = { { HU_FROM_STAT, 0, HU_EACH } } },
		},
		.output = { { .stat = 1 } },
	},
};
