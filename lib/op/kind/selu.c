/* SPDX-License-Identifier: Apache-2.0
   selu: y = s x above 0 and s alpha (exp(x) - 1) below, with s = 1.0507009873554804934193349852946 and alpha =
   1.6732632423543772848170429916717 (Klambauer and others 2017). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0) {
		mpfr_set(y, x[0], MPFR_RNDN);
	} else {
		mpfr_set_str(t, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
		mpfr_expm1(y, x[0], MPFR_RNDN);
		mpfr_mul(y, y, t, MPFR_RNDN);
	}
	mpfr_set_str(t, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
	mpfr_mul(y, y, t, MPFR_RNDN);
	mpfr_clear(t);
}

static const hu_grad grad[] = {
	{ "selu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_selu = {
	.name = "selu", .summary = "scaled exponential linear unit", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_selu, exact, 4 } },
	},
	.grad = grad,
};
