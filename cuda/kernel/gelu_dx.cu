/* SPDX-License-Identifier: Apache-2.0
   gelu_dx: dx = dy gelu'(x), from the input. */
#include "cuda/element/map.cuh"

#define ERF(S, T) out[0][i] = hu_gelu_dx##S(c, in[0][i], in[1][i])
#define TANH(S, T) out[0][i] = hu_gelu_tanh_dx##S(c, in[0][i], in[1][i])
HU_FORMULA(dx_by_erf, 2, 1, ERF)
HU_FORMULA(dx_by_tanh, 2, 1, TANH)
#undef ERF
#undef TANH

extern "C" hu_status
HU_SIDE(op_gelu_dx)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	return strcmp(hu_attr_text(w->call, "approx", "none"), "tanh") ? hu_field_run<dx_by_erf>(w, &m)
								       : hu_field_run<dx_by_tanh>(w, &m);
}
