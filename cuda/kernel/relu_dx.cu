/* SPDX-License-Identifier: Apache-2.0
   relu_dx: dx = dy where the output was above 0 (or NaN), +0 elsewhere. */
#include "cuda/element/map.cuh"

#define F(S, T) out[0][i] = hu_relu_dx##S(c, in[0][i], in[1][i])
HU_FORMULA(relu_dx, 2, 1, F)
#undef F

extern "C" hu_status
HU_SIDE(op_relu_dx)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<relu_dx>(w, &m);
}
