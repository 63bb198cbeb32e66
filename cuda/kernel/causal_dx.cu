/* SPDX-License-Identifier: Apache-2.0
   causal_dx dy, x: dx = dy up to each row's diagonal, 0 behind it. */
#include "cuda/move/move_sum.cuh"
#include "cuda/move/triangle.cuh"

extern "C" hu_status
HU_SIDE(op_causal_dx)(hu_work *w)
{
	hu_triangle t = hu_triangle_of(&w->in[1]->shape);

	return hu_move_sum(w, &t, t.columns, hu_triangle_neighbours(&t));
}
