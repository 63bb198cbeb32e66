/* SPDX-License-Identifier: Apache-2.0
   leaky_relu_dx x, dy: the gradient of leaky_relu: dy where x > 0, else slope dy. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[1], MPFR_RNDN);
	else
		mpfr_mul(y, x[1], k[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "slope", 0.01);
	return 1;
}

const hu_op hu_op_leaky_relu_dx = {
	.name = "leaky_relu_dx", .summary = "gradient of leaky_relu", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "slope", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_leaky_relu_dx, exact, 2 } }, .constants = constants,
	},
};
