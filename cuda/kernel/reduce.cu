/* SPDX-License-Identifier: Apache-2.0
   Every reduction that is a sum over groups and a formula of it: the family of lib/op/reduce/reduce_family.h. */
#include "cuda/element/groups.cuh"

#define ROOT(S, T) out[0][i] = hu_carrier_sqrt##S(c, in[0][i])
HU_FORMULA(reduce_root, 1, 1, ROOT)
template <> inline constexpr int hu_is_long<reduce_root> = 1;
#undef ROOT

extern "C" hu_status
HU_SIDE(op_reduce)(hu_work *w)
{
	hu_reduce_call r;
	hu_slot sum[1];

	HU_TRY(hu_reduce_describe(&r, w->call, w->in[0]->shape));
	hu_field m = hu_group_field(w, &r.d);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	if (r.term == HU_TERM_SQUARE)
		HU_TRY(hu_group_sum<hu_squared>(w, &m, &r.d, sum));
	else
		HU_TRY(hu_group_sum<hu_itself>(w, &m, &r.d, sum));
	switch (r.finish) {
	case HU_FINISH_MEAN: return hu_group_out<hu_divided>(w, &sum[0], (double)r.d.middle);
	case HU_FINISH_ROOT: return hu_group_out<reduce_root>(w, &sum[0], 0);
	default: return hu_group_out<hu_itself>(w, &sum[0], 0);
	}
}
