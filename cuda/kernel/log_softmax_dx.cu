/* SPDX-License-Identifier: Apache-2.0
   log_softmax_dx y, dy: dx = dy - exp(y) sum(dy) along the axis of log_softmax, whose result y is. */
#include "cuda/element/softmax.cuh"

#define TERM(S, T) out[0][i] = in[1][i]
#define VALUE(S, T) out[0][i] = hu_log_softmax_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(log_softmax_dx_term, 2, 1, TERM)
HU_FORMULA(log_softmax_dx_value, 3, 1, VALUE)
template <> inline constexpr int hu_is_long<log_softmax_dx_value> = 1;
#undef TERM
#undef VALUE

namespace {
struct of_log_softmax_dx {
	enum { shift = 0, keeps = 0 };
	typedef log_softmax_dx_term term;
	typedef hu_itself sum;
	typedef log_softmax_dx_value value, passed;
};
}

extern "C" hu_status
HU_SIDE(op_log_softmax_dx)(hu_work *w)
{
	return hu_softmax_run<of_log_softmax_dx>(w);
}
