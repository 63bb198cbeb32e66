/* SPDX-License-Identifier: Apache-2.0
   reduce_mean_dx dy, x: every element's gradient is that of its mean, divided by the number of elements. */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
HU_FORMULA(reduce_mean_dx_value, 1, 1, VALUE)
template <> constexpr int hu_is_long<reduce_mean_dx_value> = 1;
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_mean_dx)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[1]->shape, &y, &d));
	hu_field m = hu_group_field(w, &d);
	hu_field_in(&m, w->in[0], hu_group_how(&d));
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = (double)d.middle;
	return hu_field_run<reduce_mean_dx_value>(w, &m);
}
