/* SPDX-License-Identifier: Apache-2.0
   adamw: Adam with decoupled weight decay in one pass over weight, moments and gradient; the bias corrections come from
   the clock. If found_inf is set the old values are kept. */
#include "cuda/element/update.cuh"

extern "C" hu_status
HU_SIDE(op_adamw)(hu_work *w)
{
	double *k = hu_numbers(w, HU_ADAMW_CONSTANTS);

	HU_TRY(hu_adamw_constants_of(w, k));
	return hu_moments_run<hu_adamw_step>(w, k, HU_ADAMW_CONSTANTS);
}
