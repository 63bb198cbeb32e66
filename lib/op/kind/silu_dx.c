/* SPDX-License-Identifier: Apache-2.0
   silu_dx: dx = dy (s + x s (1 - s)) from the input, s = 1 / (1 + exp(-x)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t s, rest;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), s, rest, (mpfr_ptr)NULL);
	mpfr_neg(s, x[0], MPFR_RNDN);
	mpfr_exp(s, s, MPFR_RNDN);
	mpfr_add_ui(s, s, 1, MPFR_RNDN);
	mpfr_exp(rest, x[0], MPFR_RNDN);
	mpfr_add_ui(rest, rest, 1, MPFR_RNDN);
	mpfr_div(y, x[0], rest, MPFR_RNDN); /* x (1 - s) */
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_div(y, y, s, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_clears(s, rest, (mpfr_ptr)NULL);
}

const hu_op hu_op_silu_dx = {
	.name = "silu_dx", .summary = "gradient of silu, from its input", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_silu_dx, exact, 7 } },
	},
};
