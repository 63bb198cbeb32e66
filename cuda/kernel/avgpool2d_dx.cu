/* SPDX-License-Identifier: Apache-2.0
   avgpool2d_dx: each window passes its gradient, divided by what its mean divided by, to its elements. An element adds
   the quotients of the windows that cover it to +0 in the windows' order, in the compute format. */
#include "cuda/element/pool.cuh"

#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
HU_FORMULA(window_share, 2, 1, DIVIDE)
#undef DIVIDE

template <class S>
HU_KERNEL
avgpool2d_dx_kernel(HU_PARAM hu_pool p, HU_PARAM hu_field m, int padded)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m.n; i += gridDim.x * blockDim.x) {
		uint32_t channels = (uint32_t)p.c, high = (uint32_t)p.row.n, wide = (uint32_t)p.col.n,
			 pixel = i / channels, col = pixel % wide, row = pixel / wide % high, n = pixel / wide / high;
		typename S::T in[2][1], out[1][1], sum = 0;
		size_t r0, r1, c0, c1;
		hu_window_covering(&p.row, row, &r0, &r1);
		hu_window_covering(&p.col, col, &c0, &c1);
		for (size_t r = r0; r < r1; r++)
			for (size_t k = c0; k < c1; k++) {
				if (!hu_window_meets(&p.row, r, row) || !hu_window_meets(&p.col, k, col))
					continue;
				in[0][0] = S::at(&c, &m.in[0],
					(uint32_t)(((n * p.row.out + r) * p.col.out + k) * p.c + i % channels));
				in[1][0] = S::constant(&c, (double)hu_pool_divisor(&p, r, k, padded));
				window_share::run(S(), &c, in, out);
				sum = S::add(&c, sum, out[0][0]);
			}
		S::store(&m.out[0], i, sum);
	}
}

extern "C" hu_status
HU_SIDE(op_avgpool2d_dx)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->out[0]->n, 1);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, w->call, w->out[0]->shape));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	HU_TRY_IN_CARRIER(m.compute, HU_GO(w, avgpool2d_dx_kernel<S>, hu_blocks_for(m.n, 256, 65535), 256, 0, p, m,
					     hu_attr_num(w->call, "include_padding", 0) != 0));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
