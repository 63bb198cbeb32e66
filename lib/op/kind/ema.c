/* SPDX-License-Identifier: Apache-2.0
   ema e, w: y = e + (w - e)(1 - decay), the exponential moving average of the weights w, in the form of PyTorch's lerp.
   1 - decay is computed in double, which is exact from 0.5 on. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_sub(y, x[1], x[0], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
	mpfr_add(y, y, x[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = 1 - hu_attr_num(c, "decay", 0.999);
	return 1;
}

const hu_op hu_op_ema = {
	.name = "ema", .summary = "exponential moving average of weights", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "decay", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .constants = constants, .form = { { HU_FORMULA_ema, exact, 3 } },
	},
};
