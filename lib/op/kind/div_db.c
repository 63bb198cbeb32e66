/* SPDX-License-Identifier: Apache-2.0
   div_db: db = -dy y / b, from the output and the divisor. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_mul(y, x[2], x[0], MPFR_RNDN);
	mpfr_div(y, y, x[1], MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
}

const hu_op hu_op_div_db = {
	.name = "div_db", .summary = "gradient of div for its divisor", .min_in = 3, .max_in = 3, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .form = { { HU_FORMULA_div_db, exact, 3 } },
	},
};
