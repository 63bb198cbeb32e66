/* SPDX-License-Identifier: Apache-2.0
   select a, b, s: y = a where the scalar s is not 0, b where it is 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set(y, mpfr_zero_p(x[2]) ? x[1] : x[0], MPFR_RNDN);
}

const hu_op hu_op_select = {
	.name = "select", .summary = "one tensor where a scalar is not 0, else another", .min_in = 3, .max_in = 3,
	.nout = 1, .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH, HU_ONE }, .form = { { HU_FORMULA_select, exact, 2 } },
	},
};
