/* SPDX-License-Identifier: Apache-2.0
   pow_da a, b, dy: the gradient of pow for its base, dy (b a^(b-1)). */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y) + 1100);
	mpfr_sub_ui(t, x[1], 1, MPFR_RNDN); /* exact */
	mpfr_pow(y, x[0], t, MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
	mpfr_mul(y, y, x[2], MPFR_RNDN);
	mpfr_clear(t);
}

const hu_op hu_op_pow_da = {
	.name = "pow_da", .summary = "gradient of pow for its base", .min_in = 3, .max_in = 3, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.undefined = HU_UNDEFINED_DIVISION | HU_UNDEFINED_DOMAIN,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .form = { { HU_FORMULA_pow_da, exact, 4 } },
	},
};
