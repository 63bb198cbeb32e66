/* SPDX-License-Identifier: Apache-2.0
   Casts of many tensors between the same two formats, and the second half of scaled ones, after the largest magnitudes
   are known: tensors are multiplied by their scales, which each block computes by itself, and rounded. */
#ifndef HU_CUDA_SCALED_CUH
#define HU_CUDA_SCALED_CUH

#include "cuda/element/many.cuh"
#include "cuda/element/scalar.cuh"

#define HU_TIMES_SCALE(S, T) out[0][i] = hu_scaled##S(c, in[0][i], c->k[0])
HU_FORMULA(hu_times_scale, 1, 1, HU_TIMES_SCALE)

/* scale, amax (the bits of the largest magnitude of each tensor) and max are for scaled casts. */
typedef struct hu_casts {
	hu_many t;
	const void *in[HU_MANY];
	void *out[HU_MANY], *scale[HU_MANY];
	hu_store_operand from;
	hu_store_result to, scale_to;
	hu_format compute;
	double max;
	uint64_t *amax;
} hu_casts;

/* The largest magnitude of a run, as a double's bits, which compare as magnitudes do, with NaN above infinity. */
HU_DEVICE uint64_t
hu_run_largest(const hu_store_operand *o, const void *data, hu_element_run at)
{
	enum { V = 8 };
	uint32_t most = 0;
	float x[V];

	if (o->kind == HU_KIND_F64)
		return hu_bits64(((const double *)data)[at.i]) & 0x7fffffffffffffffu;
	if (at.many > 1)
		hu_vector_load<V, 0>(x, o, data, at.i);
	else
		x[0] = hu_load_alone_f32(o, data, at.i);
	HU_UNROLL
	for (int v = 0; v < V; v++) {
		uint32_t u = (uint32_t)v < at.many ? hu_bits32(x[v]) & 0x7fffffffu : 0;
		most = u > most ? u : most;
	}
	return hu_bits64((double)hu_from_bits32(most));
}

template <class S>
HU_KERNEL
hu_scaled_kernel(HU_PARAM hu_casts g)
{
	enum { V = S::fused };
	typename S::C c;

	S::begin(&c, &g.compute);
	for (uint32_t chunk = blockIdx.x; chunk < g.t.first[g.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&g.t, chunk);
		double k = hu_cast_scale(hu_from_bits64(g.amax[p.tensor]), g.max);
		c.k[0] = S::constant(&c, k);
		if (p.from == 0 && threadIdx.x == 0 && g.scale[p.tensor]) {
			hu_store_result s = hu_result_at(&g.scale_to, g.scale[p.tensor]);
			hu_put_f32(&s, 0, (float)k);
		}
		uint32_t whole = hu_many_whole<S, V>(p, g.from.kind, g.to.kind), runs = hu_runs(p.n, whole, V);
		HU_ONCE
		for (uint32_t t = threadIdx.x; t < runs; t += blockDim.x) {
			hu_element_run at = hu_many_run<V>(p, t, whole);
			typename S::T in[1][V], out[1][V];
			hu_run_load<S, V, 0>(&c, &g.from, g.in[p.tensor], at, in[0]);
			hu_formula_run<hu_times_scale, S, V>(&c, in, out, at.many);
			hu_run_store<S, V, 0>(&g.to, g.out[p.tensor], at, out[0]);
		}
	}
}

/* On the host: begin sets what all casts like w have in common, add adds a tensor, run launches scaled ones. */
static inline void
hu_casts_begin(hu_casts *g, const hu_work *w)
{
	memset(g, 0, sizeof *g);
	g->from = hu_operand_of(w->in[0], HU_AT_EACH);
	g->to = hu_result_of(w->out[0], w->call->flags);
	g->scale_to = w->call->nout > 1 ? hu_result_of(w->out[1], 0) : hu_result_none();
	g->compute =
		hu_format_of(w->in[0]->format == HU_FP64 ? HU_FP64 : w->call->fmt.compute); /* one rounding, not two */
	g->max = hu_format_of(w->call->fmt.out).max;
	hu_many_begin(&g->t, 4 * HU_MANY_THREADS);
}

static inline void
hu_casts_add(hu_casts *g, const hu_work *w)
{
	g->in[g->t.count] = w->in[0]->data;
	g->out[g->t.count] = w->out[0]->data;
	g->scale[g->t.count] = w->call->nout > 1 ? w->out[1]->data : NULL;
	HU_ASSERT(hu_aligned(w->out[0]->data));
	hu_many_add(&g->t, w->in[0]->n, w->in[0]->data);
}

static inline hu_status
hu_casts_run(hu_work *w, const hu_casts *g)
{
	if (g->compute.id == HU_FP32)
		return HU_GO(w, hu_scaled_kernel<hu_in_f32>, hu_many_grid(&g->t), HU_MANY_THREADS, 0, *g);
	return HU_GO(w, hu_scaled_kernel<hu_in_short>, hu_many_grid(&g->t), HU_MANY_THREADS, 0, *g);
}
#endif
