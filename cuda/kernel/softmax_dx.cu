/* SPDX-License-Identifier: Apache-2.0
   softmax_dx y, dy: dx = y (dy - sum(dy y)) along the axis of softmax, whose result y is. */
#include "cuda/element/softmax.cuh"

#define TERM(S, T) out[0][i] = hu_scaled##S(c, in[0][i], in[1][i])
#define VALUE(S, T) out[0][i] = hu_softmax_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(softmax_dx_term, 2, 1, TERM)
HU_FORMULA(softmax_dx_value, 3, 1, VALUE)
#undef TERM
#undef VALUE

namespace {
struct of_softmax_dx {
	enum { shift = 0, keeps = 0 };
	typedef softmax_dx_term term;
	typedef hu_itself sum;
	typedef softmax_dx_value value, passed;
};
}

extern "C" hu_status
HU_SIDE(op_softmax_dx)(hu_work *w)
{
	return hu_softmax_run<of_softmax_dx>(w);
}
