/* SPDX-License-Identifier: Apache-2.0
   adam: Adam as Keras has it, which is the second form of Kingma & Ba 2015 (the end of their section 2): m += (g - m)(1
   - beta1), v += (g^2 - v)(1 - beta2), w -= m alpha / (sqrt(v) + eps) with alpha = lr sqrt(1 - beta2^t) / (1 -
   beta1^t). Epsilon stands beside the second moment as it is stored; in adamw.c, PyTorch's form, beside the corrected
   one, so that this epsilon counts for 1 / sqrt(1 - beta2^t) times as much, 32 times at the first step. The update uses
   m' and v' as computed, before their rounding to their own formats. */
#include "lib/op/element/moments.h"

#include "lib/op/scalars.h"

#define STEP(S, T)                                                     \
	do {                                                           \
		T m = in[2][i], v = in[3][i];                          \
		out[0][i] = hu_adam##S(c, in[0][i], in[1][i], &m, &v); \
		out[1][i] = m;                                         \
		out[2][i] = v;                                         \
	} while (0)
#define STEP_TERM(S, T)                                                \
	do {                                                           \
		T m = in[2][i], v = in[3][i];                          \
		out[0][i] = hu_adam##S(c, in[0][i], in[1][i], &m, &v); \
		m = in[2][i];                                          \
		v = in[3][i];                                          \
		out[1][i] = hu_adam_term##S(c, in[1][i], &m, &v);      \
	} while (0)
#define MOMENT(S, T) out[0][i] = hu_toward##S(c, c->k[1], in[0][i], in[1][i])
#define SQUARES(S, T) out[0][i] = hu_toward##S(c, c->k[1], in[0][i], hu_square##S(c, in[1][i]))

/* k: the formula's four (formula.inc), and beyond them what they are made of, as the call and the clock give it. */
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

HU_BLOCKS(step, STEP, exact_step)
HU_BLOCKS(step_term, STEP_TERM, NULL)
HU_BLOCKS(moment, MOMENT, NULL)
HU_BLOCKS(squares, SQUARES, NULL)
HU_BLOCKS(keep, HU_MOMENTS_KEEP, hu_moments_exact_keep)

/* Alpha is five rounded operations away from what the call says, the one under the root counting half. */
static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_moments_init(m, c, hu_moments_skipped(in) ? &keep : &step, in);
	m->nk = OF_FORMULA;
	m->k[LR] = hu_attr_num(c, "lr", 1e-3);
	m->k[BETA1] = hu_attr_num(c, "beta1", 0.9);
	m->k[BETA2] = hu_attr_num(c, "beta2", 0.999);
	m->k[POWER1] = hu_get(in[5], 1);
	m->k[POWER2] = hu_get(in[5], 2);
	m->k[ALPHA] = hu_adam_alpha(m->k[LR], m->k[POWER1], m->k[POWER2]);
	m->k[REST1] = 1 - m->k[BETA1];
	m->k[REST2] = 1 - m->k[BETA2];
	m->k[EPS] = hu_attr_num(c, "eps", 1e-7);
	for (size_t i = 1; i < 3; i++) {
		m->kx[POWER1 + i - 1].t = in[5];
		m->kx[POWER1 + i - 1].i = i;
	}
	m->ke[ALPHA] = hu_up(5 * hu_bounded_own(m->k[ALPHA]));
	m->ke[REST1] = hu_bounded_own(m->k[REST1]);
	m->ke[REST2] = hu_bounded_own(m->k[REST2]);
}

HU_MOMENTS_FACES

/* The constants that the mathematics has: no double holds 1 - beta and its like. */
static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	const hu_dd one = hu_dd_of(1);
	hu_map m, rounded;

	prepare(&m, c, in);
	hu_dd rest[] = { hu_dd_sub(one, hu_dd_of(m.k[BETA1])), hu_dd_sub(one, hu_dd_of(m.k[BETA2])) };
	if (out > 0 && m.blocks == &step) { /* a moment alone: the same operations as in the whole step */
		double k = m.k[out], off = m.ke[out];
		hu_map_init(&m, c, out == 1 ? &moment : &squares, in[0]->n, 1);
		hu_map_add(&m, in[2 + out], HU_EACH);
		hu_map_add(&m, in[1], HU_EACH);
		m.nk = 2;
		m.k[1] = k;
		m.ke[1] = off;
		hu_map_certify(&m, 1, rest[out - 1]);
		return hu_map_enclose(&m, &m, in, 0, hu_output_format(c, in, out), element, n, sink);
	}
	emulated(&rounded, c, in);
	hu_dd up = hu_dd_mul(hu_dd_of(m.k[LR]), hu_dd_sqrt(hu_dd_sub(one, hu_operand_dd(sink, in, 5, 2))));
	hu_map_certify(&m, ALPHA, hu_dd_div(up, hu_dd_sub(one, hu_operand_dd(sink, in, 5, 1))));
	hu_map_certify(&m, REST1, rest[0]);
	hu_map_certify(&m, REST2, rest[1]);
	return hu_map_enclose(&m, &rounded, in, out, hu_output_format(c, in, out), element, n, sink);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 12.0 * (double)hu_count(in[0]);
}

const hu_op hu_op_adam = {
	.name = "adam", .summary = "Adam, Keras's form: epsilon beside the second moment as it is stored",
	.min_in = 6, .max_in = 6, .nout = 3, .attrs = "lr beta1 beta2 eps", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT, .like = "-34",
	.own = {
		.shape = hu_moments_shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .swamping = swamping, .updates = updates,
	},
};
