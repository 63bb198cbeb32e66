/* SPDX-License-Identifier: Apache-2.0
   hardswish_dx x, dy: the gradient of hardswish: 0 up to x = -3, dy from 3 on, dy (x/3 + 1/2) between. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_cmp_si(x[0], -3) <= 0 && !mpfr_nan_p(x[0])) {
		mpfr_set_zero(y, 1);
		return;
	}
	mpfr_set_ui(y, 1, MPFR_RNDN);
	if (mpfr_nan_p(x[0]) || mpfr_cmp_ui(x[0], 3) < 0) {
		mpfr_div_ui(y, x[0], 3, MPFR_RNDN);
		mpfr_add_d(y, y, 0.5, MPFR_RNDN);
	}
	mpfr_mul(y, y, x[1], MPFR_RNDN);
}

const hu_op hu_op_hardswish_dx = {
	.name = "hardswish_dx", .summary = "gradient of hardswish", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_hardswish_dx, exact, 7 } },
	},
};
