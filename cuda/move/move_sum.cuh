/* SPDX-License-Identifier: Apache-2.0
   Gradients of moves: an element of dx is the sum of the elements of dy that were moved from it, from +0 in ascending
   order, in the compute format (lib/op/move/moves.h). A thread adds up V neighbours. */
#ifndef HU_CUDA_MOVE_SUM_CUH
#define HU_CUDA_MOVE_SUM_CUH

#include "cuda/move/hop.cuh"

template <class M, class S>
HU_KERNEL
hu_move_sum_kernel(HU_PARAM M map, HU_PARAM hu_field m, int wide)
{
	enum { V = S::vector };
	typename S::C c;
	uint32_t runs = hu_runs(m.n, m.whole, V);

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		hu_element_run run = hu_run_at<V>(t, m.whole);
		hu_hop h = map.at(run.i);
		typename S::T sum[V];
		uint32_t to = h.to < run.many ? h.to : run.many, terms = to > h.from ? h.count : 0;
		HU_UNROLL
		for (int v = 0; v < V; v++)
			sum[v] = 0;
		HU_UNROLL_BY(4)
		for (uint32_t k = 0; k < terms; k++) {
			uint32_t at = map.term(&h, k);
			typename S::T x[V];
			if (V > 1 && wide && h.from == 0 && to == V) {
				if constexpr (V > 1)
					hu_vector_load<V, 1>(x, &m.in[0], m.in[0].data, at);
			} else {
				HU_UNROLL
				for (uint32_t v = 0; v < V; v++)
					x[v] = v >= h.from && v < to
						       ? S::load(&c, &m.in[0], m.in[0].data, at + v * h.step)
						       : 0;
			}
			HU_UNROLL
			for (uint32_t v = 0; v < V; v++)
				if (v >= h.from && v < to)
					sum[v] = S::add(&c, sum[v], S::taken(&c, HU_AT_EACH, x[v]));
		}
		hu_run_store<S, V>(&m.out[0], m.out[0].data, run, sum);
	}
}

template <class M, class S>
static hu_status
hu_move_sum_go(hu_work *w, const M *map, hu_field m, uint32_t width, uint32_t neighbours)
{
	enum { V = S::vector };
	int serves = hu_vector_serves<typename S::T>(m.in[0].kind) && hu_vector_serves<typename S::T>(m.out[0].kind);

	m.whole = V > 1 && serves && width % V == 0 ? m.n / V : 0;
	return HU_GO(w, (hu_move_sum_kernel<M, S>), hu_blocks_for(hu_runs(m.n, m.whole, V), HU_FIELD_THREADS, 65535),
		HU_FIELD_THREADS, 0, *map, m, neighbours % V == 0);
}

/* Sums the call's first input to its output, whose rows have row elements; neighbours as for hu_move_run. */
template <class M>
static hu_status
hu_move_sum(hu_work *w, const M *map, size_t row, uint32_t neighbours)
{
	hu_field m = hu_field_of(w, w->out[0]->n, 1);
	uint32_t width = hu_move_width(w->in[0], w->out[0], row);

	if (!m.n)
		return HU_OK;
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	HU_TRY_IN_NUMERIC(m.compute, (hu_move_sum_go<M, S>(w, map, m, width, neighbours)));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
#endif
