/* SPDX-License-Identifier: Apache-2.0
   scale: y = x s factor, multiplied from left to right; s is optional. */
#include "lib/op/element/pointwise.h"

static void
exact_one(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, x[0], k[0], MPFR_RNDN);
}

static void
exact_two(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, x[0], x[1], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
}

static int
is_by_scalar(const hu_call *c)
{
	return c->nin > 1;
}

static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "factor", 1);
	return 1;
}

const hu_op hu_op_scale = {
	.name = "scale", .summary = "multiplies by a scalar and a constant", .min_in = 1, .max_in = 2, .nout = 1,
	.attrs = "factor", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_ONE }, .which = is_by_scalar, .constants = constants,
		.form = { { HU_FORMULA_scale, exact_one, 1 }, { HU_FORMULA_scale_by, exact_two, 2 } },
	},
};
