/* SPDX-License-Identifier: Apache-2.0
   logsumexp: y = top + log(sum(exp(x - top))) over some axes, where top is the largest element. */
#include "cuda/element/softmax.cuh"

#define VALUE(S, T) out[0][i] = hu_numeric_add##S(c, in[0][i], hu_numeric_log##S(c, in[1][i]))
HU_FORMULA(logsumexp_value, 2, 1, VALUE)
template <> inline constexpr int hu_is_long<logsumexp_value> = 1;
#undef VALUE

extern "C" hu_status
HU_SIDE(op_logsumexp)(hu_work *w)
{
	hu_reduce_dims d;
	hu_shape y;
	hu_slot top, sum[1];

	HU_TRY(hu_axes_of(w->call, w->in[0]->shape, &y, &d));
	hu_field terms = hu_group_field(w, &d), m = hu_field_of(w, hu_group_count(&d), 1);
	HU_TRY(HU_SIDE(tops)(w, w->in[0], &d, &top));
	hu_field_in(&terms, w->in[0], HU_AT_EACH);
	hu_field_in(&terms, &top, hu_group_how(&d));
	HU_TRY(hu_group_sum<hu_softmax_term>(w, &terms, &d, sum));
	hu_field_in(&m, &top, HU_AT_EACH);
	hu_field_in(&m, &sum[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<logsumexp_value>(w, &m);
}
