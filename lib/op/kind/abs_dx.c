/* SPDX-License-Identifier: Apache-2.0
   abs_dx: dx = dy if x is above 0 or NaN, -dy if it is below 0, +0 if it is 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[1], MPFR_RNDN);
	else if (mpfr_sgn(x[0]) < 0)
		mpfr_neg(y, x[1], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

const hu_op hu_op_abs_dx = {
	.name = "abs_dx", .summary = "gradient of abs, from its input", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_abs_dx, exact, 4 } },
	},
};
