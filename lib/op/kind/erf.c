/* SPDX-License-Identifier: Apache-2.0
   erf: y = the error function of x. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_erf(y, x[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "erf_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_erf = {
	.name = "erf", .summary = "error function", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_erf, exact, 1 } },
	},
	.grad = grad,
};
