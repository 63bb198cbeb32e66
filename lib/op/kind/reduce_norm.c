/* SPDX-License-Identifier: Apache-2.0
   reduce_norm: y = sqrt(sum(x^2)), the Euclidean norm over some axes; the sum by the fixed tree. */
#include "lib/op/axis/axes.h"

static const hu_grad grad[] = {
	{ "reduce_norm_dx", "i0 o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_reduce_norm = {
	.name = "reduce_norm", .summary = "Euclidean norm over axes", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_reduce,
	.reduce = &(hu_reduce_own){ .shape = hu_axes_of, .term = HU_TERM_SQUARE, .finish = HU_FINISH_ROOT },
	.grad = grad,
};
