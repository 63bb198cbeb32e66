/* SPDX-License-Identifier: Apache-2.0
   hardsigmoid_dx y, dy: the gradient of hardsigmoid, whose result is y: slope dy where 0 < y < 1, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]) || (mpfr_sgn(x[0]) > 0 && mpfr_cmp_ui(x[0], 1) < 0))
		mpfr_mul(y, x[1], k[0], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "slope", 0.2);
	return 1;
}

const hu_op hu_op_hardsigmoid_dx = {
	.name = "hardsigmoid_dx", .summary = "gradient of hardsigmoid, from its result", .min_in = 2, .max_in = 2,
	.nout = 1,
	.attrs = "slope", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_hardsigmoid_dx, exact, 4 } },
		.constants = constants,
	},
};
