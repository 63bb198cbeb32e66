/* SPDX-License-Identifier: Apache-2.0
   grad_norm: the Euclidean norm of all inputs together. Squares and sums are in the compute format: the fixed tree in
   each tensor, then the tensors' sums in order. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/reduce.h"

#include <math.h>

#define F(S, T) out[0][i] = hu_square##S(c, in[0][i])
HU_BLOCKS(blocks, F, NULL)

static hu_bounded
norm(const hu_call *c, hu_tensor *const *in, int with_errors)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_bounded all = { 0, 0 };

	for (int k = 0; k < c->nin; k++) {
		hu_stat sum = hu_stat_new(1, with_errors);
		hu_bounded x;
		hu_map m;
		hu_map_init(&m, c, &blocks, in[k]->n, 1);
		hu_map_add(&m, in[k], HU_EACH);
		hu_sum_columns(&m, &sum, 1);
		x.v = hu_get(&sum.t, 0);
		x.e = with_errors ? sum.e[0] : 0;
		all = k ? hu_bounded_add(f, all, x) : x;
		hu_stat_free(&sum);
	}
	return hu_bounded_sqrt(f, all);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_store(c, env, out[0], 0, norm(c, in, 0).v);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_bounded x = norm(c, in, 1);

	(void)element;
	for (size_t i = 0; i < n; i++)
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), x);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd all = hu_dd_of(0);

	for (int k = 0; k < c->nin; k++) {
		hu_stat_dd sum;
		hu_map m;
		hu_stat_dd_init(&sum, 1);
		hu_map_init(&m, c, &blocks, in[k]->n, 1);
		hu_map_add(&m, in[k], HU_EACH);
		hu_sum_columns_dd(&m, in, sink, &sum, 1);
		all = hu_dd_add(all, hu_stat_dd_get(&sum, 0));
		hu_stat_dd_release(&sum);
	}
	all = hu_dd_sqrt(all);
	return hu_enclose_list(c, in, out, element, n, sink, &all, NULL);
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
	for (int i = 0; i < c->nin; i++)
		k->flops += 2.0 * (double)hu_count(in[i]);
}

const hu_op hu_op_grad_norm = {
	.name = "grad_norm", .summary = "Euclidean norm of several tensors together", .min_in = 1, .max_in = -1,
	.nout = 1, .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.role = HU_ROLE_NORM,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .roundings = roundings,
	},
};
