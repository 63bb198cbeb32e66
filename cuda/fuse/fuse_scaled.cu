/* SPDX-License-Identifier: Apache-2.0
   Scaled casts of many tensors: one launch finds every largest magnitude, one multiplies and rounds. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/scaled.cuh"

HU_KERNEL
amaxes_kernel(HU_PARAM hu_casts g)
{
	for (uint32_t chunk = blockIdx.x; chunk < g.t.first[g.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&g.t, chunk);
		uint32_t whole = g.from.kind == HU_KIND_F64 ? 0 : p.n / 8, runs = hu_runs(p.n, whole, 8);
		uint64_t mine = 0;
		HU_ONCE
		for (uint32_t t = threadIdx.x; t < runs; t += blockDim.x) {
			uint64_t u = hu_run_largest(&g.from, g.in[p.tensor], hu_many_run<8>(p, t, whole));
			mine = u > mine ? u : mine;
		}
		hu_largest_in(&g.amax[p.tensor], mine);
	}
}

extern "C" int
HU_SIDE(fuse_scaled_serves)(const hu_work *w, int n)
{
	int same = 1;

	for (int i = 0; i < n; i++)
		same = same && hu_attr_num(w[i].call, "scaled", 0) != 0 && w[i].in[0]->n &&
		       hu_same_but_tensors(&w[i], &w[0]) && hu_carried(&w[i]) && hu_result_quick(&w[i], w[i].out[0]);
	return same;
}

extern "C" hu_status
HU_SIDE(fuse_scaled)(hu_work *w, int n)
{
	for (int done = 0; done < n;) {
		hu_casts g;
		hu_casts_begin(&g, &w[0]);
		for (; done < n && g.t.count < HU_MANY; done++)
			hu_casts_add(&g, &w[done]);
		HU_TRY(hu_counters(w, &g.amax, g.t.count));
		HU_TRY(HU_GO(w, amaxes_kernel, hu_many_grid(&g.t), HU_MANY_THREADS, 0, g));
		HU_TRY(hu_casts_run(w, &g));
	}
	return HU_OK;
}
