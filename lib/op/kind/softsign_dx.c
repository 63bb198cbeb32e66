/* SPDX-License-Identifier: Apache-2.0
   softsign_dx x, dy: the gradient of softsign, (dy / (1 + |x|)) / (1 + |x|). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_abs(y, x[0], MPFR_RNDN);
	mpfr_add_ui(y, y, 1, MPFR_RNDN);
	mpfr_sqr(y, y, MPFR_RNDN);
	mpfr_div(y, x[1], y, MPFR_RNDN);
}

const hu_op hu_op_softsign_dx = {
	.name = "softsign_dx", .summary = "gradient of softsign", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_softsign_dx, exact, 6 } },
	},
};
