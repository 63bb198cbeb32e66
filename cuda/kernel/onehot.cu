/* SPDX-License-Identifier: Apache-2.0
   onehot labels: 1 in each label's place, 0 elsewhere. */
#include "cuda/element/map.cuh"

HU_KERNEL
onehot_kernel(HU_PARAM hu_store_operand labels, hu_divisor by_classes, uint32_t classes, uint32_t n,
	HU_PARAM hu_store_result y)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		uint32_t row = hu_quotient(i, by_classes);
		hu_store_f64(&y, i, hu_load_f64(&labels, row) == (double)(i - row * classes));
	}
}

extern "C" hu_status
HU_SIDE(op_onehot)(hu_work *w)
{
	uint32_t n = (uint32_t)w->out[0]->n, classes = (uint32_t)hu_last(w->out[0]->shape);
	hu_slot raw;
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);

	HU_TRY(HU_GO(w, onehot_kernel, hu_blocks_for(n, 256, 65535), 256, 0, hu_operand_of(w->in[0], HU_AT_EACH),
		hu_divisor_of(classes), classes, n, y));
	return hu_result_finish(w, &raw, w->out[0]);
}
