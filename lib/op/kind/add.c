/* SPDX-License-Identifier: Apache-2.0
   add: y = a + b. */
#include "lib/op/element/pointwise.h"

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL, NULL },
	{ "=", "d0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_add = {
	.name = "add", .summary = "elementwise sum of two tensors", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .magnitude = hu_pair_magnitude, .swamping = hu_pair_swamping },
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_add, hu_pair_exact, 1 } },
	},
	.grad = grad,
};
