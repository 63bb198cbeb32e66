/* SPDX-License-Identifier: Apache-2.0
   Element-by-element operators on the device: the formulas of lib/op/element/formula.inc in the numeric type of the
   call's compute format, several neighbouring elements per thread. HU_AT_… says which element of an operand belongs
   to element i, as hu_how in lib/op/element/formulas.h does for the host. Reductions are in reduce.cuh. Indices have 32
   bits, and divisions are multiplications (cuda/base/divide.h), because a device's divisions would cost more than
   everything else; the executor refuses tensors of more than HU_MOST_ELEMENTS. */
#ifndef HU_CUDA_MAP_CUH
#define HU_CUDA_MAP_CUH

#include "cuda/element/numeric.cuh"
#include "cuda/element/vector.cuh"
#include "cuda/base/divide.h"

enum { HU_FIELD_IN = 8, HU_FIELD_OUT = 4, HU_FIELD_THREADS = 256 };

/* A map with everything that a kernel needs, by value. whole is the number of runs of several elements (vector.cuh)
   that a launch makes, the other elements being alone. kd, if set, points to constants that only the device knows. raw
   and to are for the host: outputs that are rounded afterwards. */
typedef struct hu_field {
	hu_store_operand in[HU_FIELD_IN];
	hu_store_result out[HU_FIELD_OUT];
	int nin, nout, nk;
	uint32_t n, channels, whole;
	hu_divisor by_channels, by_image;
	hu_format compute;
	double k[HU_CONSTANTS];
	const double *kd;
	hu_slot raw[HU_FIELD_OUT];
	const hu_slot *to[HU_FIELD_OUT];
} hu_field;

HU_HD uint32_t
hu_field_place(const hu_field *m, int how, uint32_t i)
{
	if (how == HU_AT_EACH)
		return i;
	if (how == HU_AT_ONE || how == HU_AT_FLAG)
		return 0;
	uint32_t row = hu_quotient(i, m->by_channels), channel = i - row * m->channels;
	return how == HU_AT_ROW     ? row
	       : how == HU_AT_IMAGE ? hu_quotient(i, m->by_image) * m->channels + channel
				    : channel;
}

/* Whether neighbours among m's elements have neighbours of the operand, rather than one for all. */
HU_HD int hu_field_wide(int how) { return how == HU_AT_EACH || how == HU_AT_CHANNEL || how == HU_AT_IMAGE; }

/* Makes the struct NAME for a formula F(S, T) that computes results out[k][i] from operands in[k][i] and constants c->k
   as in lib/op, where S is the numeric type's suffix, T its type and i is 0. It loads NIN operands and makes NOUT
   results. HU_FORMULA_OF does so for a formula F(X, S, T). */
#define HU_FORMULA(NAME, NIN, NOUT, F) HU_FORMULA_OF(NAME, NIN, NOUT, HU_FIELD_FORMULA, F)
#define HU_FIELD_FORMULA(F, S, T) F(S, T)
#define HU_FORMULA_OF(NAME, NIN, NOUT, F, X)                                                                          \
	struct NAME {                                                                                                 \
		enum { nin = NIN, nout = NOUT };                                                                      \
		static HU_DEVICE_MEMBER void                                                                          \
		run(hu_in_f32, const hu_ctx_f32 *c, float (*in)[1], float (*out)[1])                                  \
		{                                                                                                     \
			enum { i };                                                                                   \
			(void)c, (void)in;                                                                            \
			F(X, _f32, float);                                                                            \
		}                                                                                                     \
		static HU_DEVICE_MEMBER void                                                                          \
		run(hu_in_short, const hu_ctx_short *c, double (*in)[1], double (*out)[1])                            \
		{                                                                                                     \
			enum { i };                                                                                   \
			(void)c, (void)in;                                                                            \
			F(X, _short, double);                                                                         \
		}                                                                                                     \
		static HU_DEVICE_MEMBER void                                                                          \
		run(hu_in_plain, const hu_ctx_f64 *c, double (*in)[1], double (*out)[1])                              \
		{                                                                                                     \
			enum { i };                                                                                   \
			(void)c, (void)in;                                                                            \
			F(X, _plain, double);                                                                         \
		}                                                                                                     \
	};

template <class S>
HU_DEVICE void
hu_field_context(const hu_field *m, typename S::C *c)
{
	S::begin(c, &m->compute);
	HU_UNROLL
	for (int k = 0; k < HU_CONSTANTS; k++)
		if (k < m->nk)
			c->k[k] = S::constant(c, m->kd ? m->kd[k] : m->k[k]);
}

/* Whether a formula takes so many instructions that its kernel has one copy of it rather than one for each of several
   elements; specialised where it is so. */
