/* SPDX-License-Identifier: Apache-2.0
   Element-by-element calls, each of which reads what the one before it wrote, in one pass. The value stays in a
   register, rounded and stored by every call as if it were alone. If a scaled cast comes last, the pass finds the
   largest magnitude for it. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/scaled.cuh"

extern "C" {
#include "lib/op/element/formulas.h"
}

enum { LINKS = 3 };
enum op { BIAS, RELU, RELU_DX, GELU, GELU_TANH, GELU_DX, GELU_TANH_DX, CAST };

/* with is the other operand, if there is one. */
struct member { enum op op; hu_store_operand with; hu_store_result out; };
struct chain {
	hu_store_operand in;
	member link[LINKS];
	int n;
	uint32_t elements, channels, whole; /* whole runs of several elements */
	hu_divisor by_channels;
	hu_format compute;
	uint64_t *amax;
};

#define F_RELU(S, T) out[0][i] = hu_formula_relu##S(c, in[0][i])
#define F_RELU_DX(S, T) out[0][i] = hu_formula_relu_dx##S(c, in[0][i], in[1][i])
#define F_GELU(S, T) out[0][i] = hu_formula_gelu##S(c, in[0][i])
#define F_GELU_TANH(S, T) out[0][i] = hu_formula_gelu_tanh##S(c, in[0][i])
#define F_GELU_DX(S, T) out[0][i] = hu_formula_gelu_dx##S(c, in[0][i], in[1][i])
#define F_GELU_TANH_DX(S, T) out[0][i] = hu_formula_gelu_tanh_dx##S(c, in[0][i], in[1][i])
#define F_BIAS(S, T) out[0][i] = hu_formula_add##S(c, in[0][i], in[1][i])
HU_FORMULA(chained_relu, 1, 1, F_RELU)
HU_FORMULA(chained_relu_dx, 2, 1, F_RELU_DX)
HU_FORMULA(chained_gelu, 1, 1, F_GELU)
HU_FORMULA(chained_gelu_tanh, 1, 1, F_GELU_TANH)
HU_FORMULA(chained_gelu_dx, 2, 1, F_GELU_DX)
HU_FORMULA(chained_gelu_tanh_dx, 2, 1, F_GELU_TANH_DX)
HU_FORMULA(chained_bias, 2, 1, F_BIAS)

template <> inline constexpr int hu_is_long<chained_gelu> = 1;
template <> inline constexpr int hu_is_long<chained_gelu_tanh> = 1;
template <> inline constexpr int hu_is_long<chained_gelu_dx> = 1;
template <> inline constexpr int hu_is_long<chained_gelu_tanh_dx> = 1;

static int is_long(enum op op) { return op == GELU || op == GELU_TANH || op == GELU_DX || op == GELU_TANH_DX; }

/* The elements of a run, in kernels of chains without a long formula (GELU) and with one: 16 bytes of 16-bit codes, or
   fewer. */
template <class S, int LONG> constexpr int run_of = LONG ? 4 : (int)S::fused;

