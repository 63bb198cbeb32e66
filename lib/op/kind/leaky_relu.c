/* SPDX-License-Identifier: Apache-2.0
   leaky_relu: y = x above 0 and slope x below; slope is 0.01 unless given. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[0], MPFR_RNDN);
	else
		mpfr_mul(y, x[0], k[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "slope", 0.01);
	return 1;
}

static const hu_grad grad[] = {
	{ "leaky_relu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_leaky_relu = {
	.name = "leaky_relu", .summary = "rectifier that keeps a share of negative values", .min_in = 1, .max_in = 1,
	.nout = 1,
	.attrs = "slope", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_leaky_relu, exact, 2 } }, .constants = constants,
	},
	.grad = grad,
};
