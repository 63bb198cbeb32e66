/* SPDX-License-Identifier: Apache-2.0
   erf_dx x, dy: the gradient of erf, dy (2/sqrt(pi) exp(-x^2)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_sqr(y, x[0], MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
	mpfr_exp(y, y, MPFR_RNDN);
	mpfr_const_pi(t, MPFR_RNDN);
	mpfr_sqrt(t, t, MPFR_RNDN);
	mpfr_div(y, y, t, MPFR_RNDN);
	mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_clear(t);
}

const hu_op hu_op_erf_dx = {
	.name = "erf_dx", .summary = "gradient of erf", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_erf_dx, exact, 5 } },
	},
};
