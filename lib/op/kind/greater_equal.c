/* SPDX-License-Identifier: Apache-2.0
   greater_equal: y = 1 where a >= b, else 0; 0 where either is NaN. Operands are compared in the compute format. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set_ui(y, mpfr_greaterequal_p(x[0], x[1]) != 0, MPFR_RNDN);
}

const hu_op hu_op_greater_equal = {
	.name = "greater_equal", .summary = "1 where a >= b, else 0", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_greater_equal, exact, 3 } },
	},
};
