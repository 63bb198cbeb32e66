/* SPDX-License-Identifier: Apache-2.0
   avgpool2d: the mean of each window, by the fixed tree over its elements row by row, or in another order, and a
   division. A thread has one window and all 32 lanes of its tree; neighbouring threads have neighbouring channels. */
#include "cuda/element/pool.cuh"
#include "cuda/element/reduce.cuh"

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

/* The sum of a window. Blocks of 4096 elements are summed alone; their sums make a tree again. One block is no tree of
   blocks: in a format without 0, such as e8m0, lanes without a term add its smallest number. */
template <class S>
HU_DEVICE typename S::T
window_sum(const hu_pool *p, const hu_field *m, const typename S::C *c, hu_pool_place at)
{
	typename S::T lane[32] = { 0 }, block[32] = { 0 };
	size_t r0, r1, c0, c1;
	uint32_t n = 0, blocks = 0;

	hu_window_span(&p->row, at.row, &r0, &r1);
	hu_window_span(&p->col, at.col, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			uint32_t i = hu_pool_element(p, at.image, r, k, at.channel);
			if (n && n % HU_SUM_BLOCK == 0) {
				block[blocks % 32] = S::add(c, block[blocks % 32], folded<S>(c, lane));
				blocks++;
			}
			lane[n % 32] = S::add(c, lane[n % 32], S::at(c, &m->in[0], i));
			n++;
		}
	if (!blocks)
		return folded<S>(c, lane);
	block[blocks % 32] = S::add(c, block[blocks % 32], folded<S>(c, lane));
	return folded<S>(c, block);
}

/* The same one element after another, row by row, or each column and then the columns' sums. */
template <class S>
HU_DEVICE typename S::T
ordered_sum(const hu_pool *p, const hu_field *m, const typename S::C *c, hu_pool_place at, int by_columns)
{
	typename S::T sum = 0;
	size_t r0, r1, c0, c1;

	hu_window_span(&p->row, at.row, &r0, &r1);
	hu_window_span(&p->col, at.col, &c0, &c1);
	const size_t outer0 = by_columns ? c0 : r0, outer1 = by_columns ? c1 : r1, inner0 = by_columns ? r0 : c0,
		     inner1 = by_columns ? r1 : c1, outer = by_columns ? p->col.dilation : p->row.dilation,
		     inner = by_columns ? p->row.dilation : p->col.dilation;
	for (size_t i = outer0; i < outer1; i += outer) {
		typename S::T part = by_columns ? typename S::T(0) : sum;
		for (size_t k = inner0; k < inner1; k += inner) {
			uint32_t e = hu_pool_element(p, at.image, by_columns ? k : i, by_columns ? i : k, at.channel);
			typename S::T x = S::at(c, &m->in[0], e);
			part = k == inner0 && (by_columns || i == outer0) ? x : S::add(c, part, x);
		}
		sum = !by_columns || i == outer0 ? part : S::add(c, sum, part);
	}
	return sum;
}

template <class S>
HU_KERNEL
avgpool2d_kernel(HU_PARAM hu_pools q, HU_PARAM hu_field m, int padded, int order)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t o = blockIdx.x * blockDim.x + threadIdx.x; o < m.n; o += gridDim.x * blockDim.x) {
		hu_pool_place at = hu_pool_place_of(&q, HU_OF_WINDOW, o);
		typename S::T sum = order ? ordered_sum<S>(&q.p, &m, &c, at, order == 2)
					  : window_sum<S>(&q.p, &m, &c, at);
		S::store(&m.out[0], o, hu_pool_share<S>(&q.p, &c, sum, at.row, at.col, padded));
	}
}

extern "C" hu_status
HU_SIDE(op_avgpool2d)(hu_work *w)
{
	hu_pools q;
	hu_field m;
	int padded;

	HU_TRY(hu_pool_average(&q, &m, &padded, w, w->in[0]->shape));
	unsigned blocks = hu_blocks_for(m.n, 256, 65535);
	int order = (int)hu_attr_num(w->call, "order", 0);
	HU_TRY_IN_NUMERIC(m.compute, HU_GO(w, avgpool2d_kernel<S>, blocks, 256, 0, q, m, padded, order));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
