/* SPDX-License-Identifier: Apache-2.0
   gather x, i: along an axis of x the elements that i names. */
#include "cuda/move/place.cuh"

extern "C" hu_status
HU_SIDE(op_gather)(hu_work *w)
{
	hu_places p;

	HU_TRY(hu_places_of(&p, w, w->in[0], w->in[1]));
	return hu_move_run(w, &p, w->in[0], p.inner, hu_places_neighbours(&p), 0);
}
