/* SPDX-License-Identifier: Apache-2.0
   bce p, t: y = (t - 1) log(1 - p) - t log(p), the cross-entropy of a probability p and a label t; neither logarithm is
   below -100, as PyTorch has it. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_neg(y, x[0], MPFR_RNDN);
	mpfr_log1p(y, y, MPFR_RNDN);
	if (mpfr_cmp_si(x[0], 1) >= 0 || mpfr_cmp_si(y, -100) < 0)
		mpfr_set_si(y, -100, MPFR_RNDN);
	mpfr_sub_ui(t, x[1], 1, MPFR_RNDN);
	mpfr_mul(y, y, t, MPFR_RNDN);
	mpfr_log(t, x[0], MPFR_RNDN);
	if (mpfr_sgn(x[0]) <= 0 || mpfr_cmp_si(t, -100) < 0)
		mpfr_set_si(t, -100, MPFR_RNDN);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_sub(y, y, t, MPFR_RNDN);
	if (mpfr_nan_p(x[0]))
		mpfr_set_nan(y);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

const hu_op hu_op_bce = {
	.name = "bce", .summary = "cross-entropy of probabilities and labels", .min_in = 2, .max_in = 2, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH },
		.form = { { HU_FORMULA_bce, exact, 12 } },
	},
};
