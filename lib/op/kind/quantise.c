/* SPDX-License-Identifier: Apache-2.0
   quantise x, s, z: y = min(max(rint(x / s) + z, low), high) - z: integer codes less their zero point, for one scale s
   and zero point z; the quotient is rounded before rint, which takes ties to even (ONNX's QuantizeLinear). Without z:
   y = x / s, as codes of 8 bits and fewer are made by the rounding to the output's format. */
#include "lib/op/element/pointwise.h"

/* The quotient's rounding belongs to the operator: codes are whole numbers either way, and which one is nearest to the
   exact quotient is what a judge asks. */
static void
exact_code(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_div(y, x[0], x[1], MPFR_RNDN);
	mpfr_rint_roundeven(y, y, MPFR_RNDN);
	mpfr_add(y, y, x[2], MPFR_RNDN);
	if (mpfr_cmp(y, k[0]) < 0)
		mpfr_set(y, k[0], MPFR_RNDN);
	if (mpfr_cmp(y, k[1]) > 0)
		mpfr_set(y, k[1], MPFR_RNDN);
	mpfr_sub(y, y, x[2], MPFR_RNDN);
}

static void
exact_quotient(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_div(y, x[0], x[1], MPFR_RNDN);
}

static int
is_quotient(const hu_call *c)
{
	return c->nin < 3;
}

/* Codes are unsigned bytes unless the attributes say otherwise. */
static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "low", 0);
	k[1] = hu_attr_num(c, "high", 255);
	return is_quotient(c) ? 0 : 2;
}

const hu_op hu_op_quantise = {
	.name = "quantise", .summary = "integer codes less their zero point, or the quotient by one scale", .min_in = 2,
	.max_in = 3, .nout = 1, .attrs = "low high", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_ONE, HU_ONE },
		.form = { { HU_FORMULA_quantise, exact_code, 6 }, { HU_FORMULA_div, exact_quotient, 1 } },
		.which = is_quotient, .constants = constants,
	},
};
