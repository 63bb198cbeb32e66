/* SPDX-License-Identifier: Apache-2.0
   rsqrt_dx y, dy: the gradient of rsqrt, whose result is y: (-dy / 2) (y (y y)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_pow_ui(y, x[0], 3, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_div_si(y, y, -2, MPFR_RNDN);
}

const hu_op hu_op_rsqrt_dx = {
	.name = "rsqrt_dx", .summary = "gradient of rsqrt, from its result", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_rsqrt_dx, exact, 4 } },
	},
};
