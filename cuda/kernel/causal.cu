/* SPDX-License-Identifier: Apache-2.0
   causal: y = x up to each row's diagonal, the attribute fill behind it. */
#include "cuda/move/triangle.cuh"

extern "C" hu_status
HU_SIDE(op_causal)(hu_work *w)
{
	hu_triangle t = hu_triangle_of(&w->in[0]->shape);

	return hu_move_run(w, &t, w->in[0], t.columns, hu_triangle_neighbours(&t), hu_attr_num(w->call, "fill", 0));
}
