/* SPDX-License-Identifier: Apache-2.0
   sqrt_dx: dx = dy / 2y, from the output. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_mul_2ui(y, x[0], 1, MPFR_RNDN);
	mpfr_div(y, x[1], y, MPFR_RNDN);
}

const hu_op hu_op_sqrt_dx = {
	.name = "sqrt_dx", .summary = "gradient of sqrt, from its output", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_sqrt_dx, exact, 2 } },
	},
};
