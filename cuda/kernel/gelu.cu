/* SPDX-License-Identifier: Apache-2.0
   gelu: y = x/2 (1 + erf(x / sqrt 2)), or its tanh form. */
#include "cuda/element/map.cuh"

#define ERF(S, T) out[0][i] = hu_gelu##S(c, in[0][i])
#define TANH(S, T) out[0][i] = hu_gelu_tanh##S(c, in[0][i])
HU_FORMULA(by_erf, 1, 1, ERF)
HU_FORMULA(by_tanh, 1, 1, TANH)
#undef ERF
#undef TANH

extern "C" hu_status
HU_SIDE(op_gelu)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	return strcmp(hu_attr_text(w->call, "approx", "none"), "tanh") ? hu_field_run<by_erf>(w, &m)
								       : hu_field_run<by_tanh>(w, &m);
}
