/* SPDX-License-Identifier: Apache-2.0
   Every reduction that is a sum over groups and a formula of it: the family of lib/op/reduce/reduce_family.h. */
#include "cuda/element/groups.cuh"

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
	hu_field y = hu_group_out(w, &sum[0], (double)r.d.middle);
	switch (r.finish) {
	case HU_FINISH_MEAN: return hu_field_run<hu_divided>(w, &y);
	case HU_FINISH_ROOT: return HU_SIDE(formula)(w, &y, HU_FORMULA_sqrt);
	case HU_FINISH_NONE: return hu_field_run<hu_itself>(w, &y);
	case HU_FINISHES: break; /* counts them */
	}
	return HU_EUNABLE;
}
