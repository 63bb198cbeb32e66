/* SPDX-License-Identifier: Apache-2.0
   logsumexp_dx x, y, dy: dx = dy exp(x - y), where y is the result of logsumexp. */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_logsumexp_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(logsumexp_dx_value, 3, 1, VALUE)
template <> inline constexpr int hu_is_long<logsumexp_dx_value> = 1;
#undef VALUE

extern "C" hu_status
HU_SIDE(op_logsumexp_dx)(hu_work *w)
{
	return hu_group_spread<logsumexp_dx_value>(w, 0, 1);
}
