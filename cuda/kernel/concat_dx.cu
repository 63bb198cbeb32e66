/* SPDX-License-Identifier: Apache-2.0
   concat_dx: the part of the gradient that belongs to the last operand, behind those before it. */
#include "cuda/element/slice.cuh"

extern "C" hu_status
HU_SIDE(op_concat_dx)(hu_work *w)
{
	size_t axis = hu_attr_count(w->call, "axis", 0);
	uint32_t n = (uint32_t)w->out[0]->n, length = hu_slice_length(&w->out[0]->shape, axis), before = 0;
	hu_slot raw;

	for (int k = 1; k + 1 < w->call->nin; k++)
		before += hu_slice_length(&w->all[k]->shape, axis);
	hu_slice s = { n, length, before, hu_slice_length(&w->in[0]->shape, axis), 0, length };
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);
	HU_TRY(hu_slice_copy(w, s, w->in[0], y));
	return hu_result_finish(w, &raw, w->out[0]);
}
