/* SPDX-License-Identifier: Apache-2.0
   dequantise q, s: y = q s, with one scale for each feature or channel: what sums of products of codes stand for. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_mul(y, x[0], x[1], MPFR_RNDN);
}

const hu_op hu_op_dequantise = {
	.name = "dequantise", .summary = "multiplies by one scale a feature or channel", .min_in = 2, .max_in = 2,
	.nout = 1, .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_CHANNEL }, .form = { { HU_FORMULA_mul, exact, 1 } },
	},
};
