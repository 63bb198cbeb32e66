/* SPDX-License-Identifier: Apache-2.0
   bias: y = x + b, with one b for each feature or channel. */
#include "lib/op/element/pointwise.h"

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL, NULL },
	{ "bias_db", "d0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_bias = {
	.name = "bias", .summary = "adds one number a feature or channel", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .magnitude = hu_pair_magnitude, .swamping = hu_pair_swamping },
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_CHANNEL }, .form = { { HU_FORMULA_add, hu_pair_exact, 1 } },
	},
	.grad = grad,
};
