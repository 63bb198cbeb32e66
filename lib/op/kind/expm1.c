/* SPDX-License-Identifier: Apache-2.0
   expm1: y = exp(x) - 1. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_expm1(y, x[0], MPFR_RNDN);
}

const hu_op hu_op_expm1 = {
	.name = "expm1", .summary = "exponential less one", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH },
		.form = { { HU_FORMULA_expm1, exact, 1 } },
	},
};
