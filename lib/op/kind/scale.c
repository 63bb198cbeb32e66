/* SPDX-License-Identifier: Apache-2.0
   scale: y = x s factor, from left to right; s may be absent. */
#include "lib/op/element/map.h"

#define ONE(S, T) out[0][i] = hu_scaled##S(c, in[0][i], c->k[0])
#define TWO(S, T) out[0][i] = hu_scaled##S(c, hu_scaled##S(c, in[0][i], in[1][i]), c->k[0])

static void
exact_one(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, x[0], k[0], MPFR_RNDN);
}

static void
exact_two(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, x[0], x[1], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
}
HU_BLOCKS(one, ONE, exact_one)
HU_BLOCKS(two, TWO, exact_two)

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, c->nin > 1 ? &two : &one, in[0]->n, 1);
	hu_map_add(m, in[0], HU_EACH);
	if (c->nin > 1)
		hu_map_add(m, in[1], HU_ONE);
	m->nk = 1;
	m->k[0] = hu_attr_num(c, "factor", 1);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (c->nin > 1)
		HU_TRY(hu_shape_length(c, 1, in[1], 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)c->nin * (double)hu_count(in[0]);
}

HU_MAP_FACES

const hu_op hu_op_scale = {
	.name = "scale", .summary = "multiplies by a scalar and a constant", .min_in = 1, .max_in = 2, .nout = 1,
	.attrs = "factor", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
};
