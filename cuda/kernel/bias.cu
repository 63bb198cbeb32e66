/* SPDX-License-Identifier: Apache-2.0
   bias: y = x + b, one b a feature or channel. */
#include "cuda/element/map.cuh"

#define F(S, T) out[0][i] = hu_sum2##S(c, in[0][i], in[1][i])
HU_FORMULA(bias, 2, 1, F)
#undef F

extern "C" hu_status
HU_SIDE(op_bias)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_CHANNEL);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<bias>(w, &m);
}
