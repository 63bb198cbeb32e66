/* SPDX-License-Identifier: Apache-2.0
   bias: y = x + b, one b a feature or channel. */
#include "lib/op/reduce.h"

#define F(S, T) out[0][i] = hu_sum2##S(c, in[0][i], in[1][i])
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_add(y, x[0], x[1], MPFR_RNDN);
}
HU_BLOCKS(blocks, F, exact)

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, &blocks, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_CHANNEL);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_length(c, 1, in[1], hu_last(in[0])));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 1 * (double)hu_count(in[0]);
}

HU_MAP_FACES

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env, hu_swamp *count)
{
	(void)out;
	return hu_pair_swamping(c, in, HU_CHANNEL, element, n, env, count);
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++)
		all[i] = hu_abs(hu_get(in[0], element[i])) + hu_abs(hu_get(in[1], element[i] % hu_last(in[0]->shape)));
	return HU_OK;
}

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL },
	{ "bias_db", "d0", "i1", NULL },
	{ NULL, NULL, NULL, NULL },
};

const hu_op hu_op_bias = {
	.name = "bias", .summary = "adds one number a feature or channel",
	.min_in = 2, .max_in = 2, .nout = 1, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose,
	.magnitude = magnitude, .swamping = swamping, .grad = grad,
};
