/* SPDX-License-Identifier: Apache-2.0
   reduce_squares_dx x, dy: dx = dy (x + x). */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_squares_dx##S(c, in[0][i], in[1][i])
HU_FORMULA(reduce_squares_dx_value, 2, 1, VALUE)
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_squares_dx)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[0]->shape, &y, &d));
	hu_field m = hu_group_field(w, &d);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], hu_group_how(&d));
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<reduce_squares_dx_value>(w, &m);
}
