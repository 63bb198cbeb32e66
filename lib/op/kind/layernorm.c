/* SPDX-License-Identifier: Apache-2.0
   layernorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each row's own statistics. */
#include "lib/op/reduce/norm.h"

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t C = hu_last(in[0]);

	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "layernorm: the input must have rank 2 or more");
	HU_TRY(hu_shape_length(c, 1, in[1], C));
	HU_TRY(hu_shape_length(c, 2, in[2], C));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	HU_TRY(hu_shape_settle(c, 1, out, hu_shape1(hu_count(in[0]) / C)));
	return hu_shape_settle(c, 2, out, hu_shape1(hu_count(in[0]) / C));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 8.0 * (double)hu_count(in[0]) + 5.0 * (double)(hu_count(in[0]) / hu_last(in[0]));
}

static const hu_grad grad[] = {
	{ "layernorm_dx", "i0 i1 o1 o2 d0", "i0 i1 i2", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_layernorm = {
	.name = "layernorm", .summary = "normalises each row", .min_in = 3, .max_in = 3, .nout = 3, .attrs = "eps",
	.cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT, .float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.undefined = HU_UNDEFINED_DIVISION,
	.own = { .shape = shape, .cost = cost },
	.family = &hu_family_norm, .norm = &(hu_norm_own){ .how = HU_ROW },
	.grad = grad,
};
