/* SPDX-License-Identifier: Apache-2.0
   min: y = the smaller of a and b, NaN if either is NaN; -0 counts as smaller than +0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_nan_p(x[1]))
		mpfr_set_nan(y);
	else
		mpfr_min(y, x[0], x[1], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "max_dx", "i1 i0 d0", "i0", NULL, NULL },
	{ "max_dx", "i0 i1 d0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_min = {
	.name = "min", .summary = "the smaller of two tensors' elements", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_min, exact, 1 } },
	},
	.grad = grad,
};
