/* SPDX-License-Identifier: Apache-2.0
   The largest element of a window of max pooling: the first maximum, or the first NaN. */
#ifndef HU_CUDA_POOL_CUH
#define HU_CUDA_POOL_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/reduce/window.h"
}

/* Returns it for output element o, with its value in *top. Every window covers at least one element. */
HU_DEVICE uint32_t
hu_winner(const hu_pool *p, const hu_store_operand *x, uint32_t o, double *top)
{
	uint32_t channels = (uint32_t)p->c, high = (uint32_t)p->row.out, wide = (uint32_t)p->col.out,
		 window = o / channels, c = o % channels, col = window % wide, row = window / wide % high,
		 n = window / wide / high;
	size_t r0, r1, c0, c1;
	uint32_t best = 0;
	int any = 0;

	*top = 0;
	hu_window_span(&p->row, row, &r0, &r1);
	hu_window_span(&p->col, col, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			uint32_t i = (uint32_t)(((n * p->row.n + r) * p->col.n + k) * p->c + c);
			double v = hu_load_f64(x, i);
			if (v != v) {
				*top = v;
				return i;
			}
			if (!any || v > *top) {
				best = i;
				*top = v;
				any = 1;
			}
		}
	return best;
}
#endif