template <class F> inline constexpr int hu_is_long = 0;

/* What several operators compute: an operand itself, its quotient by a constant or by another, its square. */
#define HU_ITSELF(S, T) out[0][i] = in[0][i]
#define HU_DIVIDED(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
#define HU_RATIO(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
#define HU_SQUARED(S, T) out[0][i] = hu_square##S(c, in[0][i])
HU_FORMULA(hu_itself, 1, 1, HU_ITSELF)
HU_FORMULA(hu_divided, 1, 1, HU_DIVIDED)
HU_FORMULA(hu_ratio, 2, 1, HU_RATIO)
HU_FORMULA(hu_squared, 1, 1, HU_SQUARED)
template <> inline constexpr int hu_is_long<hu_divided> = 1;
template <> inline constexpr int hu_is_long<hu_ratio> = 1;
#undef HU_ITSELF
#undef HU_DIVIDED
#undef HU_RATIO
#undef HU_SQUARED

/* Loads run at of an operand with an element for each. CALLED as for hu_decode. */
template <class S, int V, int CALLED = 1>
HU_DEVICE void
hu_run_load(const typename S::C *c, const hu_store_operand *o, const void *data, hu_element_run at, typename S::T *x)
{
	if constexpr (V > 1)
		if (at.many > 1)
			hu_vector_load<V, CALLED>(x, o, data, at.i);
	if (at.many == 1)
		x[0] = S::load(c, o, data, at.i);
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = S::taken(c, HU_AT_EACH, x[v]);
}

