/* SPDX-License-Identifier: Apache-2.0
   huber_dx x, t, dy: the gradient of huber times factor: factor dy (x - t) where |x - t| < beta, else factor dy beta
   with the sign of x - t. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_sub(y, x[0], x[1], MPFR_RNDN);
	if (!mpfr_nan_p(y) && mpfr_cmpabs(y, k[0]) >= 0)
		mpfr_mul_si(y, k[0], mpfr_sgn(y) < 0 ? -1 : 1, MPFR_RNDN);
	mpfr_mul(y, y, k[1], MPFR_RNDN);
	mpfr_mul(y, y, x[2], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "beta", 1);
	k[1] = hu_attr_num(c, "factor", 1);
	return 2;
}

const hu_op hu_op_huber_dx = {
	.name = "huber_dx", .summary = "gradient of huber", .min_in = 3, .max_in = 3, .nout = 1,
	.attrs = "beta factor", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .constants = constants,
		.form = { { HU_FORMULA_huber_dx, exact, 10 } },
	},
};
