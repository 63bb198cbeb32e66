/* SPDX-License-Identifier: Apache-2.0
   softmax: y = exp(x - top) / sum(exp(x - top)) along an axis, where top is the largest element. */
#include "cuda/element/softmax.cuh"

#define VALUE(S, T) out[0][i] = hu_quotient##S(c, in[3][i], in[2][i])
HU_FORMULA(softmax_value, 4, 1, VALUE)
#undef VALUE

namespace {
struct of_softmax {
	enum { shift = 1, keeps = 1 };
	typedef hu_softmax_term term;
	typedef hu_itself sum;
	typedef softmax_value value;
	typedef hu_softmax_share passed;
};
}

extern "C" hu_status
HU_SIDE(op_softmax)(hu_work *w)
{
	return hu_softmax_run<of_softmax>(w);
}
