/* SPDX-License-Identifier: Apache-2.0
   mish_dx x, dy: the gradient of mish, dy (t + x s (1 - t^2)) with t = tanh(log(1 + exp(x))) and
   s = 1 / (1 + exp(-x)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t, s;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, s, (mpfr_ptr)NULL);
	hu_pointwise_softplus(t, x[0]);
	mpfr_sech(y, t, MPFR_RNDN);
	mpfr_sqr(y, y, MPFR_RNDN); /* 1 - t^2 */
	mpfr_tanh(t, t, MPFR_RNDN);
	mpfr_neg(s, x[0], MPFR_RNDN);
	mpfr_exp(s, s, MPFR_RNDN);
	mpfr_add_ui(s, s, 1, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
	mpfr_div(y, y, s, MPFR_RNDN);
	mpfr_add(y, y, t, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_clears(t, s, (mpfr_ptr)NULL);
}

const hu_op hu_op_mish_dx = {
	.name = "mish_dx", .summary = "gradient of mish", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_mish_dx, exact, 14 } },
	},
};
