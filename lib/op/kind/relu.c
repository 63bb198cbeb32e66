/* SPDX-License-Identifier: Apache-2.0
   relu: y = x if x is above 0, +0 if it is not; NaN stays NaN. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[0], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

static const hu_grad grad[] = {
	{ "relu_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_relu = {
	.name = "relu", .summary = "rectifier: negative values become 0", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_relu, exact, 1 } },
	},
	.grad = grad,
};
