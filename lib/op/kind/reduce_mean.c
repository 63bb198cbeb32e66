/* SPDX-License-Identifier: Apache-2.0
   reduce_mean: y = the mean of x over some axes: the sum by the fixed tree, then one division. */
#include "lib/op/axis/axes.h"

static const hu_grad grad[] = {
	{ "reduce_mean_dx", "d0 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_reduce_mean = {
	.name = "reduce_mean", .summary = "mean over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_APEX,
	.family = &hu_family_reduce,
	.reduce = &(hu_reduce_own){ .shape = hu_axes_of, .finish = HU_FINISH_MEAN },
	.grad = grad,
};
