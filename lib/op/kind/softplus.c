/* SPDX-License-Identifier: Apache-2.0
   softplus: y = log(1 + exp(x)), computed as max(x, 0) + log(1 + exp(-|x|)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	hu_pointwise_softplus(y, x[0]);
}

static const hu_grad grad[] = {
	{ "softplus_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_softplus = {
	.name = "softplus", .summary = "smooth rectifier", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_softplus, exact, 6 } },
	},
	.grad = grad,
};