/* A gradient's first operand is the forward tensor, its second the value passed along the chain. */
template <class S, int LONG, int V>
HU_DEVICE void
apply(const chain *h, const member *l, const typename S::C *c, hu_element_run at, typename S::T (*x)[V])
{
	typename S::T in[2][V], out[1][V];
	int gradient = l->op == RELU_DX || l->op == GELU_DX || l->op == GELU_TANH_DX;
	hu_element_run with = at;

	if (l->op == BIAS)
		with.i -= hu_quotient(at.i, h->by_channels) * h->channels;
	if (gradient || l->op == BIAS)
		hu_run_load<S, V>(c, &l->with, l->with.data, with, in[1]);
	HU_UNROLL
	for (int v = 0; v < V; v++) {
		in[0][v] = gradient ? in[1][v] : x[0][v];
		in[1][v] = gradient ? x[0][v] : in[1][v];
		out[0][v] = x[0][v];
	}
	if (l->op == BIAS)
		hu_formula_run<chained_bias, S, V>(c, in, out, at.many);
	else if (l->op == RELU)
		hu_formula_run<chained_relu, S, V>(c, in, out, at.many);
	else if (l->op == RELU_DX)
		hu_formula_run<chained_relu_dx, S, V>(c, in, out, at.many);
	if constexpr (LONG) {
		if (l->op == GELU)
			hu_formula_run<chained_gelu, S, V>(c, in, out, at.many);
		else if (l->op == GELU_TANH)
			hu_formula_run<chained_gelu_tanh, S, V>(c, in, out, at.many);
		else if (l->op == GELU_DX)
			hu_formula_run<chained_gelu_dx, S, V>(c, in, out, at.many);
		else if (l->op == GELU_TANH_DX)
			hu_formula_run<chained_gelu_tanh_dx, S, V>(c, in, out, at.many);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[0][v] = out[0][v];
}

template <class S, int LONG>
HU_KERNEL
chain_kernel(HU_PARAM chain h)
{
	enum { V = run_of<S, LONG> };
	uint32_t runs = hu_runs(h.elements, h.whole, V);
	typename S::C c;
	uint64_t most = 0;

	S::begin(&c, &h.compute);
	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		hu_element_run at = hu_run_at<V>(t, h.whole);
		typename S::T x[1][V];
		hu_run_load<S, V>(&c, &h.in, h.in.data, at, x[0]);
		HU_ONCE
		for (int k = 0; k < h.n; k++) {
			apply<S, LONG, V>(&h, &h.link[k], &c, at, x);
			hu_run_pass<S, V>(&c, &h.link[k].out, h.link[k].out.data, at, x[0]);
		}
		HU_UNROLL
		for (int v = 0; v < V; v++) {
			int seen = h.amax && (uint32_t)v < at.many;
			uint64_t u = seen ? hu_bits64((double)x[0][v]) & 0x7fffffffffffffffu : 0;
			most = u > most ? u : most;
		}
	}
	if (h.amax)
		hu_largest_in(h.amax, most);
}

template <class S, int LONG>
static hu_status
run(hu_work *w, chain *h, size_t blocks)
{
	enum { V = run_of<S, LONG> };
	int whole = hu_aligned(h->in.data) && hu_vector_serves<typename S::T>(h->in.kind);

	for (int k = 0; k < h->n; k++) {
		const member *l = &h->link[k];
		whole &= hu_aligned(l->out.data) && hu_vector_serves<typename S::T>(l->out.kind);
		whole &= hu_aligned(l->with.data) && hu_vector_serves<typename S::T>(l->with.kind);
		whole &= l->op != BIAS || h->channels % V == 0;
	}
	h->whole = whole ? h->elements / V : 0;
	return HU_GO(w, (chain_kernel<S, LONG>),
		hu_blocks_for(hu_runs(h->elements, h->whole, V), HU_MANY_THREADS, blocks), HU_MANY_THREADS, 0, *h);
}

/* Runs a chain, in its numeric type and with the formulas that it has. */
static hu_status
go(hu_work *w, chain *h, size_t blocks)
{
	int any = 0;

	for (int k = 0; k < h->n; k++)
		any |= is_long(h->link[k].op);
	if (h->compute.id == HU_FP32)
		return any ? run<hu_in_f32, 1>(w, h, blocks) : run<hu_in_f32, 0>(w, h, blocks);
	return any ? run<hu_in_short, 1>(w, h, blocks) : run<hu_in_short, 0>(w, h, blocks);
}

/* Returns 1 if the pass computes the call: a cast without a scale, or a formula of the list. An addition is a bias
   where its second operand is read channel by channel. */
