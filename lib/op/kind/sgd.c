/* SPDX-License-Identifier: Apache-2.0
   sgd: g += decay w; v = momentum v + g; w -= lr v (without v: w -= lr g; nesterov=1, PyTorch's form of Nesterov's:
   w -= lr (g + momentum v)). If found_inf is set the old values are kept. With scheduled=1 the last operand is the
   learning rate. */
#include "lib/op/element/pointwise.h"
#include "lib/op/scalars.h"
#include "lib/op/update/update.h"

#define STEP(S, T) out[0][i] = hu_sgd##S(c, in[0][i], in[1][i], NULL, NULL)
#define MOVE(S, T) out[0][i] = hu_sgd##S(c, in[0][i], in[1][i], &in[2][i], &out[1][i])
#define STEP_TERM(S, T) (STEP(S, T), out[1][i] = hu_sgd_term##S(c, in[0][i], in[1][i], NULL, NULL))
#define MOVE_TERM(S, T) (MOVE(S, T), out[1][i] = hu_sgd_term##S(c, in[0][i], in[1][i], &in[2][i], &out[1][i]))
#define KEEP(S, T) out[0][i] = in[0][i]
#define KEEP2(S, T) (out[0][i] = in[0][i], out[1][i] = in[2][i])

static void
exact_move(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_mul(t, k[2], x[0], MPFR_RNDN);
	mpfr_add(t, t, x[1], MPFR_RNDN);
	if (mpfr_zero_p(k[2]))
		mpfr_set(t, x[1], MPFR_RNDN);
	mpfr_mul(y, k[1], x[2], MPFR_RNDN);
	if (out == 0 && !mpfr_zero_p(k[3])) { /* g + momentum (momentum v + g) */
		mpfr_add(y, y, t, MPFR_RNDN);
		mpfr_mul(y, y, k[1], MPFR_RNDN);
	}
	mpfr_add(t, t, y, MPFR_RNDN);
	if (out == 0) {
		mpfr_mul(t, t, k[0], MPFR_RNDN);
		mpfr_sub(y, x[0], t, MPFR_RNDN);
	} else {
		mpfr_set(y, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

static void
exact_step(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	mpfr_mul(y, k[2], x[0], MPFR_RNDN);
	mpfr_add(y, y, x[1], MPFR_RNDN);
	if (mpfr_zero_p(k[2]))
		mpfr_set(y, x[1], MPFR_RNDN);
	mpfr_mul(y, y, k[0], MPFR_RNDN);
	mpfr_sub(y, x[0], y, MPFR_RNDN);
}

static void
exact_keep(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	mpfr_set(y, x[out == 0 ? 0 : 2], MPFR_RNDN);
}
HU_BLOCKS(step, STEP, exact_step)
HU_BLOCKS(move, MOVE, exact_move)
HU_BLOCKS(step_term, STEP_TERM, NULL)
HU_BLOCKS(move_term, MOVE_TERM, NULL)
HU_BLOCKS(keep, KEEP, exact_keep)
HU_BLOCKS(keep2, KEEP2, exact_keep)

static int has_velocity(const hu_call *c) { return c->nin - (hu_rate_operand(c) >= 0) > 3; }

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	int found = hu_get(in[2], 0) != 0, two = has_velocity(c), rate = hu_rate_operand(c);

	hu_map_init(m, c, found ? (two ? &keep2 : &keep) : two ? &move : &step, in[0]->n, 1);
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_EACH);
	if (two)
		hu_map_add(m, in[3], HU_EACH);
	m->nk = 4;
	m->k[0] = rate < 0 ? hu_attr_num(c, "lr", 0.01) : hu_get(in[rate], 0);
	m->kx[0].t = rate < 0 ? NULL : in[rate];
	m->k[1] = hu_attr_num(c, "momentum", 0);
	m->k[2] = hu_attr_num(c, "weight_decay", 0);
	m->k[3] = hu_attr_num(c, "nesterov", 0);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_expect(c, 1, in[1], in[0]));
	HU_TRY(hu_shape_length(c, 2, in[2], 1));
	HU_TRY(hu_shape_rate(c, in, 3, 4));
	if (has_velocity(c))
		HU_TRY(hu_shape_expect(c, 3, in[3], in[0]));
	if (c->nout > 1 && !has_velocity(c))
		return hu_fail(HU_EINVAL, "sgd: a second output needs the velocity as fourth operand");
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	return hu_shape_settle(c, 1, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	int moving = has_velocity(c), nesterov = moving && hu_attr_num(c, "nesterov", 0) != 0;

	k->flops = (2.0 + 2 * moving + 2 * nesterov + (hu_attr_num(c, "weight_decay", 0) != 0 ? 2 : 0)) *
		   (double)hu_count(in[0]);
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_map m;

	if (out != 0 || hu_get(in[2], 0) != 0)
		return HU_OK;
	prepare(&m, c, in);
	m.blocks = has_velocity(c) ? &move_term : &step_term;
	return hu_update_swamping(&m, element, n, env, count);
}

static void
updates(const hu_call *c, hu_tensor *const *in, const hu_tensor *out, hu_update_tally *count)
{
	hu_map m;

	if (hu_get(in[2], 0) != 0)
		return;
	prepare(&m, c, in);
	m.blocks = has_velocity(c) ? &move_term : &step_term;
	hu_update_tally_all(&m, in[0], out, count);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	int rate = hu_rate_operand(c);
	hu_map m;

	prepare(&m, c, in);
	if (rate >= 0)
		hu_map_certify(&m, 0, hu_operand_dd(sink, in, rate, 0));
	return hu_map_enclose(&m, &m, in, out, hu_output_format(c, in, out), element, n, sink);
}

const hu_op hu_op_sgd = {
	.name = "sgd", .summary = "gradient descent with momentum and weight decay", .min_in = 3, .max_in = 5,
	.nout = 2, .attrs = "lr scheduled momentum weight_decay nesterov", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT, .like = "-3",
	.role = HU_ROLE_SGD, .moment = "-1",
	.own = {
		.shape = shape, .cost = cost, .enclose = enclose, .swamping = swamping, .updates = updates,
	},
	.family = &hu_family_pointwise, .pointwise = &(hu_pointwise){ .prepare = prepare },
};
