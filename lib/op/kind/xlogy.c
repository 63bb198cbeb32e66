/* SPDX-License-Identifier: Apache-2.0
   xlogy a, b: y = a log(b), and 0 where a is 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_zero_p(x[0])) {
		mpfr_set_zero(y, 1);
		return;
	}
	mpfr_log(y, x[1], MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
}

const hu_op hu_op_xlogy = {
	.name = "xlogy", .summary = "one tensor times the logarithm of another", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH },
		.form = { { HU_FORMULA_xlogy, exact, 4 } },
	},
};
