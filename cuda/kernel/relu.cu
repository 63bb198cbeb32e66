/* SPDX-License-Identifier: Apache-2.0
   relu: y = x above 0, +0 at and below it; NaN stays. */
#include "cuda/element/map.cuh"

#define F(S, T) out[0][i] = hu_relu##S(c, in[0][i])
HU_FORMULA(relu, 1, 1, F)
#undef F

extern "C" hu_status
HU_SIDE(op_relu)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<relu>(w, &m);
}
