/* SPDX-License-Identifier: Apache-2.0
   gelu_dx: dx = dy gelu'(x), from gelu's input; approx as in gelu. */
#include "lib/op/element/pointwise.h"

/* gelu'(x) = erfc(-x / sqrt 2) / 2 + x exp(-x^2 / 2) / sqrt(2 pi) */
static void
exact_erf(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_sqr(y, x[0], MPFR_RNDN);
	mpfr_div_2ui(y, y, 1, MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
	mpfr_exp(y, y, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
	mpfr_const_pi(t, MPFR_RNDN);
	mpfr_mul_2ui(t, t, 1, MPFR_RNDN);
	mpfr_sqrt(t, t, MPFR_RNDN);
	mpfr_div(y, y, t, MPFR_RNDN);
	mpfr_sqrt_ui(t, 2, MPFR_RNDN);
	mpfr_div(t, x[0], t, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_erfc(t, t, MPFR_RNDN);
	mpfr_div_2ui(t, t, 1, MPFR_RNDN);
	mpfr_add(y, y, t, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_clear(t);
}

/* gelu'(x) = s + 2 x s (1 - s) u'(x), with s = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + a x^3) */
static void
exact_tanh(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t a, root, u, d, e;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), a, root, u, d, e, (mpfr_ptr)NULL);
	mpfr_set_ui(a, 44715, MPFR_RNDN);
	mpfr_div_ui(a, a, 1000000, MPFR_RNDN);
	mpfr_const_pi(root, MPFR_RNDN);
	mpfr_ui_div(root, 2, root, MPFR_RNDN);
	mpfr_sqrt(root, root, MPFR_RNDN);
	mpfr_sqr(d, x[0], MPFR_RNDN);
	mpfr_mul(d, d, a, MPFR_RNDN);
	mpfr_add_ui(u, d, 1, MPFR_RNDN);
	mpfr_mul(u, u, x[0], MPFR_RNDN);
	mpfr_mul(u, u, root, MPFR_RNDN);
	mpfr_mul_ui(d, d, 3, MPFR_RNDN);
	mpfr_add_ui(d, d, 1, MPFR_RNDN);
	mpfr_mul(d, d, root, MPFR_RNDN);
	mpfr_mul_2ui(u, u, 1, MPFR_RNDN);
	mpfr_exp(e, u, MPFR_RNDN);
	mpfr_neg(u, u, MPFR_RNDN);
	mpfr_exp(u, u, MPFR_RNDN);
	mpfr_add_ui(u, u, 1, MPFR_RNDN);
	mpfr_add_ui(e, e, 1, MPFR_RNDN);
	mpfr_div(y, x[0], e, MPFR_RNDN); /* 1 - s = 1 / (1 + exp(2u)) */
	mpfr_mul(y, y, d, MPFR_RNDN);
	mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_div(y, y, u, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_clears(a, root, u, d, e, (mpfr_ptr)NULL);
}

const hu_op hu_op_gelu_dx = {
	.name = "gelu_dx", .summary = "gradient of gelu, from its input", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "approx", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .which = hu_approx_tanh, .check = hu_approx_check,
		.form = { { HU_FORMULA_gelu_dx, exact_erf, 11 }, { HU_FORMULA_gelu_tanh_dx, exact_tanh, 19 } },
	},
};
