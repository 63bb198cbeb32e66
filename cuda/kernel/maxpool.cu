/* SPDX-License-Identifier: Apache-2.0
   maxpool: the largest element of each window (pool.cuh) in each channel. */
#include "cuda/element/pool.cuh"

HU_KERNEL
maxpool_kernel(HU_PARAM hu_pools q, HU_PARAM hu_store_operand x, HU_PARAM hu_store_result y, uint32_t n)
{
	HU_ONCE
	for (uint32_t o = blockIdx.x * blockDim.x + threadIdx.x; o < n; o += gridDim.x * blockDim.x) {
		double top;
		hu_winner(&q, &x, o, &top);
		hu_store_f64(&y, o, top);
	}
}

extern "C" hu_status
HU_SIDE(op_maxpool)(hu_work *w)
{
	uint32_t n = (uint32_t)w->out[0]->n;
	hu_slot raw;
	hu_pools q;

	HU_TRY(hu_pools_of(&q, w, w->in[0]->shape));
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);
	HU_TRY(HU_GO(
		w, maxpool_kernel, hu_blocks_for(n, 256, 65535), 256, 0, q, hu_operand_of(w->in[0], HU_AT_EACH), y, n));
	return hu_result_finish(w, &raw, w->out[0]);
}
