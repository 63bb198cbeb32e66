/* SPDX-License-Identifier: Apache-2.0
   reduce_norm_dx x, y, dy: dx = dy (x / y), and 0 where y, the norm, is 0. */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_norm2_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(reduce_norm_dx_value, 3, 1, VALUE)
template <> constexpr int hu_is_long<reduce_norm_dx_value> = 1;
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_norm_dx)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[0]->shape, &y, &d));
	hu_field m = hu_group_field(w, &d);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], hu_group_how(&d));
	hu_field_in(&m, w->in[2], hu_group_how(&d));
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<reduce_norm_dx_value>(w, &m);
}
