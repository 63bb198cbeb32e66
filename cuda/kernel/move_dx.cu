/* SPDX-License-Identifier: Apache-2.0
   move_dx dy, x: each element of dx is the sum of those that move made of it, in their order. */
#include "cuda/move/index.cuh"
#include "cuda/move/move_sum.cuh"

extern "C" hu_status
HU_SIDE(op_move_dx)(hu_work *w)
{
	hu_moves x;

	HU_TRY(hu_moves_describe(&x, w->call, &w->in[1]->shape));
	hu_index m = hu_index_back(&x, &w->in[1]->shape);
	return hu_move_sum(w, &m, hu_index_row(&m), hu_index_neighbours(&m));
}
