/* SPDX-License-Identifier: Apache-2.0
   sqrt: y = sqrt(x). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sqrt(y, x[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "sqrt_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_sqrt = {
	.name = "sqrt", .summary = "square root", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_sqrt, exact, 1 } },
	},
	.grad = grad,
};
