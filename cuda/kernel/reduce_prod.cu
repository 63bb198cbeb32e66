/* SPDX-License-Identifier: Apache-2.0
   reduce_prod: y = 1 times each element of a group in order, rounded each time; a thread for each group. */
#include "cuda/element/groups.cuh"

#define PRODUCT(S, T) out[0][i] = hu_scaled##S(c, in[0][i], in[1][i])
HU_FORMULA(reduce_product, 2, 1, PRODUCT)
#undef PRODUCT

template <class S>
HU_KERNEL
reduce_prod_kernel(HU_PARAM hu_field m, uint32_t groups, uint32_t middle, uint32_t inner, hu_divisor by_inner)
{
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t g = blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += gridDim.x * blockDim.x) {
		uint32_t outer = hu_quotient(g, by_inner), at = outer * middle * inner + (g - outer * inner);
		typename S::T in[2][1], y[1][1] = { { 1 } };
		HU_ONCE
		for (uint32_t j = 0; j < middle; j++, at += inner) {
			in[0][0] = y[0][0];
			in[1][0] = S::at(&c, &m.in[0], at);
			reduce_product::run(S(), &c, in, y);
		}
		S::store(&m.out[0], g, y[0][0]);
	}
}

extern "C" hu_status
HU_SIDE(op_reduce_prod)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[0]->shape, &y, &d));
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	uint32_t groups = (uint32_t)hu_group_count(&d);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	HU_TRY_IN_NUMERIC(m.compute, HU_GO(w, reduce_prod_kernel<S>, hu_blocks_for(groups, 256, 65535), 256, 0,
		m, groups, (uint32_t)d.middle, (uint32_t)d.inner, hu_divisor_of((uint32_t)d.inner)));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
