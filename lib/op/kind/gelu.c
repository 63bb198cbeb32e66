/* SPDX-License-Identifier: Apache-2.0
   gelu: y = x/2 (1 + erf(x / sqrt 2)). With approx=tanh, y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is
   then the exact function that results are compared with. */
#include "lib/op/element/pointwise.h"

/* Uses erfc, because 1 + erf would cancel. */
static void
exact_erf(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sqrt_ui(y, 2, MPFR_RNDN);
	mpfr_div(y, x[0], y, MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
	mpfr_erfc(y, y, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
	mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}

/* Uses (1 + tanh u) / 2 = 1 / (1 + exp(-2u)). */
static void
exact_tanh(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_sqr(t, x[0], MPFR_RNDN);
	mpfr_mul_ui(t, t, 44715, MPFR_RNDN);
	mpfr_div_ui(t, t, 1000000, MPFR_RNDN);
	mpfr_add_ui(t, t, 1, MPFR_RNDN);
	mpfr_mul(t, t, x[0], MPFR_RNDN);
	mpfr_const_pi(y, MPFR_RNDN);
	mpfr_ui_div(y, 8, y, MPFR_RNDN);
	mpfr_sqrt(y, y, MPFR_RNDN);
	mpfr_mul(t, t, y, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_add_ui(t, t, 1, MPFR_RNDN);
	mpfr_div(y, x[0], t, MPFR_RNDN);
	mpfr_clear(t);
}

static const hu_grad grad[] = {
	{ "gelu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_gelu = {
	.name = "gelu", .summary = "Gaussian error linear unit", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "approx", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT, .float32 = HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .which = hu_approx_tanh, .check = hu_approx_check,
		.form = { { HU_FORMULA_gelu, exact_erf, 5 }, { HU_FORMULA_gelu_tanh, exact_tanh, 9 } },
	},
	.grad = grad,
};
