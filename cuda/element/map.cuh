/* SPDX-License-Identifier: Apache-2.0
   Element-by-element operators on the device: the formulas of lib/op/element/formula.inc in the carrier of the call's
   compute format, one element per thread. HU_AT_… says which element of an operand belongs to element i, as hu_how in
   lib/op/element/formulas.h does for the host. Reductions are in reduce.cuh. Indices have 32 bits, because 64-bit
   divisions would cost more than everything else; the executor refuses tensors of more than HU_MOST_ELEMENTS. */
#ifndef HU_CUDA_MAP_CUH
#define HU_CUDA_MAP_CUH

#include "cuda/element/short.h"
#include "cuda/element/store.h"

/* HU_AT_FLAG is as HU_AT_ONE, without rounding if 0 is not a value of the compute format. */
enum { HU_AT_EACH, HU_AT_CHANNEL, HU_AT_ROW, HU_AT_IMAGE, HU_AT_ONE, HU_AT_INDEX, HU_AT_FLAG };
enum { HU_FIELD_IN = 8, HU_FIELD_OUT = 4, HU_FIELD_THREADS = 256 };

/* A map with everything that a kernel needs, by value. kd, if set, points to constants that only the device knows. raw
   and to are for the host: outputs that are rounded afterwards. */
typedef struct hu_field {
	hu_store_operand in[HU_FIELD_IN];
	hu_store_result out[HU_FIELD_OUT];
	int nin, nout, nk;
	uint32_t n, channels, image;
	hu_format compute;
	double k[HU_CONSTANTS];
	const double *kd;
	hu_slot raw[HU_FIELD_OUT];
	const hu_slot *to[HU_FIELD_OUT];
} hu_field;

HU_HD uint32_t
hu_field_place(const hu_field *m, int how, uint32_t i)
{
	switch (how) {
	case HU_AT_EACH: return i;
	case HU_AT_CHANNEL: return i % m->channels;
	case HU_AT_ROW: return i / m->channels;
	case HU_AT_IMAGE: return i / m->image * m->channels + i % m->channels;
	default: return 0;
	}
}

/* The carriers (lib/op/element/formula.h, cuda/element/short.h): type, context, loads, stores and one rounded
   addition. */
struct hu_in_f32 {
	typedef float T;
	typedef hu_ctx_f32 C;
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = *f; }
	static HU_DEVICE_MEMBER T constant(const C *, double x) { return (float)x; }
	static HU_DEVICE_MEMBER T load(const hu_field *m, const C *, const hu_store_operand *o, uint32_t i)
	{
		return o->how == HU_AT_INDEX ? (float)(i % m->channels) : hu_load_f32(o, hu_field_place(m, o->how, i));
	}
	static HU_DEVICE_MEMBER T at(const C *, const hu_store_operand *o, uint32_t i) { return hu_load_f32(o, i); }
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f32(r, i, x); }
	/* Stores x and returns it as the next call would load it. */
	static HU_DEVICE_MEMBER T pass(const C *, const hu_store_result *r, uint32_t i, T x)
	{
		x = hu_settled_f32(r, x);
		hu_put_f32(r, i, x);
		return x;
	}
	static HU_DEVICE_MEMBER T add(const C *, T a, T b) { return a + b; }
};

struct hu_in_short {
	typedef double T;
	typedef hu_ctx_short C;
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = hu_short_of(*f); }
	static HU_DEVICE_MEMBER T constant(const C *c, double x) { return hu_short_round(&c->f, x); }
	static HU_DEVICE_MEMBER T load(const hu_field *m, const C *c, const hu_store_operand *o, uint32_t i)
	{
		return hu_short_round(&c->f, o->how == HU_AT_INDEX ? (double)(i % m->channels)
								   : hu_load_f64(o, hu_field_place(m, o->how, i)));
	}
	static HU_DEVICE_MEMBER T
	at(const C *c, const hu_store_operand *o, uint32_t i)
	{
		return hu_short_round(&c->f, hu_load_f64(o, i));
	}
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f64(r, i, x); }
	static HU_DEVICE_MEMBER T pass(const C *c, const hu_store_result *r, uint32_t i, T x)
	{
		hu_store_f64(r, i, x);
		return hu_short_round(&c->f, hu_settled_f64(r, x));
	}
	static HU_DEVICE_MEMBER T add(const C *c, T a, T b) { return hu_short_round(&c->f, a + b); }
};

struct hu_in_plain {
	typedef double T;
	typedef hu_ctx_f64 C;
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = *f; }
	static HU_DEVICE_MEMBER T constant(const C *c, double x) { return hu_plain_round(&c->f, x); }
	static HU_DEVICE_MEMBER T load(const hu_field *m, const C *c, const hu_store_operand *o, uint32_t i)
	{
		double x = o->how == HU_AT_INDEX ? (double)(i % m->channels)
						 : hu_load_f64(o, hu_field_place(m, o->how, i));
		return o->how == HU_AT_FLAG ? x : hu_plain_round(&c->f, x);
	}
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f64(r, i, x); }
	static HU_DEVICE_MEMBER T add(const C *c, T a, T b) { return hu_plain_round(&c->f, a + b); }
};

/* On the host: go, a launch of kernels of the carrier S, with the carrier of format f. Passes of several calls
   (cuda/fuse/fuse.h) do not support hu_in_plain. */
#define HU_TRY_IN_CARRIER(f, go)                 \
	do {                                     \
		if ((f).id == HU_FP32) {         \
			typedef hu_in_f32 S;     \
			HU_TRY(go);              \
		} else if (hu_short_serves(f)) { \
			typedef hu_in_short S;   \
			HU_TRY(go);              \
		} else {                         \
			typedef hu_in_plain S;    \
			HU_TRY(go);              \
		}                                \
	} while (0)

/* Makes the struct NAME for a formula F(S, T) that computes results out[k][i] from operands in[k][i] and constants c->k
   as in lib/op, where S is the carrier's suffix, T its type and i is 0. It loads NIN operands and makes NOUT results.
   HU_FORMULA_OF does so for a formula F(X, S, T). */
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

/* Computes the results of element i. */
template <class F, class S>
HU_DEVICE void
hu_field_element(const hu_field *m, const typename S::C *c, uint32_t i, typename S::T (*out)[1])
{
	typename S::T in[HU_FIELD_IN][1];

	HU_UNROLL
	for (int k = 0; k < F::nin; k++)
		in[k][0] = S::load(m, c, &m->in[k], i);
	F::run(S(), c, in, out);
}

template <class F, class S>
HU_KERNEL
hu_field_kernel(HU_PARAM hu_field m)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.n; i += gridDim.x * blockDim.x) {
		typename S::T out[F::nout][1];
		hu_field_element<F, S>(&m, &c, i, out);
		HU_UNROLL
		for (int k = 0; k < F::nout; k++)
			if (k < m.nout)
				S::store(&m.out[k], i, out[k][0]);
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
	m.image = n ? m.n : 1;
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

template <class F>
static hu_status
hu_field_run(hu_work *w, const hu_field *m)
{
	unsigned blocks = hu_blocks_for(m->n, HU_FIELD_THREADS, 65535);

	if (!m->n)
		return HU_OK;
	HU_TRY_IN_CARRIER(m->compute, HU_GO(w, (hu_field_kernel<F, S>), blocks, HU_FIELD_THREADS, 0, *m));
	for (int k = 0; k < m->nout; k++)
		HU_TRY(hu_result_finish(w, &m->raw[k], m->to[k]));
	return HU_OK;
}
#endif
