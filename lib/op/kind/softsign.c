/* SPDX-License-Identifier: Apache-2.0
   softsign: y = x / (1 + |x|). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_abs(y, x[0], MPFR_RNDN);
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_div(y, x[0], y, MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "softsign_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_softsign = {
	.name = "softsign", .summary = "x divided by 1 plus its magnitude", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_softsign, exact, 3 } },
	},
	.grad = grad,
};
