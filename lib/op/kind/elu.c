/* SPDX-License-Identifier: Apache-2.0
   elu: y = x above 0 and alpha (exp(x) - 1) below; alpha is 1 unless given. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0) {
		mpfr_set(y, x[0], MPFR_RNDN);
		return;
	}
	mpfr_expm1(y, x[0], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "alpha", 1);
	return 1;
}

static const hu_grad grad[] = {
	{ "elu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_elu = {
	.name = "elu", .summary = "exponential linear unit", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "alpha", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_elu, exact, 3 } }, .constants = constants,
	},
	.grad = grad,
};
