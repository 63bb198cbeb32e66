/* SPDX-License-Identifier: Apache-2.0
   The largest element of a window of max pooling: the first maximum, or the first NaN. */
#ifndef HU_CUDA_POOL_CUH
#define HU_CUDA_POOL_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/reduce/window.h"
}

/* A window's geometry in 32 bits, with its divisions as multiplications. */
typedef struct hu_pooling {
	uint32_t h, w, c, ho, wo, size, stride;
	int32_t pad_h, pad_w;
	hu_divisor by_c, by_w, by_h, by_wo, by_ho, by_stride;
} hu_pooling;

static inline hu_pooling
hu_pooling_of(const hu_pool *p)
{
	hu_pooling q = { (uint32_t)p->h, (uint32_t)p->w, (uint32_t)p->c, (uint32_t)p->ho, (uint32_t)p->wo, (uint32_t)p->size,
		(uint32_t)p->stride, (int32_t)p->pad_h, (int32_t)p->pad_w, hu_divisor_of((uint32_t)p->c),
		hu_divisor_of((uint32_t)p->w), hu_divisor_of((uint32_t)p->h), hu_divisor_of((uint32_t)p->wo),
		hu_divisor_of((uint32_t)p->ho), hu_divisor_of((uint32_t)p->stride) };

	return q;
}

/* The rows (or columns) *from to *to - 1 of n that window o covers, with pad of padding before them. */
HU_DEVICE void
hu_window_span(const hu_pooling *p, uint32_t o, uint32_t n, int32_t pad, uint32_t *from, uint32_t *to)
{
	int32_t first = (int32_t)(o * p->stride) - pad, last = first + (int32_t)p->size;

	*from = first < 0 ? 0 : (uint32_t)first;
	*to = last < 0 ? 0 : (uint32_t)last < n ? (uint32_t)last : n;
}

/* The windows *from to *to - 1 out of n that cover row (or column) i. */
HU_DEVICE void
hu_windows_of(const hu_pooling *p, uint32_t i, uint32_t n, int32_t pad, uint32_t *from, uint32_t *to)
{
	uint32_t at = i + (uint32_t)pad, last = hu_quotient(at, p->by_stride) + 1;

	*from = at < p->size ? 0 : hu_quotient(at - p->size, p->by_stride) + 1;
	*to = last < n ? last : n;
}

/* Returns it for output element o, with its value in *top. Every window covers at least one element. */
HU_DEVICE uint32_t
hu_winner(const hu_pooling *p, const hu_store_operand *x, uint32_t o, double *top)
{
	uint32_t window = hu_quotient(o, p->by_c), c = o - window * p->c, line = hu_quotient(window, p->by_wo),
		 col = window - line * p->wo, n = hu_quotient(line, p->by_ho), row = line - n * p->ho;
	uint32_t r0, r1, c0, c1, best = 0;
	int any = 0;

	*top = 0;
	hu_window_span(p, row, p->h, p->pad_h, &r0, &r1);
	hu_window_span(p, col, p->w, p->pad_w, &c0, &c1);
	for (uint32_t r = r0; r < r1; r++)
		for (uint32_t k = c0; k < c1; k++) {
			uint32_t i = ((n * p->h + r) * p->w + k) * p->c + c;
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