/* Loads operand k of run at. */
template <class S, int V>
HU_DEVICE void
hu_field_load(const hu_field *m, const typename S::C *c, const hu_store_operand *o, hu_element_run at, typename S::T *x)
{
	uint32_t place = hu_field_place(m, o->how, at.i);

	if (V > 1 && at.many > 1 && hu_field_wide(o->how)) {
		if constexpr (V > 1)
			hu_vector_load<V, 1>(x, o, o->data, place);
	} else {
		typename S::T one = o->how == HU_AT_INDEX ? (typename S::T)place : S::load(c, o, o->data, place);
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = o->how == HU_AT_INDEX ? one + (typename S::T)v : one;
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = S::taken(c, o->how, x[v]);
}

/* Computes the results of the first many of V elements from their operands. */
template <class F, class S, int V>
HU_DEVICE void
hu_formula_run(const typename S::C *c, typename S::T (*in)[V], typename S::T (*out)[V], uint32_t many)
{
	enum { COPIES = hu_is_long<F> ? 1 : V };
	HU_UNROLL_BY(COPIES)
	for (int v = 0; v < V; v++) {
		typename S::T a[F::nin][1], y[F::nout][1];
		if ((uint32_t)v < many) {
			HU_UNROLL
			for (int k = 0; k < F::nin; k++)
				a[k][0] = in[k][v];
			F::run(S(), c, a, y);
			HU_UNROLL
			for (int k = 0; k < F::nout; k++)
				out[k][v] = y[k][0];
		}
	}
}

/* Computes the results of a run. */
template <class F, class S, int V>
HU_DEVICE void
hu_field_run_of(const hu_field *m, const typename S::C *c, hu_element_run at, typename S::T (*out)[V])
{
	typename S::T in[F::nin][V];

	HU_UNROLL
	for (int k = 0; k < F::nin; k++)
		hu_field_load<S, V>(m, c, &m->in[k], at, in[k]);
	hu_formula_run<F, S, V>(c, in, out, at.many);
}

/* Computes the results of element i. */
template <class F, class S>
HU_DEVICE void
hu_field_element(const hu_field *m, const typename S::C *c, uint32_t i, typename S::T (*out)[1])
{
	hu_element_run at = { i, 1 };

	hu_field_run_of<F, S, 1>(m, c, at, out);
}

/* Stores a run; x is then rounded. */
template <class S, int V, int CALLED = 1>
HU_DEVICE void
hu_run_store(const hu_store_result *r, void *data, hu_element_run at, typename S::T *x)
{
	if constexpr (V > 1) {
		if (at.many > 1) {
			hu_vector_store<V, CALLED>(r, data, at.i, x);
			return;
		}
	}
	S::store_alone(r, data, at.i, x[0]);
}

/* Stores a run and leaves in x what the next call takes. */
template <class S, int V, int CALLED = 1>
HU_DEVICE void
hu_run_pass(const typename S::C *c, const hu_store_result *r, void *data, hu_element_run at, typename S::T *x)
{
	if constexpr (V > 1)
		if (at.many > 1)
			hu_vector_store<V, CALLED>(r, data, at.i, x);
	if (at.many == 1) {
		S::store_alone(r, data, at.i, x[0]);
		x[0] = S::settled(r, x[0]);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = S::taken(c, HU_AT_EACH, x[v]);
}

template <class F, class S>
HU_KERNEL
hu_field_kernel(HU_PARAM hu_field m)
{
	enum { V = S::vector };
	typename S::C c;
	uint32_t runs = hu_runs(m.n, m.whole, V);

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		hu_element_run at = hu_run_at<V>(t, m.whole);
		typename S::T out[F::nout][V];
		hu_field_run_of<F, S, V>(&m, &c, at, out);
		HU_UNROLL
		for (int k = 0; k < F::nout; k++)
			if (k < m.nout)
				hu_run_store<S, V>(&m.out[k], m.out[k].data, at, out[k]);
	}
}

/* On the host: a map of n elements of the call, with this many channels. */
static inline hu_field
hu_field_of(const hu_work *w, size_t n, size_t channels)
{
	hu_field m;

	memset(&m, 0, sizeof m);
	m.n = (uint32_t)n;
	m.channels = channels ? (uint32_t)channels : 1;
	m.by_channels = hu_divisor_of(m.channels);
	m.compute = hu_format_of(w->call->fmt.compute);
	return m;
}

static inline void
hu_field_in(hu_field *m, const hu_slot *t, int how)
{
	if (t)
		m->in[m->nin] = hu_operand_of(t, how);
	m->in[m->nin++].how = how;
}

/* Adds a call's output, rounded as the call says. */
static inline void
hu_field_out(hu_work *w, hu_field *m, const hu_slot *t)
{
	m->to[m->nout] = t;
	m->out[m->nout] = hu_result_begin(w, t, &m->raw[m->nout], m->compute.id != HU_FP32);
	m->nout++;
}

/* Sends the next result to a stat, without rounding. */
static inline void hu_field_keep(hu_field *m, const hu_slot *t) { m->out[m->nout++] = hu_result_of(t, 0); }

/* The number of whole runs of v elements in doubles or in floats: 0 if a run's operands or results are no run. */
static inline uint32_t
hu_field_whole(const hu_field *m, uint32_t v, int doubles)
{
	int whole = v > 1;

	for (int k = 0; k < m->nin; k++) {
		int how = m->in[k].how;
		whole &= how == HU_AT_EACH || how == HU_AT_ONE || how == HU_AT_FLAG || m->channels % v == 0;
		whole &= !hu_field_wide(how) ||
			 (hu_aligned(m->in[k].data) && hu_vector_serves_kind(doubles, m->in[k].kind));
	}
	for (int k = 0; k < m->nout; k++)
		whole &= hu_aligned(m->out[k].data) && hu_vector_serves_kind(doubles, m->out[k].kind);
	return whole ? m->n / v : 0;
}

/* A kernel of a map, its numeric type's run and whether that is of doubles. The formula that the kernel computes does
   not matter to the host, whose part therefore is no template and is compiled once. */
typedef void hu_field_function(hu_field);
typedef struct hu_field_choice { hu_field_function *kernel; uint32_t v; int doubles; } hu_field_choice;

template <class S>
static inline hu_field_choice
hu_field_in_numeric(hu_field_function *kernel)
{
	hu_field_choice c = { kernel, (uint32_t)S::vector, sizeof(typename S::T) == sizeof(double) };

	return c;
}

/* The blocks for m, of which it sets the whole runs. */
static inline unsigned
hu_field_blocks(hu_field *m, uint32_t v, int doubles)
{
	m->whole = hu_field_whole(m, v, doubles);
	return hu_blocks_for(hu_runs(m->n, m->whole, v), HU_FIELD_THREADS, 65535);
}

static __attribute__((noinline, unused)) hu_status
hu_field_start(hu_work *w, const hu_field *field, hu_field_choice c)
{
	hu_field m = *field;
	hu_field_function *field_kernel = c.kernel; /* as a failed launch names it */
	unsigned blocks = hu_field_blocks(&m, c.v, c.doubles);

	HU_TRY(HU_GO(w, field_kernel, blocks, HU_FIELD_THREADS, 0, m));
	for (int k = 0; k < m.nout; k++)
		HU_TRY(hu_result_finish(w, &m.raw[k], m.to[k]));
	return HU_OK;
}

template <class F>
static hu_status
hu_field_run(hu_work *w, const hu_field *m)
{
	if (!m->n)
		return HU_OK;
	HU_TRY_IN_NUMERIC(m->compute, hu_field_start(w, m, hu_field_in_numeric<S>(hu_field_kernel<F, S>)));
	return HU_OK;
}
#endif