static int
op_of(const hu_work *w, enum op *op)
{
	hu_pointwise_call p;

	*op = CAST;
	if (w->role == HU_ROLE_CAST)
		return w->call->nout == 1 && hu_attr_num(w->call, "scaled", 0) == 0;
	if (!hu_pointwise_describe(&p, w->call))
		return 0;
	switch (p.formula) {
	case HU_FORMULA_add: *op = BIAS; return p.how[1] == HU_CHANNEL;
	case HU_FORMULA_relu: *op = RELU; return 1;
	case HU_FORMULA_relu_dx: *op = RELU_DX; return 1;
	case HU_FORMULA_gelu: *op = GELU; return 1;
	case HU_FORMULA_gelu_tanh: *op = GELU_TANH; return 1;
	case HU_FORMULA_gelu_dx: *op = GELU_DX; return 1;
	case HU_FORMULA_gelu_tanh_dx: *op = GELU_TANH_DX; return 1;
	default: /* The others are kernels of their own. */
		return 0;
	}
}

/* Returns 1 for a scaled cast, which the pass only prepares; in floats, so that the value passed along is the one
   stored. */
static int
is_scaled(const hu_work *w)
{
	return w->role == HU_ROLE_CAST && hu_attr_num(w->call, "scaled", 0) != 0 && w->call->fmt.compute == HU_FP32 &&
	       w->in[0]->format != HU_FP64 && hu_result_quick(w, w->out[0]);
}

static int is_gradient(enum op op) { return op == RELU_DX || op == GELU_DX || op == GELU_TANH_DX; }

extern "C" int
HU_SIDE(fuse_chain_serves)(const hu_work *w, int n)
{
	enum op op;
	int last = n > 1 && is_scaled(&w[n - 1]) && w[n - 1].in[0] == w[n - 2].out[0] &&
		   w[0].call->fmt.compute == HU_FP32,
	    fits = n - last <= LINKS;

	for (int i = 0; i < n - last && fits; i++)
		fits = op_of(&w[i], &op) && w[i].call->fmt.compute == w[0].call->fmt.compute && hu_all_quick(&w[i]) &&
		       (op != CAST || w[i].in[0]->format != HU_FP64) && w[i].out[0]->n == w[0].out[0]->n &&
		       (!is_gradient(op) || w[i].in[1]->n == w[i].in[0]->n) &&
		       (i == 0 || (!is_gradient(op) && op != BIAS && w[i].in[0] == w[i - 1].out[0]));
	return fits;
}

extern "C" hu_status
HU_SIDE(fuse_chain)(hu_work *w, int n)
{
	hu_work *scaled = n > 1 && is_scaled(&w[n - 1]) ? &w[n - 1] : NULL;
	chain h;

	memset(&h, 0, sizeof h);
	n -= scaled != NULL;
	h.n = n;
	h.elements = (uint32_t)w[0].out[0]->n;
	h.channels = (uint32_t)hu_last(w[0].out[0]->shape);
	h.by_channels = hu_divisor_of(h.channels);
	h.compute = hu_format_of(w[0].call->fmt.compute);
	for (int i = 0; i < n; i++) {
		enum op op;
		op_of(&w[i], &op);
		h.link[i].op = op;
		if (i == 0)
			h.in = hu_operand_of(w[0].in[is_gradient(op)], HU_AT_EACH);
		if (is_gradient(op))
			h.link[i].with = hu_operand_of(w[i].in[0], HU_AT_EACH);
		else if (op == BIAS)
			h.link[i].with = hu_operand_of(w[i].in[1], HU_AT_CHANNEL);
		h.link[i].out = hu_result_of(w[i].out[0], w[i].call->flags);
	}
	if (!h.elements)
		return HU_OK;
	if (!scaled)
		return go(w, &h, 65535);
	HU_TRY(hu_counters(w, &h.amax, 1));
	HU_TRY(go(w, &h, 4096));
	hu_casts g;
	hu_casts_begin(&g, scaled);
	hu_casts_add(&g, scaled);
	g.amax = h.amax;
	return hu_casts_run(w, &g);
}
