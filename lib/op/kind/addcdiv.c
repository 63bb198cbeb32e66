/* SPDX-License-Identifier: Apache-2.0
   addcdiv a, b, d: y = a + factor b / d, computed from left to right; factor is 1 unless given. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_mul(t, x[1], k[0], MPFR_RNDN);
	mpfr_div(t, t, x[2], MPFR_RNDN);
	mpfr_add(y, x[0], t, MPFR_RNDN);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "factor", 1);
	return 1;
}

const hu_op hu_op_addcdiv = {
	.name = "addcdiv", .summary = "a tensor and a constant times the quotient of two", .min_in = 3, .max_in = 3,
	.nout = 1, .attrs = "factor", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .constants = constants,
		.form = { { HU_FORMULA_addcdiv, exact, 3 } },
	},
};
