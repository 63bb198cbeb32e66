/* SPDX-License-Identifier: Apache-2.0
   smooth_l1 x, t: with z = |x - t|, y = z^2 / (2 beta) below beta and z - beta / 2 from there on; beta is 1 unless
   given. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t z;

	(void)out;
	mpfr_inits2(mpfr_get_prec(y), z, (mpfr_ptr)NULL);
	mpfr_sub(z, x[0], x[1], MPFR_RNDN);
	mpfr_abs(z, z, MPFR_RNDN);
	if (mpfr_cmp(z, k[0]) < 0) {
		mpfr_sqr(y, z, MPFR_RNDN);
		mpfr_div(y, y, k[0], MPFR_RNDN);
		mpfr_div_2ui(y, y, 1, MPFR_RNDN);
	} else {
		mpfr_div_2ui(y, k[0], 1, MPFR_RNDN);
		mpfr_sub(y, z, y, MPFR_RNDN);
	}
	mpfr_clears(z, (mpfr_ptr)NULL);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "beta", 1);
	return 1;
}

const hu_op hu_op_smooth_l1 = {
	.name = "smooth_l1", .summary = "smooth absolute differences", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "beta", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .constants = constants,
		.form = { { HU_FORMULA_smooth_l1, exact, 9 } },
	},
};
