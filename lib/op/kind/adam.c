/* SPDX-License-Identifier: Apache-2.0
   adam: Adam as Keras has it, the second form of Kingma & Ba 2015 (the end of their section 2): m += (g - m)(1 -
   beta1), v += (g^2 - v)(1 - beta2), w -= m alpha / (sqrt(v) + eps) with alpha = lr sqrt(1 - beta2^t) / (1 - beta1^t).
   Epsilon is added to the root of the uncorrected second moment; PyTorch's form (adamw.c) adds it to the corrected one.
   Keras's epsilon therefore has an effect 1 / sqrt(1 - beta2^t) times as large, 32 times at the first step. The update
   uses m' and v' as computed, before their rounding to their own formats. */
#include "lib/op/update/moments.h"
#include "lib/op/element/ddw_loops.h"

#include "lib/op/scalars.h"

#define MOMENT(S, T) out[0][i] = hu_toward##S(c, c->k[1], in[0][i], in[1][i])
#define SQUARES(S, T) out[0][i] = hu_toward##S(c, c->k[1], in[0][i], hu_square##S(c, in[1][i]))

/* k: the formula's four constants (formula.inc), followed by what they are computed from, as the call and the clock
   give it. */
enum { ALPHA, REST1, REST2, EPS, OF_FORMULA, LR = OF_FORMULA, BETA1, BETA2, POWER1, POWER2 };

static void
exact_step(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_prec_t p = mpfr_get_prec(y);
	mpfr_t m, v, t;

	mpfr_inits2(p, m, v, t, (mpfr_ptr)NULL);
	hu_moments_exact(m, v, k[BETA1], k[BETA2], x);
	if (out == 0) {
		hu_moments_rest(t, k[POWER2]);
		mpfr_sqrt(t, t, MPFR_RNDN);
		mpfr_mul(t, t, k[LR], MPFR_RNDN);
		mpfr_mul(y, m, t, MPFR_RNDN);
		hu_moments_rest(t, k[POWER1]);
		mpfr_div(y, y, t, MPFR_RNDN);
		mpfr_sqrt(t, v, MPFR_RNDN);
		mpfr_add(t, t, k[EPS], MPFR_RNDN);
		mpfr_div(y, y, t, MPFR_RNDN);
		mpfr_sub(y, x[0], y, MPFR_RNDN);
	} else {
		mpfr_set(y, out == 1 ? m : v, MPFR_RNDN);
	}
	mpfr_clears(m, v, t, (mpfr_ptr)NULL);
}

HU_BLOCKS_OF(step, HU_MOMENTS_STEP, hu_adam, exact_step)
HU_BLOCKS_OF(term, HU_MOMENTS_TERM, hu_adam, NULL)
HU_BLOCKS(moment, MOMENT, NULL)
HU_BLOCKS(squares, SQUARES, NULL)
HU_DDW_LOOPS_OF(adam_step, step, HU_MOMENTS_STEP, hu_adam)
HU_DDW_LOOPS_OF(adam_term, term, HU_MOMENTS_TERM, hu_adam)
HU_DDW_LOOPS(adam_moment, moment, MOMENT)
HU_DDW_LOOPS(adam_squares, squares, SQUARES)

/* Alpha takes five rounded operations from the call's attributes, of which the one under the root counts half. */
static void
constants(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	m->nk = OF_FORMULA;
	m->k[LR] = hu_moments_rate(m, LR, c, in);
	m->k[BETA1] = hu_attr_num(c, "beta1", 0.9);
	m->k[BETA2] = hu_attr_num(c, "beta2", 0.999);
	m->k[POWER1] = hu_get(in[5], 1);
	m->k[POWER2] = hu_get(in[5], 2);
	m->k[ALPHA] = hu_adam_alpha(m->k[LR], m->k[POWER1], m->k[POWER2]);
	m->k[REST1] = 1 - m->k[BETA1];
	m->k[REST2] = 1 - m->k[BETA2];
	m->k[EPS] = hu_attr_num(c, "eps", c->op->moments->usual_eps);
	for (size_t i = 1; i < 3; i++) {
		m->kx[POWER1 + i - 1].t = in[5];
		m->kx[POWER1 + i - 1].i = i;
	}
	m->ke[ALPHA] = hu_up(5 * hu_bounded_own(m->k[ALPHA]));
	m->ke[REST1] = hu_bounded_own(m->k[REST1]);
	m->ke[REST2] = hu_bounded_own(m->k[REST2]);
}

/* The mathematical constants, which no double represents: 1 - beta and the like. */
static void
certify(hu_map *m, hu_tensor *const *in, const hu_sink *sink)
{
	const hu_dd one = hu_dd_of(1);
	hu_dd lr = hu_moments_rate_dd(m->call, in, sink, m->k[LR]),
	      up = hu_dd_mul(lr, hu_dd_sqrt(hu_dd_sub(one, hu_operand_dd(sink, in, 5, 2))));

	hu_map_certify(m, ALPHA, hu_dd_div(up, hu_dd_sub(one, hu_operand_dd(sink, in, 5, 1))));
	hu_map_certify(m, REST1, hu_dd_sub(one, hu_dd_of(m->k[BETA1])));
	hu_map_certify(m, REST2, hu_dd_sub(one, hu_dd_of(m->k[BETA2])));
}

static void
certify_alone(hu_map *m, const hu_map *whole, int out)
{
	m->nk = 2;
	m->k[1] = whole->k[out == 1 ? REST1 : REST2];
	m->ke[1] = whole->ke[out == 1 ? REST1 : REST2];
	hu_map_certify(m, 1, hu_dd_sub(hu_dd_of(1), hu_dd_of(whole->k[out == 1 ? BETA1 : BETA2])));
}

static double
direction(double m, double v, double one, double two, double eps)
{
	return m * sqrt(two) / one / (sqrt(v) + eps);
}

const hu_op hu_op_adam = {
	.name = "adam", .summary = "Adam, Keras's form: epsilon beside the second moment as it is stored",
	.min_in = 6, .max_in = 7, .nout = 3, .attrs = "lr scheduled beta1 beta2 eps", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT, .like = "-34",
	.role = HU_ROLE_ADAM, .moment = "-12",
	.undefined = HU_UNDEFINED_DIVISION,
	.family = &hu_family_moments,
	.moments = &(hu_moments){
		.step = &step, .term = &term, .alone = { &moment, &squares }, .constants = constants, .eps = EPS,
		.usual_eps = 1e-7, .direction = direction,
		.certify = certify, .certify_alone = certify_alone, .flops = 12,
	},
};
