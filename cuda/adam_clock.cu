/* SPDX-License-Identifier: Apache-2.0
   adam_clock: (t, beta1^t, beta2^t) one step on, or as they were where found_inf is set. */
#include "cuda/scalar.cuh"

HU_KERNEL
tick_kernel(HU_PARAM hu_operand clock, HU_PARAM hu_operand found, double b1, double b2, hu_format compute, double *next)
{
	int i = (int)threadIdx.x;

	next[i] = hu_adam_tick(compute, i, hu_load_f64(&clock, (uint32_t)i), hu_load_f64(&clock, 0), i == 1 ? b1 : b2, hu_load_f64(&found, 0) != 0);
}

extern "C" hu_status
HU_SIDE(op_adam_clock)(hu_work *w)
{
	hu_slot next = hu_raw_slot(w, 3, HU_FP64);

	HU_TRY(HU_GO(w, tick_kernel, 1, 3, 0, hu_operand_of(w->in[0], HU_AT_EACH), hu_operand_of(w->in[1], HU_AT_ONE), hu_attr_num(w->call, "beta1", 0.9),
	             hu_attr_num(w->call, "beta2", 0.999), hu_format_of(w->call->fmt.compute), (double *)next.data));
	return HU_SIDE(round)(w, &next, w->out[0]);
}
