/* SPDX-License-Identifier: Apache-2.0
   relu_dx: dx = dy if the output was above 0 (or NaN), else +0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[1], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

const hu_op hu_op_relu_dx = {
	.name = "relu_dx", .summary = "gradient of relu, from its output", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_relu_dx, exact, 1 } },
	},
};
