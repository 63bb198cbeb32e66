/* SPDX-License-Identifier: Apache-2.0
   reduce_norm_dx x, y, dy: dx = dy (x / y), and 0 where y, the norm, is 0. */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_norm2_dx##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(reduce_norm_dx_value, 3, 1, VALUE)
template <> inline constexpr int hu_is_long<reduce_norm_dx_value> = 1;
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_norm_dx)(hu_work *w)
{
	return hu_group_spread<reduce_norm_dx_value>(w, 0, 1);
}
