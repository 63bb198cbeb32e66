/* SPDX-License-Identifier: Apache-2.0
   reduce_squares_dx x, dy: dx = dy (x + x). */
#include "cuda/element/groups.cuh"

#define VALUE(S, T) out[0][i] = hu_squares_dx##S(c, in[0][i], in[1][i])
HU_FORMULA(reduce_squares_dx_value, 2, 1, VALUE)
#undef VALUE

extern "C" hu_status
HU_SIDE(op_reduce_squares_dx)(hu_work *w)
{
	return hu_group_spread<reduce_squares_dx_value>(w, 0, 1);
}
