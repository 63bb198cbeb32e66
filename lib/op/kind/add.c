/* SPDX-License-Identifier: Apache-2.0
   add: y = a + b. */
#include "lib/op/element/pointwise.h"

#define F(S, T) out[0][i] = hu_sum2##S(c, in[0][i], in[1][i])
HU_BLOCKS(blocks, F, hu_pair_exact)
HU_POINTWISE(&blocks, 1, HU_EACH, HU_EACH)

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	(void)out;
	return hu_pair_swamping(c, in, HU_EACH, element, n, env, count);
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	(void)out;
	return hu_pair_magnitude(c, in, HU_EACH, element, n, all);
}

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL, NULL },
	{ "=", "d0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_add = {
	.name = "add", .summary = "elementwise sum of two tensors", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .magnitude = magnitude, .swamping = swamping,
	},
	.grad = grad,
};
