/* SPDX-License-Identifier: Apache-2.0
   adamw: Adam with decoupled weight decay in one pass over weight, moments and gradient; the
   bias corrections come from the clock. Where found_inf is set the old values are selected. */
#include "cuda/update.cuh"

extern "C" hu_status
HU_SIDE(op_adamw)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	double *k = hu_numbers(w, HU_ADAMW_CONSTANTS);

	HU_TRY(hu_adamw_constants_of(w, k));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[1], HU_AT_EACH);
	hu_field_in(&m, w->in[3], HU_AT_EACH);
	hu_field_in(&m, w->in[4], HU_AT_EACH);
	hu_field_in(&m, w->in[2], HU_AT_FLAG);
	for (int i = 0; i < 3; i++)
		hu_field_out(w, &m, w->out[i]);
	m.nk = HU_ADAMW_CONSTANTS;
	m.kd = k;
	return hu_update_run<hu_adamw_step>(w, &m);
}
