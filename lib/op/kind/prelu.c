/* SPDX-License-Identifier: Apache-2.0
   prelu x, s: y = x above 0 and s x below, with one s for each channel. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[0], MPFR_RNDN);
	else
		mpfr_mul(y, x[0], x[1], MPFR_RNDN);
}

const hu_op hu_op_prelu = {
	.name = "prelu", .summary = "rectifier with one slope a channel", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_CHANNEL }, .form = { { HU_FORMULA_prelu, exact, 2 } },
	},
};
