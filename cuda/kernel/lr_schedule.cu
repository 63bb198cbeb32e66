/* SPDX-License-Identifier: Apache-2.0
   lr_schedule: the learning rate of a step by a schedule (lib/op/schedule.h), and the next step's number. */
#include "cuda/element/scalar.cuh"

extern "C" {
#include "lib/op/schedule.h"
}

HU_KERNEL
lr_schedule_kernel(hu_lr_schedule s, HU_PARAM hu_store_operand step, HU_PARAM hu_store_result rate,
	HU_PARAM hu_store_result next)
{
	double t = hu_schedule_step(hu_load_f64(&step, 0));

	hu_store_f64(&rate, 0, hu_schedule_rate(&s, t));
	if (next.data)
		hu_store_f64(&next, 0, t + 1);
}

extern "C" hu_status
HU_SIDE(op_lr_schedule)(hu_work *w)
{
	const hu_call *c = w->call;
	hu_slot rate, next;
	hu_store_result rate_to = hu_result_begin(w, w->out[0], &rate, 1),
			next_to = c->nout > 1 ? hu_result_begin(w, w->out[1], &next, 1) : hu_result_none();

	HU_TRY(HU_GO(w, lr_schedule_kernel, 1, 1, 0, hu_schedule_of(c), hu_operand_of(w->in[0], HU_AT_ONE), rate_to,
		next_to));
	HU_TRY(hu_result_finish(w, &rate, w->out[0]));
	return c->nout > 1 ? hu_result_finish(w, &next, w->out[1]) : HU_OK;
}
