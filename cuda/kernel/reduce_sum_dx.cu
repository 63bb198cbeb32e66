/* SPDX-License-Identifier: Apache-2.0
   reduce_sum_dx dy, x: every element's gradient is that of its sum. Of x only the shape is read. */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = in[0][i]
HU_FORMULA(reduce_sum_dx_value, 1, 1, VALUE)
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_sum_dx)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[1]->shape, &y, &d));
	hu_field m = hu_group_field(w, &d);
	hu_field_in(&m, w->in[0], hu_group_how(&d));
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<reduce_sum_dx_value>(w, &m);
}
