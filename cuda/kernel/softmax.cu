/* SPDX-License-Identifier: Apache-2.0
   softmax: y = exp(x - top) / sum(exp(x - top)) along an axis, where top is the largest element. */
#include "cuda/element/softmax.cuh"

#define VALUE(S, T) out[0][i] = hu_quotient##S(c, in[4][i], in[3][i])
#define PASSED(S, T) out[0][i] = hu_softmax##S(c, in[0][i], in[2][i], in[3][i])
HU_FORMULA(softmax_value, 5, 1, VALUE)
HU_FORMULA(softmax_passed, 4, 1, PASSED)
template <> inline constexpr int hu_is_long<softmax_passed> = 1;
#undef VALUE
#undef PASSED

namespace {
struct of_softmax {
	enum { shift = 1, second = 0, keeps = 1 };
	typedef hu_softmax_term term;
	typedef hu_itself sum;
	typedef softmax_value value;
	typedef softmax_passed passed;
};
}

extern "C" hu_status
HU_SIDE(op_softmax)(hu_work *w)
{
	return hu_softmax_run<of_softmax>(w);
}
