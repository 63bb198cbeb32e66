/* SPDX-License-Identifier: Apache-2.0
   adam: Adam in Keras's form in one pass over weight, moments and gradient; the step size comes from the clock. If
   found_inf is set the old values are kept. */
#include "cuda/element/update.cuh"

extern "C" hu_status
HU_SIDE(op_adam)(hu_work *w)
{
	double *k = hu_numbers(w, HU_ADAM_CONSTANTS);

	HU_TRY(hu_adam_constants_of(w, k));
	return hu_moments_run<hu_adam_step>(w, k, HU_ADAM_CONSTANTS);
}
