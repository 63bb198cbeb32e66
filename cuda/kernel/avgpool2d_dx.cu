/* SPDX-License-Identifier: Apache-2.0
   avgpool2d_dx: each window passes its gradient, divided by what its mean divided by, to its elements. An element adds
   the quotients of the windows that cover it to +0 in the windows' order, in the compute format. */
#include "cuda/element/pool.cuh"

template <class S>
HU_KERNEL
avgpool2d_dx_kernel(HU_PARAM hu_pools q, HU_PARAM hu_field m, int padded)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.n; i += gridDim.x * blockDim.x) {
		hu_pool_place at = hu_pool_place_of(&q, HU_IN_IMAGE, i);
		typename S::T sum = 0;
		size_t r0, r1, c0, c1;
		hu_window_covering(&q.p.row, at.row, &r0, &r1);
		hu_window_covering(&q.p.col, at.col, &c0, &c1);
		for (size_t r = r0; r < r1; r++)
			for (size_t k = c0; k < c1; k++) {
				if (!hu_window_meets(&q.p.row, r, at.row) || !hu_window_meets(&q.p.col, k, at.col))
					continue;
				typename S::T dy =
					S::at(&c, &m.in[0], hu_pool_window(&q.p, at.image, r, k, at.channel));
				sum = S::add(&c, sum, hu_pool_share<S>(&q.p, &c, dy, r, k, padded));
			}
		S::store(&m.out[0], i, sum);
	}
}

extern "C" hu_status
HU_SIDE(op_avgpool2d_dx)(hu_work *w)
{
	hu_pools q;
	hu_field m;
	int padded;

	HU_TRY(hu_pool_average(&q, &m, &padded, w, w->out[0]->shape));
	unsigned blocks = hu_blocks_for(m.n, 256, 65535);
	HU_TRY_IN_NUMERIC(m.compute, HU_GO(w, avgpool2d_dx_kernel<S>, blocks, 256, 0, q, m, padded));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
