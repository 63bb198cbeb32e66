/* SPDX-License-Identifier: Apache-2.0
   log_softmax: y = (x - top) - log(sum(exp(x - top))) along an axis, where top is the largest element. */
#include "cuda/element/softmax.cuh"

#define SUM(S, T) out[0][i] = hu_numeric_log##S(c, in[0][i])
#define VALUE(S, T) out[0][i] = hu_log_softmax##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(log_softmax_sum, 1, 1, SUM)
HU_FORMULA(log_softmax_value, 3, 1, VALUE)
template <> inline constexpr int hu_is_long<log_softmax_sum> = 1;
#undef SUM
#undef VALUE

namespace {
struct of_log_softmax {
	enum { shift = 1, keeps = 0 };
	typedef hu_softmax_term term;
	typedef log_softmax_sum sum;
	typedef log_softmax_value value, passed;
};
}

extern "C" hu_status
HU_SIDE(op_log_softmax)(hu_work *w)
{
	return hu_softmax_run<of_log_softmax>(w);
}
