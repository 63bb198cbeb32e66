/* SPDX-License-Identifier: Apache-2.0
   codes x, z: y = min(max(rint(x) + z, low), high): what ONNX's QuantizeLinear makes of the quotient x, where rint
   takes ties to even. z is one number or one for each element, and +0 where it is left out, so that no code is -0. NaN
   has the least code, as in ONNX Runtime. quantise divides as well, and takes the zero point off again. */
#include "lib/op/element/pointwise.h"

static void
within(const mpfr_t *k, mpfr_t y)
{
	if (mpfr_nan_p(y) || mpfr_cmp(y, k[0]) < 0)
		mpfr_set(y, k[0], MPFR_RNDN);
	if (mpfr_cmp(y, k[1]) > 0)
		mpfr_set(y, k[1], MPFR_RNDN);
}

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_rint_roundeven(y, x[0], MPFR_RNDN);
	mpfr_add(y, y, x[1], MPFR_RNDN);
	within(k, y);
}

static void
exact_alone(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_rint_roundeven(y, x[0], MPFR_RNDN);
	within(k, y);
}

static int
is_alone(const hu_call *c)
{
	return c->nin < 2;
}

/* Codes are unsigned bytes unless the attributes say otherwise. */
static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "low", 0);
	k[1] = hu_attr_num(c, "high", 255);
	return 2;
}

const hu_op hu_op_codes = {
	.name = "codes", .summary = "the nearest whole numbers, moved by a zero point, within a type's range",
	.min_in = 1, .max_in = 2, .nout = 1, .attrs = "low high", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH },
		.form = { { HU_FORMULA_codes, exact, 5 }, { HU_FORMULA_codes_alone, exact_alone, 5 } },
		.which = is_alone, .constants = constants,
	},
};
