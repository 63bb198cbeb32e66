/* SPDX-License-Identifier: Apache-2.0
   where m, a, b: y = a where m is not 0, b where it is. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set(y, mpfr_zero_p(x[0]) ? x[2] : x[1], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "mask", "i0 d0", "i1", NULL, NULL },
	{ "mask_out", "i0 d0", "i2", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_where = {
	.name = "where", .summary = "one tensor where a mask is set, else another", .min_in = 3, .max_in = 3, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .form = { { HU_FORMULA_where, exact, 2 } },
	},
	.grad = grad,
};
