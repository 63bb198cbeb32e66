/* SPDX-License-Identifier: Apache-2.0
   silu: y = x / (1 + exp(-x)), x times its sigmoid, also known as swish. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_neg(y, x[0], MPFR_RNDN);
	mpfr_exp(y, y, MPFR_RNDN);
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_div(y, x[0], y, MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "silu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_silu = {
	.name = "silu", .summary = "sigmoid linear unit", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_silu, exact, 2 } },
	},
	.grad = grad,
};
