/* SPDX-License-Identifier: Apache-2.0
   log: y = log(x), the natural logarithm. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_log(y, x[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "div", "d0 i0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_log = {
	.name = "log", .summary = "natural logarithm", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_log, exact, 1 } },
	},
	.grad = grad,
};
