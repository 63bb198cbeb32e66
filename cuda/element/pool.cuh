/* SPDX-License-Identifier: Apache-2.0
   What the kernels of pooling windows share: which image, row, column and channel an element is of, the largest element
   of a window (the first maximum, or the first NaN), and the division of an average. */
#ifndef HU_CUDA_POOL_CUH
#define HU_CUDA_POOL_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/pool/window.h"
}

/* A pooling call's geometry, and its divisors for places of its images and of its windows. */
typedef struct hu_pools { hu_pool p; hu_divisor by_channels, by_wide[2], by_high[2]; } hu_pools;
enum { HU_IN_IMAGE, HU_OF_WINDOW };

/* Element i of a tensor of images or windows. */
typedef struct hu_pool_place { uint32_t image, row, col, channel; } hu_pool_place;

HU_DEVICE hu_pool_place
hu_pool_place_of(const hu_pools *q, int of, uint32_t i)
{
	uint32_t pixel = hu_quotient(i, q->by_channels), line = hu_quotient(pixel, q->by_wide[of]),
		 image = hu_quotient(line, q->by_high[of]);
	hu_pool_place at = { image, line - image * q->by_high[of].by, pixel - line * q->by_wide[of].by,
		i - pixel * q->by_channels.by };

	return at;
}

/* The element of image n and channel c at a row and column of the image. */
HU_DEVICE uint32_t
hu_pool_element(const hu_pool *p, uint32_t n, size_t row, size_t col, uint32_t c)
{
	return (uint32_t)(((n * p->row.n + row) * p->col.n + col) * p->c + c);
}

/* The same of a window. */
HU_DEVICE uint32_t
hu_pool_window(const hu_pool *p, uint32_t n, size_t row, size_t col, uint32_t c)
{
	return (uint32_t)(((n * p->row.out + row) * p->col.out + col) * p->c + c);
}

/* On the host: the geometry of call w on images of shape x. */
static inline hu_status
hu_pools_of(hu_pools *q, const hu_work *w, hu_shape x)
{
	HU_TRY(hu_pool_of(&q->p, w->call, x));
	q->by_channels = hu_divisor_of((uint32_t)q->p.c);
	q->by_wide[HU_IN_IMAGE] = hu_divisor_of((uint32_t)q->p.col.n);
	q->by_high[HU_IN_IMAGE] = hu_divisor_of((uint32_t)q->p.row.n);
	q->by_wide[HU_OF_WINDOW] = hu_divisor_of((uint32_t)q->p.col.out);
	q->by_high[HU_OF_WINDOW] = hu_divisor_of((uint32_t)q->p.row.out);
	return HU_OK;
}

/* On the host: what a kernel of averages, or of their gradient, takes for call w on images of shape x. */
static inline hu_status
hu_pool_average(hu_pools *q, hu_field *m, int *padded, hu_work *w, hu_shape x)
{
	HU_TRY(hu_pools_of(q, w, x));
	*m = hu_field_of(w, w->out[0]->n, 1);
	hu_field_in(m, w->in[0], HU_AT_EACH);
	hu_field_out(w, m, w->out[0]);
	*padded = hu_attr_num(w->call, "include_padding", 0) != 0;
	return HU_OK;
}

/* A number divided by the size of a window. */
template <class S>
HU_DEVICE typename S::T
hu_pool_share(const hu_pool *p, const typename S::C *c, typename S::T x, size_t row, size_t col, int padded)
{
	typename S::T in[2][1] = { { x }, { S::constant(c, (double)hu_pool_divisor(p, row, col, padded)) } }, out[1][1];

	hu_ratio::run(S(), c, in, out);
	return out[0][0];
}

/* Returns the largest element of the window of output element o, with its value in *top. Every window covers at least
   one element. */
HU_DEVICE uint32_t
hu_winner(const hu_pools *q, const hu_store_operand *x, uint32_t o, double *top)
{
	const hu_pool *p = &q->p;
	hu_pool_place at = hu_pool_place_of(q, HU_OF_WINDOW, o);
	size_t r0, r1, c0, c1;
	uint32_t best = 0;
	int any = 0;

	*top = 0;
	hu_window_span(&p->row, at.row, &r0, &r1);
	hu_window_span(&p->col, at.col, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			uint32_t i = hu_pool_element(p, at.image, r, k, at.channel);
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
