/* SPDX-License-Identifier: Apache-2.0
   elu_dx x, dy: the gradient of elu: dy where x > 0, else dy alpha exp(x). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0) {
		mpfr_set(y, x[1], MPFR_RNDN);
		return;
	}
	mpfr_exp(y, x[0], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "alpha", 1);
	return 1;
}

const hu_op hu_op_elu_dx = {
	.name = "elu_dx", .summary = "gradient of elu", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "alpha", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_elu_dx, exact, 4 } }, .constants = constants,
	},
};
