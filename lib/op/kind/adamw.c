/* SPDX-License-Identifier: Apache-2.0
   adamw: Adam with decoupled weight decay as in PyTorch's AdamW (Loshchilov & Hutter 2019): w = w (1 - lr decay) - lr
   m^ / (sqrt(v^) + eps), where the moments are corrected before epsilon is added; adam.c has Keras's form. The bias
   corrections come from the clock. The update uses m' and v' as computed, before their rounding to their own
   formats. */
#include "lib/op/update/moments.h"
#include "lib/op/element/ddw_loops.h"

#define MOMENT(S, T) out[0][i] = hu_blend##S(c, in[0][i], in[1][i])
#define SQUARES(S, T) out[0][i] = hu_blend##S(c, in[0][i], hu_square##S(c, in[1][i]))

/* Constants besides the formula's, as the call and the clock give them. */
enum { EPS = 5, POWER1 = 9, POWER2 = 10, DECAY = 11 };

static void
exact_step(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_prec_t p = mpfr_get_prec(y);
	mpfr_t m, v, t;

	mpfr_inits2(p, m, v, t, (mpfr_ptr)NULL);
	hu_moments_exact(m, v, k[1], k[3], x);
	if (out == 0) {
		hu_moments_rest(t, k[POWER1]);
		mpfr_div(y, m, t, MPFR_RNDN);
		mpfr_mul(y, y, k[0], MPFR_RNDN);
		hu_moments_rest(t, k[POWER2]);
		mpfr_div(t, v, t, MPFR_RNDN);
		mpfr_sqrt(t, t, MPFR_RNDN);
		mpfr_add(t, t, k[EPS], MPFR_RNDN);
		mpfr_div(y, y, t, MPFR_RNDN);
		mpfr_mul(t, k[0], k[DECAY], MPFR_RNDN);
		hu_moments_rest(t, t);
		mpfr_mul(t, t, x[0], MPFR_RNDN);
		mpfr_sub(y, t, y, MPFR_RNDN);
	} else {
		mpfr_set(y, out == 1 ? m : v, MPFR_RNDN);
	}
	mpfr_clears(m, v, t, (mpfr_ptr)NULL);
}

HU_BLOCKS_OF(step, HU_MOMENTS_STEP, hu_adamw, exact_step)
HU_BLOCKS_OF(term, HU_MOMENTS_TERM, hu_adamw, NULL)
HU_BLOCKS(moment, MOMENT, NULL)
HU_BLOCKS(squares, SQUARES, NULL)
HU_DDW_LOOPS_OF(adamw_step, step, HU_MOMENTS_STEP, hu_adamw)
HU_DDW_LOOPS_OF(adamw_term, term, HU_MOMENTS_TERM, hu_adamw)
HU_DDW_LOOPS(adamw_moment, moment, MOMENT)
HU_DDW_LOOPS(adamw_squares, squares, SQUARES)

static void
constants(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	double lr = hu_moments_rate(m, 0, c, in), b1 = hu_attr_num(c, "beta1", 0.9);
	double b2 = hu_attr_num(c, "beta2", 0.999);
	double decay = hu_attr_num(c, "weight_decay", 0.01), p1 = hu_get(in[5], 1), p2 = hu_get(in[5], 2);

	m->nk = 9;
	m->k[0] = lr;
	m->k[1] = b1;
	m->k[2] = 1 - b1;
	m->k[3] = b2;
	m->k[4] = 1 - b2;
	m->k[EPS] = hu_attr_num(c, "eps", c->op->moments->usual_eps);
	m->k[6] = 1 - lr * decay;
	m->k[7] = 1 - p1;
	m->k[8] = 1 - p2;
	m->k[POWER1] = p1;
	m->k[POWER2] = p2;
	m->k[DECAY] = decay;
	for (size_t i = 1; i < 3; i++) {
		m->kx[POWER1 + i - 1].t = in[5];
		m->kx[POWER1 + i - 1].i = i;
	}
	m->ke[2] = hu_bounded_own(m->k[2]);
	m->ke[4] = hu_bounded_own(m->k[4]);
	m->ke[6] = hu_up(hu_bounded_own(m->k[6]) + hu_bounded_own(lr * decay));
	m->ke[7] = hu_bounded_own(m->k[7]);
	m->ke[8] = hu_bounded_own(m->k[8]);
}

/* The mathematical constants, which no double represents: 1 - beta and the like. */
static void
certify(hu_map *m, hu_tensor *const *in, const hu_sink *sink)
{
	const hu_dd one = hu_dd_of(1), lr = hu_moments_rate_dd(m->call, in, sink, m->k[0]);

	hu_map_certify(m, 0, lr);
	hu_map_certify(m, 2, hu_dd_sub(one, hu_dd_of(m->k[1])));
	hu_map_certify(m, 4, hu_dd_sub(one, hu_dd_of(m->k[3])));
	hu_map_certify(m, 6, hu_dd_sub(one, hu_dd_mul(lr, hu_dd_of(m->k[DECAY]))));
	hu_map_certify(m, 7, hu_dd_sub(one, hu_operand_dd(sink, in, 5, 1)));
	hu_map_certify(m, 8, hu_dd_sub(one, hu_operand_dd(sink, in, 5, 2)));
}

static void
certify_alone(hu_map *m, const hu_map *whole, int out)
{
	m->nk = 3;
	m->k[1] = whole->k[2 * out - 1];
	m->k[2] = whole->k[2 * out];
	m->ke[2] = whole->ke[2 * out];
	hu_map_certify(m, 2, hu_dd_sub(hu_dd_of(1), hu_dd_of(m->k[1])));
}

static double
direction(double m, double v, double one, double two, double eps)
{
	return m / one / (sqrt(v / two) + eps);
}

const hu_op hu_op_adamw = {
	.name = "adamw",
	.summary = "Adam with decoupled weight decay, PyTorch's form: epsilon beside the corrected second moment",
	.min_in = 6, .max_in = 7, .nout = 3,
	.attrs = "lr scheduled beta1 beta2 eps weight_decay", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT, .like = "-34",
	.role = HU_ROLE_ADAMW, .moment = "-12",
	.undefined = HU_UNDEFINED_DIVISION,
	.family = &hu_family_moments,
	.moments = &(hu_moments){
		.step = &step, .term = &term, .alone = { &moment, &squares }, .constants = constants, .eps = EPS,
		.usual_eps = 1e-8, .direction = direction,
		.certify = certify, .certify_alone = certify_alone, .blends = 1, .flops = 15,
	},
};
