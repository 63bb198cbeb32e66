/* SPDX-License-Identifier: Apache-2.0
   The row of an operator that takes one of two elements, min or max: they differ in the sign of what they prefer. */
#ifndef HU_OP_EXTREME_H
#define HU_OP_EXTREME_H

#include "lib/op/element/pointwise.h"

/* Defines hu_op_NAME. FOR_0 and FOR_1 are the operands of max_dx that give the gradients of inputs 0 and 1: that of a
   minimum goes where the other input is the larger one. */
#define HU_EXTREME_OP(NAME, SUMMARY, FOR_0, FOR_1)                                                                    \
	static void exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)                                        \
	{                                                                                                             \
		(void)k;                                                                                              \
		(void)out;                                                                                            \
		if (mpfr_nan_p(x[0]) || mpfr_nan_p(x[1]))                                                             \
			mpfr_set_nan(y);                                                                              \
		else                                                                                                  \
			mpfr_##NAME(y, x[0], x[1], MPFR_RNDN);                                                        \
	}                                                                                                             \
	static const hu_grad grad[] = {                                                                               \
		{ "max_dx", FOR_0, "i0", NULL, NULL },                                                                \
		{ "max_dx", FOR_1, "i1", NULL, NULL },                                                                \
		{ NULL, NULL, NULL, NULL, NULL },                                                                     \
	};                                                                                                            \
	const hu_op hu_op_##NAME = {                                                                                  \
		.name = #NAME, .summary = SUMMARY, .min_in = 2, .max_in = 2, .nout = 1,                               \
		.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,                                                 \
		.family = &hu_family_pointwise,                                                                       \
		.pointwise = &(hu_pointwise){                                                                         \
			.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_##NAME, exact, 1 } },                     \
		},                                                                                                    \
		.grad = grad,                                                                                         \
	}
#endif
