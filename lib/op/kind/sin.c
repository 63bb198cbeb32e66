/* SPDX-License-Identifier: Apache-2.0
   sin: y = the sine of x in radians. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sin(y, x[0], MPFR_RNDN);
}

const hu_op hu_op_sin = {
	.name = "sin", .summary = "sine", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_sin, exact, 1 } },
	},
};
