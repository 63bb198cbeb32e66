/* SPDX-License-Identifier: Apache-2.0
   avgpool_dx: dx = dy / (height width) at every pixel of an image of that size. */
#include "lib/op/element/pointwise.h"

#define F(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_div(y, x[0], k[0], MPFR_RNDN);
}
HU_BLOCKS(blocks, F, exact)

static double
pixels(const hu_call *c)
{
	return (double)hu_attr_count(c, "height", 0) * (double)hu_attr_count(c, "width", 0);
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	size_t C = hu_last(in[0]->shape), each = (size_t)pixels(c) * C;

	hu_map_init(m, c, &blocks, in[0]->n / C * each, C);
	m->image = each;
	hu_map_add(m, in[0], HU_IMAGE);
	m->nk = 1;
	m->k[0] = pixels(c);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t height = hu_attr_count(c, "height", 0), width = hu_attr_count(c, "width", 0);

	if (in[0].rank != 2 || !hu_count(in[0]) || !height || !width)
		return hu_fail(HU_EINVAL,
			"avgpool_dx: the gradient must have rank 2, and the attributes height and width must be set");
	return hu_shape_settle(c, 0, out, hu_shape4(in[0].d[0], height, width, in[0].d[1]));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	k->flops = (double)hu_count(out[0]);
}

const hu_op hu_op_avgpool_dx = {
	.name = "avgpool_dx", .summary = "gradient of avgpool", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "height width", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .shape = shape, .cost = cost },
	.family = &hu_family_pointwise, .pointwise = &(hu_pointwise){ .prepare = prepare },
};
