/* SPDX-License-Identifier: Apache-2.0
   mish: y = x tanh(log(1 + exp(x))). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	hu_pointwise_softplus(y, x[0]);
	mpfr_tanh(y, y, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "mish_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_mish = {
	.name = "mish", .summary = "x times the hyperbolic tangent of softplus", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_mish, exact, 8 } },
	},
	.grad = grad,
};
