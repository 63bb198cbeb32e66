/* SPDX-License-Identifier: Apache-2.0
   mul: y = a b. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_mul(y, x[0], x[1], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "mul", "d0 i1", "i0", NULL, NULL },
	{ "mul", "d0 i0", "i1", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_mul = {
	.name = "mul", .summary = "elementwise product of two tensors", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_mul, exact, 1 } },
	},
	.grad = grad,
};
