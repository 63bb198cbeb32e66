/* SPDX-License-Identifier: Apache-2.0
   lerp a, b, w: y = a + w (b - a), a linear interpolation. Without w the weight is the constant factor. Where |w| is
   0.5 or more it is computed as b - (b - a)(1 - w), so that a weight of 1 gives b. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_sub(t, x[1], x[0], MPFR_RNDN);
	mpfr_mul(t, t, k[0], MPFR_RNDN);
	mpfr_add(y, x[0], t, MPFR_RNDN);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

static void
exact_by(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_inits2(mpfr_get_prec(y), t, (mpfr_ptr)NULL);
	mpfr_sub(t, x[1], x[0], MPFR_RNDN);
	mpfr_mul(t, t, x[2], MPFR_RNDN);
	mpfr_add(y, x[0], t, MPFR_RNDN);
	mpfr_clears(t, (mpfr_ptr)NULL);
}

static int
which(const hu_call *c)
{
	return c->nin > 2;
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "factor", 0.5);
	return 1;
}

const hu_op hu_op_lerp = {
	.name = "lerp", .summary = "linear interpolation between two tensors", .min_in = 2, .max_in = 3, .nout = 1,
	.attrs = "factor", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_EACH }, .which = which, .constants = constants,
		.form = { { HU_FORMULA_lerp, exact, 9 }, { HU_FORMULA_lerp_by, exact_by, 9 } },
	},
};
