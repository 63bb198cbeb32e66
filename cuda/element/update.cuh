/* SPDX-License-Identifier: Apache-2.0
   The formulas of the optimizers' updates, for one parameter at a time (adam.cu, adamw.cu, sgd.cu) and for all of them
   in one launch (fuse_update.cu). */
#ifndef HU_CUDA_UPDATE_CUH
#define HU_CUDA_UPDATE_CUH

#include "cuda/element/scalar.cuh"

/* operands: w, g, m, v, found_inf; the last result of each is what the update subtracts from the weight */
#define HU_MOMENTS_STEP(TERM, LESS, T)                         \
	do {                                                   \
		T m = in[2][i], v = in[3][i];                  \
		out[0][i] = in[0][i];                          \
		out[3][i] = 0;                                 \
		if (!(in[4][i] != 0)) {                        \
			out[3][i] = TERM(c, in[1][i], &m, &v); \
			out[0][i] = LESS(c, in[0][i], out[3][i]); \
		}                                              \
		out[1][i] = m;                                 \
		out[2][i] = v;                                 \
	} while (0)
#define HU_ADAM_STEP(S, T) HU_MOMENTS_STEP(hu_adam_term##S, hu_adam_less##S, T)
#define HU_ADAMW_STEP(S, T) HU_MOMENTS_STEP(hu_adamw_term##S, hu_adamw_less##S, T)
HU_FORMULA(hu_adam_step, 5, 4, HU_ADAM_STEP)
HU_FORMULA(hu_adamw_step, 5, 4, HU_ADAMW_STEP)
template <> inline constexpr int hu_is_long<hu_adam_step> = 1;
template <> inline constexpr int hu_is_long<hu_adamw_step> = 1;

/* operands: w, g, found_inf, v */
#define HU_SGD_STEP(S, T)                                                                   \
	do {                                                                                \
		out[0][i] = in[0][i];                                                       \
		out[1][i] = 0;                                                              \
		if (!(in[2][i] != 0)) {                                                     \
			out[1][i] = hu_sgd_term##S(c, in[0][i], in[1][i], NULL, NULL);      \
			out[0][i] = hu_sgd_less##S(c, in[0][i], out[1][i]);                 \
		}                                                                           \
	} while (0)
#define HU_SGD_MOVE(S, T)                                                                            \
	do {                                                                                         \
		out[0][i] = in[0][i];                                                                \
		out[1][i] = in[3][i];                                                                \
		out[2][i] = 0;                                                                       \
		if (!(in[2][i] != 0)) {                                                              \
			out[2][i] = hu_sgd_term##S(c, in[0][i], in[1][i], &in[3][i], &out[1][i]);    \
			out[0][i] = hu_sgd_less##S(c, in[0][i], out[2][i]);                          \
		}                                                                                    \
	} while (0)
HU_FORMULA(hu_sgd_step, 3, 2, HU_SGD_STEP)
HU_FORMULA(hu_sgd_move, 4, 3, HU_SGD_MOVE)

/* Counts the updates of the weights, stored in next. m is the map that computed them, whose last result is what is
   subtracted. */
template <class F, class S>
HU_KERNEL
hu_update_count_kernel(HU_PARAM hu_field m, HU_PARAM hu_store_operand next, hu_update_tally *count)
{
	hu_update_tally mine = { 0, 0 };
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.n; i += gridDim.x * blockDim.x) {
		typename S::T out[F::nout][1];
		hu_field_element<F, S>(&m, &c, i, out);
		hu_update_count(&mine, hu_load_f64(&m.in[0], i), (double)out[F::nout - 1][0], hu_load_f64(&next, i));
	}
	hu_count_in(&count->updates, mine.updates);
	hu_count_in(&count->swamped, mine.swamped);
}

/* Runs map m of call w, then counts what it did if counts are wanted, in a pass of its own. */
template <class F>
static hu_status
hu_update_run(hu_work *w, const hu_field *m)
{
	HU_TRY(hu_field_run<F>(w, m));
	if (w->updates && m->n)
		HU_TRY_IN_NUMERIC(
			m->compute, HU_GO(w, (hu_update_count_kernel<F, S>), hu_blocks_for(m->n, 2048, 1024),
					    HU_FIELD_THREADS, 0, *m, hu_operand_of(w->out[0], HU_AT_EACH), w->updates));
	return HU_OK;
}

/* The learning rate of a call: an attribute, or an operand that a schedule computed on the device. */
struct hu_rate {
	double lr;
	int scheduled;
	hu_store_operand operand;
};

