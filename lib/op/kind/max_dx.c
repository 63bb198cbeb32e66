/* SPDX-License-Identifier: Apache-2.0
   max_dx: da = dy if a > b, dy / 2 if neither is larger, +0 if a < b. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_greater_p(x[0], x[1]))
		mpfr_set(y, x[2], MPFR_RNDN);
	else if (mpfr_less_p(x[0], x[1]))
		mpfr_set_zero(y, 1);
	else
		mpfr_div_2ui(y, x[2], 1, MPFR_RNDN);
}

const hu_op hu_op_max_dx = {
	.name = "max_dx", .summary = "gradient of max for the first of its operands", .min_in = 3, .max_in = 3,
	.nout = 1, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .form = { { HU_FORMULA_max_dx, exact, 6 } },
	},
};
