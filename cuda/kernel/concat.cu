/* SPDX-License-Identifier: Apache-2.0
   concat: the operands one behind the other along an axis, a launch each. */
#include "cuda/element/slice.cuh"

extern "C" hu_status
HU_SIDE(op_concat)(hu_work *w)
{
	size_t axis = hu_attr_count(w->call, "axis", 0);
	uint32_t along = hu_slice_length(&w->out[0]->shape, axis), at = 0;
	hu_slot raw;
	hu_store_result y = hu_result_begin(w, w->out[0], &raw, 1);

	for (int k = 0; k < w->call->nin; k++) {
		uint32_t n = (uint32_t)w->all[k]->n, length = hu_slice_length(&w->all[k]->shape, axis);
		hu_slice s = { n, length, 0, length, at, along };
		HU_TRY(hu_slice_copy(w, s, w->all[k], y));
		at += length;
	}
	return hu_result_finish(w, &raw, w->out[0]);
}