static inline hu_rate
hu_rate_of(const hu_work *w, double usual)
{
	hu_rate r;
	int at = hu_rate_operand(w->call);

	memset(&r, 0, sizeof r);
	r.lr = hu_attr_num(w->call, "lr", usual);
	r.scheduled = at >= 0;
	if (r.scheduled)
		r.operand = hu_operand_of(w->in[at], HU_AT_ONE);
	return r;
}

HU_DEVICE double hu_rate_get(const hu_rate *r) { return r->scheduled ? hu_load_f64(&r->operand, 0) : r->lr; }

HU_KERNEL
hu_adamw_constants_kernel(double *k, HU_PARAM hu_store_operand clock, hu_format v, HU_PARAM hu_rate lr, double b1,
	double b2, double eps, double decay)
{
	hu_adamw_constants(k, hu_rate_get(&lr), b1, b2, eps, decay, hu_load_f64(&clock, 1), hu_load_f64(&clock, 2), v);
}

HU_KERNEL
hu_adam_constants_kernel(
	double *k, HU_PARAM hu_store_operand clock, hu_format v, HU_PARAM hu_rate lr, double b1, double b2, double eps)
{
	hu_adam_constants(k, hu_rate_get(&lr), b1, b2, eps, hu_load_f64(&clock, 1), hu_load_f64(&clock, 2), v);
}

enum { HU_ADAM_CONSTANTS = 4, HU_ADAMW_CONSTANTS = 9, HU_SGD_CONSTANTS = 4 };

/* Computes the constants of call w, from its clock, to k. */
static inline hu_status
hu_adam_constants_of(hu_work *w, double *k)
{
	const hu_call *c = w->call;

	return HU_GO(w, hu_adam_constants_kernel, 1, 1, 0, k, hu_operand_of(w->in[5], HU_AT_EACH),
		hu_format_of(w->in[4]->format), hu_rate_of(w, 1e-3), hu_attr_num(c, "beta1", 0.9),
		hu_attr_num(c, "beta2", 0.999), hu_attr_num(c, "eps", 1e-7));
}

static inline hu_status
hu_adamw_constants_of(hu_work *w, double *k)
{
	const hu_call *c = w->call;

	return HU_GO(w, hu_adamw_constants_kernel, 1, 1, 0, k, hu_operand_of(w->in[5], HU_AT_EACH),
		hu_format_of(w->in[4]->format), hu_rate_of(w, 1e-3), hu_attr_num(c, "beta1", 0.9),
		hu_attr_num(c, "beta2", 0.999), hu_attr_num(c, "eps", 1e-8), hu_attr_num(c, "weight_decay", 0.01));
}

/* Runs call w, adam or adamw, whose constants are in k, element by element with formula F. */
template <class F>
static hu_status
hu_moments_run(hu_work *w, const double *k, int nk)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_in(&m, w->in[3], HU_AT_EACH);
	hu_field_in(&m, w->in[4], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_FLAG);
	for (int i = 0; i < 3; i++)
		hu_field_out(w, &m, w->out[i]);
	m.nk = nk;
	m.kd = k;
	return hu_update_run<F>(w, &m);
}

static inline int hu_sgd_moves(const hu_call *c) { return c->nin - (hu_rate_operand(c) >= 0) > 3; }

HU_KERNEL
hu_sgd_constants_kernel(double *to, HU_PARAM hu_rate lr, double momentum, double decay, double nesterov)
{
	to[0] = hu_rate_get(&lr);
	to[1] = momentum;
	to[2] = decay;
	to[3] = nesterov;
}

/* Sets the constants of call w, an sgd: k, or where a schedule computes the rate kd, in the device's memory. */
static inline hu_status
hu_sgd_constants_of(hu_work *w, double *k, const double **kd)
{
	const hu_call *c = w->call;

	k[0] = hu_attr_num(c, "lr", 0.01);
	k[1] = hu_attr_num(c, "momentum", 0);
	k[2] = hu_attr_num(c, "weight_decay", 0);
	k[3] = hu_attr_num(c, "nesterov", 0);
	*kd = NULL;
	if (hu_rate_operand(c) < 0)
		return HU_OK;
	double *to = hu_numbers(w, HU_SGD_CONSTANTS);
	*kd = to;
	return HU_GO(w, hu_sgd_constants_kernel, 1, 1, 0, to, hu_rate_of(w, k[0]), k[1], k[2], k[3]);
}
#endif
