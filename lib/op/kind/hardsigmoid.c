/* SPDX-License-Identifier: Apache-2.0
   hardsigmoid: y = slope x + offset, but at least 0 and at most 1; slope is 0.2 and offset 0.5 unless given. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, x[0], k[0], MPFR_RNDN);
	mpfr_add(y, y, k[1], MPFR_RNDN);
	if (mpfr_nan_p(y))
		return;
	if (mpfr_cmp_ui(y, 1) > 0)
		mpfr_set_ui(y, 1, MPFR_RNDN);
	else if (mpfr_sgn(y) <= 0)
		mpfr_set_zero(y, 1);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "slope", 0.2);
	k[1] = hu_attr_num(c, "offset", 0.5);
	return 2;
}

static const hu_grad grad[] = {
	{ "hardsigmoid_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_hardsigmoid = {
	.name = "hardsigmoid", .summary = "piecewise linear sigmoid", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "slope offset", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_hardsigmoid, exact, 4 } }, .constants = constants,
	},
	.grad = grad,
};
