/* SPDX-License-Identifier: Apache-2.0
   logical_or: y = 1 where a or b is not 0, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set_ui(y, !mpfr_zero_p(x[0]) || !mpfr_zero_p(x[1]), MPFR_RNDN);
}

const hu_op hu_op_logical_or = {
	.name = "logical_or", .summary = "1 where a mask is set", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_logical_or, exact, 5 } },
	},
};
