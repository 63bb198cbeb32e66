/* SPDX-License-Identifier: Apache-2.0
   pow: y = a to the power b, with the special values of IEEE 754: NaN for negative a unless b is a whole number. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_pow(y, x[0], x[1], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "pow_da", "i0 i1 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_pow = {
	.name = "pow", .summary = "one tensor to the power of another", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_pow, exact, 1 } },
	},
	.grad = grad,
};
