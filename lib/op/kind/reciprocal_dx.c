/* SPDX-License-Identifier: Apache-2.0
   reciprocal_dx y, dy: the gradient of reciprocal, whose result is y: -(dy (y y)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sqr(y, x[0], MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
}

const hu_op hu_op_reciprocal_dx = {
	.name = "reciprocal_dx", .summary = "gradient of reciprocal, from its result", .min_in = 2, .max_in = 2,
	.nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_reciprocal_dx, exact, 3 } },
	},
};
