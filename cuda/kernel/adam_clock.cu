/* SPDX-License-Identifier: Apache-2.0
   adam_clock: advances (t, beta1^t, beta2^t) by one step, or keeps them if found_inf is set. */
#include "cuda/element/scalar.cuh"

HU_KERNEL
tick_kernel(HU_PARAM hu_store_operand clock, HU_PARAM hu_store_operand found, double b1, double b2, hu_format compute,
	HU_PARAM hu_store_result next)
{
	int i = (int)threadIdx.x;

	hu_store_f64(&next, (uint32_t)i,
		hu_adam_tick(compute, i, hu_load_f64(&clock, (uint32_t)i), hu_load_f64(&clock, 0), i == 1 ? b1 : b2,
			hu_load_f64(&found, 0) != 0));
}

extern "C" hu_status
HU_SIDE(op_adam_clock)(hu_work *w)
{
	hu_slot raw;
	hu_store_result next = hu_result_begin(w, w->out[0], &raw, 1);

	HU_TRY(HU_GO(w, tick_kernel, 1, 3, 0, hu_operand_of(w->in[0], HU_AT_EACH), hu_operand_of(w->in[1], HU_AT_ONE),
		hu_attr_num(w->call, "beta1", 0.9), hu_attr_num(w->call, "beta2", 0.999),
		hu_format_of(w->call->fmt.compute), next));
	return hu_result_finish(w, &raw, w->out[0]);
}
