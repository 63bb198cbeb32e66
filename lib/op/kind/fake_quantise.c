/* SPDX-License-Identifier: Apache-2.0
   fake_quantise x, s: y = s min(max(rint(x / s), low), high), with one scale s for each channel: what is left of x
   after codes of that scale (PyTorch's fake_quantize_per_channel_affine with zero points of 0). Its gradient is the
   straight-through estimate (Bengio, Leonard, Courville 2013): that of y is taken for that of x, whose codes nothing
   clips where s follows from the largest magnitude; the scale has none. */
#include "lib/op/element/pointwise.h"

/* The quotient's rounding belongs to the operator, as in quantise. */
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_div(y, x[0], x[1], MPFR_RNDN);
	mpfr_rint_roundeven(y, y, MPFR_RNDN);
	if (mpfr_cmp(y, k[0]) < 0)
		mpfr_set(y, k[0], MPFR_RNDN);
	if (mpfr_cmp(y, k[1]) > 0)
		mpfr_set(y, k[1], MPFR_RNDN);
	mpfr_mul(y, y, x[1], MPFR_RNDN);
}

/* Codes are symmetric bytes unless the attributes say otherwise. */
static int
constants(const hu_call *c, double *k)
{
	k[0] = hu_attr_num(c, "low", -127);
	k[1] = hu_attr_num(c, "high", 127);
	return 2;
}

static const hu_grad grad[] = {
	{ "=", "d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_fake_quantise = {
	.name = "fake_quantise",
	.summary = "rounds to multiples of one scale a channel; the gradient goes straight through",
	.min_in = 2,
	.max_in = 2,
	.nout = 1,
	.attrs = "low high",
	.cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT,
	.undefined = HU_UNDEFINED_DIVISION, .divisor = 2,
	.family = &hu_family_pointwise,
	.pointwise =
		&(hu_pointwise){
			.how = { HU_EACH, HU_CHANNEL },
			.form = { { HU_FORMULA_fake_quantise, exact, 5 } },
			.constants = constants,
		},
	.grad = grad,
};
