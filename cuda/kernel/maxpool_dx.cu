/* SPDX-License-Identifier: Apache-2.0
   maxpool_dx: each window passes its gradient to its largest element. An element adds the gradients of the windows it
   wins to +0 in the windows' order, in the compute format. */
#include "cuda/element/pool.cuh"

template <class S>
HU_KERNEL
maxpool_dx_kernel(HU_PARAM hu_pools q, HU_PARAM hu_field m)
{
	typename S::C context;

	hu_field_context<S>(&m, &context);
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.n; i += gridDim.x * blockDim.x) {
		hu_pool_place at = hu_pool_place_of(&q, HU_IN_IMAGE, i);
		size_t r0, r1, c0, c1;
		typename S::T sum = 0;
		hu_window_covering(&q.p.row, at.row, &r0, &r1);
		hu_window_covering(&q.p.col, at.col, &c0, &c1);
		for (size_t r = r0; r < r1; r++)
			for (size_t j = c0; j < c1; j++) {
				uint32_t o = hu_pool_window(&q.p, at.image, r, j, at.channel);
				double top;
				if (hu_winner(&q, &m.in[0], o, &top) == i)
					sum = S::add(&context, sum, S::at(&context, &m.in[1], o));
			}
		S::store(&m.out[0], i, sum);
	}
}

extern "C" hu_status
HU_SIDE(op_maxpool_dx)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	hu_pools q;

	HU_TRY(hu_pools_of(&q, w, w->in[0]->shape));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	unsigned blocks = hu_blocks_for(m.n, 256, 65535);
	HU_TRY_IN_NUMERIC(m.compute, HU_GO(w, maxpool_dx_kernel<S>, blocks, 256, 0, q, m));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
