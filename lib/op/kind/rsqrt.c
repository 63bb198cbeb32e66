/* SPDX-License-Identifier: Apache-2.0
   rsqrt: y = 1 / sqrt(x), rounded once. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_zero_p(x[0]))
		mpfr_set_inf(y, mpfr_signbit(x[0]) ? -1 : 1); /* MPFR's own is +Inf for both zeros */
	else
		mpfr_rec_sqrt(y, x[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "rsqrt_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_rsqrt = {
	.name = "rsqrt", .summary = "reciprocal square root", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_rsqrt, exact, 1 } },
	},
	.grad = grad,
};
