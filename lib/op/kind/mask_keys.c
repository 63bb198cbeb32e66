/* SPDX-License-Identifier: Apache-2.0
   mask_keys x, m: y = factor x where m is not 0, else fill. x is [images, ..., keys], such as the scores of an
   attention, and m is [images, keys]: every row of an image has its mask. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_zero_p(x[1]))
		mpfr_set(y, k[1], MPFR_RNDN);
	else
		mpfr_mul(y, x[0], k[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "factor", 1);
	k[1] = hu_attr_num(c, "fill", 0);
	return 2;
}

static const hu_grad grad[] = {
	{ "mask_keys", "d0 i1", "i0", "fill=0", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_mask_keys = {
	.name = "mask_keys", .summary = "multiplies by a constant where a key's mask is set, else another constant",
	.min_in = 2, .max_in = 2, .nout = 1, .attrs = "factor fill",
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_IMAGE }, .form = { { HU_FORMULA_mask_keys, exact, 3 } }, .constants = constants,
	},
	.grad = grad,
};
