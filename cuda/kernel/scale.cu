/* SPDX-License-Identifier: Apache-2.0
   scale: y = x s factor, from left to right; s may be absent. */
#include "cuda/element/map.cuh"

#define ONE(S, T) out[0][i] = hu_scaled##S(c, in[0][i], c->k[0])
#define TWO(S, T) out[0][i] = hu_scaled##S(c, hu_scaled##S(c, in[0][i], in[1][i]), c->k[0])
HU_FORMULA(one, 1, 1, ONE)
HU_FORMULA(two, 2, 1, TWO)
#undef ONE
#undef TWO

extern "C" hu_status
HU_SIDE(op_scale)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	if (w->call->nin > 1)
		hu_field_in(&m, w->in[1], HU_AT_ONE);
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = hu_attr_num(w->call, "factor", 1);
	return w->call->nin > 1 ? hu_field_run<two>(w, &m) : hu_field_run<one>(w, &m);
}
