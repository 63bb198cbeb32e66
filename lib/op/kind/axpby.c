/* SPDX-License-Identifier: Apache-2.0
   axpby a, b: y = alpha a + beta b; a factor that is not given is 1. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_mul(t, x[0], k[0], MPFR_RNDN);
	mpfr_mul(y, x[1], k[1], MPFR_RNDN);
	mpfr_add(y, y, t, MPFR_RNDN);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "alpha", 1);
	k[1] = hu_attr_num(c, "beta", 1);
	return 2;
}

const hu_op hu_op_axpby = {
	.name = "axpby", .summary = "sum of two tensors, each times a constant", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "alpha beta", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .constants = constants,
		.form = { { HU_FORMULA_axpby, exact, 3 } },
	},
};
