/* SPDX-License-Identifier: Apache-2.0
   clip: y = x, but at least low and at most high, which are by default the ends of the compute format; NaN stays
   NaN. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_nan_p(x[0]))
		mpfr_set_nan(y);
	else if (mpfr_cmp(x[0], k[0]) < 0 || mpfr_cmp(k[1], k[0]) < 0)
		mpfr_set(y, mpfr_cmp(k[1], k[0]) < 0 ? k[1] : k[0], MPFR_RNDN);
	else
		mpfr_set(y, mpfr_cmp(x[0], k[1]) > 0 ? k[1] : x[0], MPFR_RNDN);
}

static int
constants(const hu_call *c, double *k)
{
	double most = hu_format_of(c->fmt.compute).max;

	k[0] = hu_attr_num(c, "low", -most);
	k[1] = hu_attr_num(c, "high", most);
	return 2;
}

static const hu_grad grad[] = {
	{ "clip_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_clip = {
	.name = "clip", .summary = "limits values to a range", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "low high", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH }, .form = { { HU_FORMULA_clip, exact, 2 } }, .constants = constants,
	},
	.grad = grad,
};
