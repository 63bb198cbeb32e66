/* SPDX-License-Identifier: Apache-2.0
   logical_not: y = 1 where x is 0, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set_ui(y, mpfr_zero_p(x[0]) != 0, MPFR_RNDN);
}

const hu_op hu_op_logical_not = {
	.name = "logical_not", .summary = "1 where a mask is not set", .min_in = 1, .max_in = 1, .nout = 1,
	.same = "=",
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_logical_not, exact, 1 } },
	},
};
