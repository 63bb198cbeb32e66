/* SPDX-License-Identifier: Apache-2.0
   avgpool2d: the mean of each window, by the fixed tree over its elements row by row and a division. A thread has one
   window and all 32 lanes of its tree; neighbouring threads have neighbouring channels. */
#include "cuda/element/pool.cuh"
#include "cuda/element/reduce.cuh"

#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
HU_FORMULA(window_mean, 2, 1, DIVIDE)
#undef DIVIDE

/* The lanes' sums, folded; the lanes become +0. */
template <class S>
HU_DEVICE typename S::T
folded(const typename S::C *c, typename S::T *lane)
{
	typename S::T sum;

	HU_ONCE
	for (uint32_t step = 16; step; step /= 2)
		for (uint32_t j = 0; j < step; j++)
			lane[j] = S::add(c, lane[j], lane[j + step]);
	sum = lane[0];
	for (uint32_t j = 0; j < 32; j++)
		lane[j] = 0;
	return sum;
}

/* The sum of output o's window. Blocks of 4096 elements are summed alone; their sums make a tree again. */
template <class S>
HU_DEVICE typename S::T
window_sum(const hu_pool *p, const hu_field *m, const typename S::C *c, uint32_t image, uint32_t row, uint32_t col,
	uint32_t channel)
{
	typename S::T lane[32] = { 0 }, block[32] = { 0 };
	size_t r0, r1, c0, c1;
	uint32_t n = 0, blocks = 0;

	hu_window_span(&p->row, row, &r0, &r1);
	hu_window_span(&p->col, col, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			uint32_t i = (uint32_t)(((image * p->row.n + r) * p->col.n + k) * p->c + channel);
			if (n && n % HU_SUM_BLOCK == 0) {
				block[blocks % 32] = S::add(c, block[blocks % 32], folded<S>(c, lane));
				blocks++;
			}
			lane[n % 32] = S::add(c, lane[n % 32], S::at(c, &m->in[0], i));
			n++;
		}
	block[blocks % 32] = S::add(c, block[blocks % 32], folded<S>(c, lane));
	return folded<S>(c, block);
}

template <class S>
HU_KERNEL
avgpool2d_kernel(HU_PARAM hu_pool p, HU_PARAM hu_field m, int padded)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t o = blockIdx.x * blockDim.x + threadIdx.x; o < m.n; o += gridDim.x * blockDim.x) {
		uint32_t channels = (uint32_t)p.c, high = (uint32_t)p.row.out, wide = (uint32_t)p.col.out,
			 window = o / channels, col = window % wide, row = window / wide % high;
		typename S::T in[2][1], out[1][1];
		in[0][0] = window_sum<S>(&p, &m, &c, window / wide / high, row, col, o % channels);
		in[1][0] = S::constant(&c, (double)hu_pool_divisor(&p, row, col, padded));
		window_mean::run(S(), &c, in, out);
		S::store(&m.out[0], o, out[0][0]);
	}
}

extern "C" hu_status
HU_SIDE(op_avgpool2d)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->out[0]->n, 1);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, w->call, w->in[0]->shape));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	HU_TRY_IN_CARRIER(m.compute, HU_GO(w, avgpool2d_kernel<S>, hu_blocks_for(m.n, 256, 65535), 256, 0, p, m,
					     hu_attr_num(w->call, "include_padding", 0) != 0));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
