/* SPDX-License-Identifier: Apache-2.0
   hardswish: y = x min(max(x + 3, 0), 6) / 6. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_add_ui(t, x[0], 3, MPFR_RNDN);
	if (!mpfr_nan_p(t) && mpfr_sgn(t) < 0)
		mpfr_set_zero(t, 1);
	if (!mpfr_nan_p(t) && mpfr_cmp_ui(t, 6) > 0)
		mpfr_set_ui(t, 6, MPFR_RNDN);
	mpfr_mul(y, t, x[0], MPFR_RNDN);
	mpfr_div_ui(y, y, 6, MPFR_RNDN);
	mpfr_clear(t);
}

static const hu_grad grad[] = {
	{ "hardswish_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_hardswish = {
	.name = "hardswish", .summary = "piecewise quadratic silu", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_hardswish, exact, 5 } },
	},
	.grad = grad,
};
