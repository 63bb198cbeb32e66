/* SPDX-License-Identifier: Apache-2.0
   relu: y = x above 0, +0 at and below it; NaN stays. */
#include "lib/op/element/pointwise.h"

#define F(S, T) out[0][i] = hu_relu##S(c, in[0][i])
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_nan_p(x[0]) || mpfr_sgn(x[0]) > 0)
		mpfr_set(y, x[0], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}
HU_BLOCKS(blocks, F, exact)
HU_POINTWISE(&blocks, 1, HU_EACH)

static const hu_grad grad[] = {
	{ "relu_dx", "o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_relu = {
	.name = "relu", .summary = "rectifier: negative values become 0", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
	.grad = grad,
};
