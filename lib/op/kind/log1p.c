/* SPDX-License-Identifier: Apache-2.0
   log1p: y = log(1 + x). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_log1p(y, x[0], MPFR_RNDN);
}

const hu_op hu_op_log1p = {
	.name = "log1p", .summary = "logarithm of one more", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH },
		.form = { { HU_FORMULA_log1p, exact, 1 } },
	},
};
