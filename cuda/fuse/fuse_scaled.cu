/* SPDX-License-Identifier: Apache-2.0
   Scaled casts of many tensors: one launch finds every largest magnitude, one multiplies and rounds. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/scaled.cuh"

/* Magnitudes compare as their bits do, with NaN above infinity. */
HU_KERNEL
amaxes_kernel(HU_PARAM hu_casts g)
{
	for (uint32_t chunk = blockIdx.x; chunk < g.t.first[g.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&g.t, chunk);
		hu_store_operand from = hu_many_operand(&g.from, g.in[p.tensor]);
		uint64_t mine = 0;
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x) {
			uint64_t u = hu_bits64(hu_load_f64(&from, p.from + j)) & 0x7fffffffffffffffu;
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
