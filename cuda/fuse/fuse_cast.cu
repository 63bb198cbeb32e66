/* SPDX-License-Identifier: Apache-2.0
   Casts of many tensors between the same two formats in one launch. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/scaled.cuh"

template <class S>
HU_KERNEL
casts_kernel(HU_PARAM hu_casts g)
{
	enum { V = S::fused };
	typename S::C c;

	S::begin(&c, &g.compute);
	for (uint32_t chunk = blockIdx.x; chunk < g.t.first[g.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&g.t, chunk);
		uint32_t whole = hu_many_whole<S, V>(p, g.from.kind, g.to.kind), runs = hu_runs(p.n, whole, V);
		HU_ONCE
		for (uint32_t t = threadIdx.x; t < runs; t += blockDim.x) {
			hu_element_run at = hu_many_run<V>(p, t, whole);
			typename S::T x[V];
			hu_run_load<S, V, 0>(&c, &g.from, g.in[p.tensor], at, x);
			hu_run_store<S, V, 0>(&g.to, g.out[p.tensor], at, x);
		}
	}
}

extern "C" int
HU_SIDE(fuse_cast_serves)(const hu_work *w, int n)
{
	int same = hu_attr_num(w[0].call, "scaled", 0) == 0 && w[0].call->nout == 1;

	for (int i = 0; i < n; i++)
		same = same && hu_same_but_tensors(&w[i], &w[0]) && hu_all_quick(&w[i]);
	return same;
}

extern "C" hu_status
HU_SIDE(fuse_cast)(hu_work *w, int n)
{
	for (int done = 0; done < n;) {
		hu_casts g;
		hu_casts_begin(&g, &w[0]);
		for (; done < n && g.t.count < HU_MANY; done++)
			hu_casts_add(&g, &w[done]);
		if (!hu_many_chunks(&g.t))
			continue;
		if (g.compute.id == HU_FP32)
			HU_TRY(HU_GO(w, casts_kernel<hu_in_f32>, hu_many_grid(&g.t), HU_MANY_THREADS, 0, g));
		else
			HU_TRY(HU_GO(w, casts_kernel<hu_in_short>, hu_many_grid(&g.t), HU_MANY_THREADS, 0, g));
	}
	return HU_OK;
}
