/* SPDX-License-Identifier: Apache-2.0
   sigmoid_xent_dx p, label, w, dloss: dx = dloss w / sum(w) (p - label). */
#include "cuda/element/stat.h"

#define F(S, T) out[0][i] = hu_binary_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_FORMULA(binary_dx, 5, 1, F)
template <> inline constexpr int hu_is_long<binary_dx> = 1;
#undef F

extern "C" hu_status
HU_SIDE(op_sigmoid_xent_dx)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	hu_slot sum;

	HU_TRY(HU_SIDE(sum_along)(w, w->in[2], 1, w->in[2]->n, &sum));
	for (int k = 0; k < 3; k++)
		hu_field_in(&m, w->in[k], HU_AT_EACH);
	hu_field_in(&m, w->in[3], HU_AT_ONE);
	hu_field_in(&m, &sum, HU_AT_ONE);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<binary_dx>(w, &m);
}
