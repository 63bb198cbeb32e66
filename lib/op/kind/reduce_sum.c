/* SPDX-License-Identifier: Apache-2.0
   reduce_sum: y = the sum of x over some axes, by the fixed tree. */
#include "lib/op/axis/axes.h"

static const hu_grad grad[] = {
	{ "reduce_sum_dx", "d0 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_reduce_sum = {
	.name = "reduce_sum", .summary = "sum over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_reduce,
	.reduce = &(hu_reduce_own){ .shape = hu_axes_of },
	.grad = grad,
};
