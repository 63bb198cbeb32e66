/* SPDX-License-Identifier: Apache-2.0
   unscale: y = g fl32(1/(scale W)), where W is the loss weight. The scale's inverse is computed in double and rounded
   once to fp32, as PyTorch's GradScaler does. */
#include "lib/op/element/pointwise.h"

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t by;

	(void)out;
	mpfr_init2(by, 128);
	mpfr_mul(by, x[1], k[1], MPFR_RNDN);
	mpfr_div(y, x[0], by, MPFR_RNDN);
	mpfr_clear(by);
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	double weight = hu_attr_num(c, "loss_weight", 1), inverse = 1 / (hu_get(in[1], 0) * weight);

	hu_pointwise_map(m, c, in);
	m->nk = 2;
	m->k[0] = (double)(float)inverse;
	m->k[1] = weight;
	hu_map_certify(m, 0, hu_dd_div(hu_dd_of(1), hu_dd_mul(hu_dd_of(hu_get(in[1], 0)), hu_dd_of(weight))));
	if (hu_isfinite(m->k[0]) && inverse * (hu_get(in[1], 0) * weight) == 1 && m->k[0] == inverse &&
		hu_bits64(inverse) << 12 == 0)
		m->ke[0] = 0; /* a power of two */
	else
		m->ke[0] = hu_up(hu_abs(m->k[0] - inverse) + 3 * hu_bounded_own(inverse));
}

const hu_op hu_op_unscale = {
	.name = "unscale", .summary = "divides a gradient by the loss scale and the loss weight", .min_in = 2,
	.max_in = 2, .nout = 1, .attrs = "loss_weight", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.role = HU_ROLE_UNSCALE,
	.family = &hu_family_pointwise,
	.pointwise = &(hu_pointwise){
		.how = { HU_EACH, HU_ONE }, .form = { { HU_FORMULA_scale, exact, 1 } }, .prepare = prepare,
	},
};
