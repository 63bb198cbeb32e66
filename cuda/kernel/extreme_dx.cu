/* SPDX-License-Identifier: Apache-2.0
   Gradients of the largest or smallest elements of groups, x, dy: the element that won gets its group's gradient, the
   others 0. */
#include "cuda/element/groups.cuh"
#include "cuda/element/winner.h"

HU_KERNEL
extreme_dx_kernel(HU_PARAM hu_store_operand dy, HU_PARAM hu_store_result dx, const uint32_t *at, uint32_t n,
	uint32_t middle, uint32_t inner, hu_divisor by_middle, hu_divisor by_inner)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		uint32_t line = hu_quotient(i, by_inner), outer = hu_quotient(line, by_middle),
			 g = outer * inner + (i - line * inner);
		hu_store_f64(&dx, i, at[g] == line - outer * middle ? hu_load_f64(&dy, g) : 0);
	}
}

extern "C" hu_status
HU_SIDE(op_extreme_dx)(hu_work *w)
{
	uint32_t *at, n = (uint32_t)w->out[0]->n;
	hu_extreme_call e;
	hu_slot raw;

	HU_TRY(hu_extreme_describe(&e, w->call, w->in[0]->shape));
	HU_TRY(HU_SIDE(winners)(w, w->in[0], &e.d, e.smallest, &at));
	hu_store_result dx = hu_result_begin(w, w->out[0], &raw, 1);
	HU_TRY(HU_GO(w, extreme_dx_kernel, hu_blocks_for(n, 256, 65535), 256, 0, hu_operand_of(w->in[1],
		HU_AT_EACH), dx, (const uint32_t *)at, n, (uint32_t)e.d.middle, (uint32_t)e.d.inner,
		hu_divisor_of((uint32_t)e.d.middle), hu_divisor_of((uint32_t)e.d.inner)));
	return hu_result_finish(w, &raw, w->out[0]);
}
