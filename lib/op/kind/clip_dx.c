/* SPDX-License-Identifier: Apache-2.0
   clip_dx x, dy: the gradient of clip: dy where x lies in the range, its ends included, else 0. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_cmp(x[0], k[0]) >= 0 && mpfr_cmp(x[0], k[1]) <= 0 && !mpfr_nan_p(x[0]))
		mpfr_set(y, x[1], MPFR_RNDN);
	else
		mpfr_set_zero(y, 1);
}

static int
constants(const hu_call *c, double *k)
{
	double most = hu_format_of(c->fmt.compute).max;

	k[0] = hu_attr_num(c, "low", -most);
	k[1] = hu_attr_num(c, "high", most);
	return 2;
}

const hu_op hu_op_clip_dx = {
	.name = "clip_dx", .summary = "gradient of clip, from its input", .min_in = 2, .max_in = 2, .nout = 1,
	.attrs = "low high", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_EACH }, .form = { { HU_FORMULA_clip_dx, exact, 4 } }, .constants = constants,
	},
};
