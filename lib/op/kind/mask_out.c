/* SPDX-License-Identifier: Apache-2.0
   mask_out m, x: y = x where m is 0, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_zero_p(x[0]))
		mpfr_set(y, x[1], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

static const hu_grad grad[] = {
	{ "mask_out", "i0 d0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_mask_out = {
	.name = "mask_out", .summary = "keeps values where a mask is not set", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_mask_out, exact, 2 } },
	},
	.grad = grad,
};
