/* SPDX-License-Identifier: Apache-2.0
   mish: y = x tanh(log(1 + exp(x))). */
#include "lib/op/element/pointwise.h"

/* log(1 + exp(x)) */
static void
softplus(mpfr_t y, const mpfr_t x)
{
	mpfr_t t;

	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_abs(t, x, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_log1p(t, t, MPFR_RNDN);
	if (mpfr_nan_p(x) || mpfr_sgn(x) > 0)
		mpfr_add(y, x, t, MPFR_RNDN);
	else
		mpfr_set(y, t, MPFR_RNDN);
	mpfr_clear(t);
}

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	softplus(y, x[0]);
	mpfr_tanh(y, y, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
}

const hu_op hu_op_mish = {
	.name = "mish", .summary = "x times the hyperbolic tangent of softplus", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_mish, exact, 8 } },
	},
};
