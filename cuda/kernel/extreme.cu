/* SPDX-License-Identifier: Apache-2.0
   The largest or smallest elements of groups, or their places: the family of lib/op/axis/extreme.h. */
#include "cuda/element/groups.cuh"
#include "cuda/element/winner.h"

HU_KERNEL
extreme_kernel(HU_PARAM hu_store_operand x, HU_PARAM hu_store_result y, const uint32_t *at, uint32_t groups,
	uint32_t middle, uint32_t inner, hu_divisor by_inner, int place)
{
	HU_ONCE
	for (uint32_t g = blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += gridDim.x * blockDim.x) {
		uint32_t outer = hu_quotient(g, by_inner), i = (outer * middle + at[g]) * inner + (g - outer * inner);
		hu_store_f64(&y, g, place ? (double)at[g] : hu_load_f64(&x, i));
	}
}

extern "C" hu_status
HU_SIDE(op_extreme)(hu_work *w)
{
	uint32_t *at, groups = (uint32_t)w->out[0]->n;
	hu_extreme_call e;
	hu_slot raw;

	HU_TRY(hu_extreme_describe(&e, w->call, w->in[0]->shape));
	HU_TRY(HU_SIDE(winners)(w, w->in[0], &e.d, e.smallest, &at));
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);
	HU_TRY(HU_GO(w, extreme_kernel, hu_blocks_for(groups, 256, 65535), 256, 0, hu_operand_of(w->in[0], HU_AT_EACH),
		y, (const uint32_t *)at, groups, (uint32_t)e.d.middle, (uint32_t)e.d.inner,
		hu_divisor_of((uint32_t)e.d.inner), e.place));
	return hu_result_finish(w, &raw, w->out[0]);
}
