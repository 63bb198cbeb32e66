/* SPDX-License-Identifier: Apache-2.0
   sgd: g += decay w; v = momentum v + g; w -= lr v (without v: w -= lr g). If found_inf is set the old values are
   kept. */
#include "cuda/element/update.cuh"

extern "C" hu_status
HU_SIDE(op_sgd)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_FLAG);
	if (hu_sgd_moves(w->call))
		hu_field_in(&m, w->in[3], HU_AT_EACH);
	for (int k = 0; k < w->call->nout; k++)
		hu_field_out(w, &m, w->out[k]);
	m.nk = HU_SGD_CONSTANTS;
	HU_TRY(hu_sgd_constants_of(w, m.k, &m.kd));
	return hu_sgd_moves(w->call) ? hu_update_run<hu_sgd_move>(w, &m) : hu_update_run<hu_sgd_step>(w, &m);
}
