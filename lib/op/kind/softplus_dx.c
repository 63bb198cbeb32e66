/* SPDX-License-Identifier: Apache-2.0
   softplus_dx x, dy: the gradient of softplus, dy sigmoid(x). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_neg(y, x[0], MPFR_RNDN);
	mpfr_exp(y, y, MPFR_RNDN);
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_div(y, x[1], y, MPFR_RNDN);
}

const hu_op hu_op_softplus_dx = {
	.name = "softplus_dx", .summary = "gradient of softplus", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_softplus_dx, exact, 2 } },
	},
};
