/* SPDX-License-Identifier: Apache-2.0
   dropout x, clock: y = x / (1 - p) where the element is kept, else 0. One thread draws the mask of the elements that
   share a block of random words. */
#include "cuda/element/map.cuh"
#include "cuda/element/stat.h"

HU_KERNEL
mask_kernel(float *keep, HU_PARAM hu_store_operand clock, hu_dropout d, uint32_t n)
{
	uint32_t before = (uint32_t)(d.first % 4), blocks = (uint32_t)(((uint64_t)before + n + 3) / 4);

	hu_dropout_clock(&d, hu_load_f64(&clock, 0), hu_load_f64(&clock, 1));
	for (uint32_t b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks; b += gridDim.x * blockDim.x) {
		hu_random r = hu_random_at(d.seed, d.stream, d.step, d.first / 4 + b);
		for (uint32_t j = 0; j < 4; j++) {
			uint64_t i = 4 * (uint64_t)b + j;
			if (i >= before && i - before < n)
				keep[i - before] = r.w[j] >= d.least;
		}
	}
}

extern "C" hu_status
HU_SIDE(op_dropout)(hu_work *w)
{
	uint32_t n = (uint32_t)w->in[0]->n;
	hu_slot mask = hu_raw_slot(w, n, HU_FP32);
	hu_field m = hu_field_of(w, n, 1);

	HU_TRY(HU_GO(w, mask_kernel, hu_blocks_for(n / 4 + 2, 256, 65535), 256, 0, (float *)mask.data,
		hu_operand_of(w->in[1], HU_AT_EACH), hu_dropout_of(w->call, 0, 0), n));
	hu_field_in(&m, &mask, HU_AT_EACH);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = hu_dropout_factor(hu_attr_num(w->call, "p", 0));
	return HU_SIDE(formula)(w, &m, HU_FORMULA_dropout);
}
