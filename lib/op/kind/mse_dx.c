/* SPDX-License-Identifier: Apache-2.0
   mse_dx x, t, dy: y = factor (x - t) dy, the gradient of squared differences from targets; factor is 2 unless given,
   2 / n for their mean. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_sub(y, x[0], x[1], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
	mpfr_mul(y, y, x[2], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "factor", 2);
	return 1;
}

const hu_op hu_op_mse_dx = {
	.name = "mse_dx", .summary = "gradient of squared differences", .min_in = 3, .max_in = 3, .nout = 1,
	.attrs = "factor", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .constants = constants,
		.form = { { HU_FORMULA_mse_dx, exact, 3 } },
	},
};
