/* SPDX-License-Identifier: Apache-2.0
   reduce_max: y = the largest element over some axes; NaN if one is NaN. Of zeros the first one wins. */
#include "lib/op/axis/extreme.h"

static const hu_grad grad[] = {
	{ "reduce_max_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_reduce_max = {
	.name = "reduce_max", .summary = "largest element over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.same = "=",
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_extreme, .extreme = &(hu_extreme_own){ .smallest = 0 },
	.grad = grad,
};
