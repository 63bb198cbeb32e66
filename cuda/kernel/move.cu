/* SPDX-License-Identifier: Apache-2.0
   move: transposes, slices, pads, broadcasts and reshapes, by one index map (cuda/move/index.cuh);
   matrices are transposed in tiles. */
#include "cuda/move/turn.cuh"

extern "C" hu_status
HU_SIDE(op_move)(hu_work *w)
{
	hu_moves x;

	HU_TRY(hu_moves_describe(&x, w->call, &w->in[0]->shape));
	hu_index m = hu_index_of(&x);
	hu_turn q;
	if (w->out[0]->n && hu_turn_of(&q, &m))
		return hu_turn_run(w, &q, w->in[0]);
	return hu_move_run(w, &m, w->in[0], hu_index_row(&m), hu_index_neighbours(&m), x.fill);
}
