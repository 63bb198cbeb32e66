/* SPDX-License-Identifier: Apache-2.0
   selu_dx x, dy: the gradient of selu: s dy where x > 0, else dy s alpha exp(x). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_set_str(t, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
	mpfr_mul(y, x[1], t, MPFR_RNDN);
	if (!mpfr_nan_p(x[0]) && mpfr_sgn(x[0]) <= 0) {
		mpfr_set_str(t, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
		mpfr_mul(y, y, t, MPFR_RNDN);
		mpfr_exp(t, x[0], MPFR_RNDN);
		mpfr_mul(y, y, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

const hu_op hu_op_selu_dx = {
	.name = "selu_dx", .summary = "gradient of selu", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_selu_dx, exact, 5 } },
	},
};
