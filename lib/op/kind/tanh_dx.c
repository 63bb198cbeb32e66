/* SPDX-License-Identifier: Apache-2.0
   tanh_dx: dx = dy (1 - y^2), from the output. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sqr(y, x[0], MPFR_RNDN);
	mpfr_ui_sub(y, 1, y, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
}

const hu_op hu_op_tanh_dx = {
	.name = "tanh_dx", .summary = "gradient of tanh, from its output", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_tanh_dx, exact, 3 } },
	},
};
