/* SPDX-License-Identifier: Apache-2.0
   logical_and: y = 1 where neither a nor b is 0, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set_ui(y, !mpfr_zero_p(x[0]) && !mpfr_zero_p(x[1]), MPFR_RNDN);
}

const hu_op hu_op_logical_and = {
	.name = "logical_and", .summary = "1 where both masks are set", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_logical_and, exact, 5 } },
	},
};
