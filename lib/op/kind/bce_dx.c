/* SPDX-License-Identifier: Apache-2.0
   bce_dx p, t, dy: the gradient of bce: dy (p - t) / ((1 - p) p), whose denominator is at least 1e-12. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_ui_sub(t, 1, x[0], MPFR_RNDN);
	mpfr_mul(t, t, x[0], MPFR_RNDN);
	if (mpfr_cmp_d(t, 1e-12) < 0)
		mpfr_set_d(t, 1e-12, MPFR_RNDN);
	mpfr_sub(y, x[0], x[1], MPFR_RNDN);
	mpfr_mul(y, y, x[2], MPFR_RNDN);
	mpfr_div(y, y, t, MPFR_RNDN);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

const hu_op hu_op_bce_dx = {
	.name = "bce_dx", .summary = "gradient of bce", .min_in = 3, .max_in = 3, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH },
		.form = { { HU_FORMULA_bce_dx, exact, 6 } },
	},
};
