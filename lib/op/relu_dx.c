/* SPDX-License-Identifier: Apache-2.0
   relu_dx: dx = dy where the output was above 0 (or NaN), +0 elsewhere. */
#include "lib/op/map.h"

#define F(S, T) out[0][i] = hu_relu_dx##S(c, in[0][i], in[1][i])
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[1], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}
HU_BLOCKS(blocks, F, exact)

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, &blocks, in[0]->n, 1);
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_EACH);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_expect(c, 1, in[1], in[0]));
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

const hu_op hu_op_relu_dx = {
	.name = "relu_dx", .summary = "gradient of relu, from its output",
	.min_in = 2, .max_in = 2, .nout = 1, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose,
};
