/* SPDX-License-Identifier: Apache-2.0
   sign: y = 1 or -1 by the sign of x, and x itself if it is 0 or NaN. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_zero_p(x[0]))
		mpfr_set(y, x[0], MPFR_RNDN);
	else
		mpfr_set_si(y, mpfr_sgn(x[0]), MPFR_RNDN);
}

const hu_op hu_op_sign = {
	.name = "sign", .summary = "sign of each element", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_sign, exact, 1 } },
	},
};
