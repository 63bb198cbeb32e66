/* SPDX-License-Identifier: Apache-2.0
   scale_update: one step of a loss-scale rule (lib/op/scaler.h). */
#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/scaler.h"
}

HU_KERNEL
scale_update_kernel(int rule, hu_scaler k, HU_PARAM hu_store_operand scale, HU_PARAM hu_store_operand tracker,
	HU_PARAM hu_store_operand found, HU_PARAM hu_store_result scale_next, HU_PARAM hu_store_result tracker_next)
{
	double s = hu_load_f64(&scale, 0);
	hu_tracker t = { hu_load_f32(&tracker, 0), hu_load_f32(&tracker, 1), hu_load_f32(&tracker, 2),
		hu_load_f32(&tracker, 3) };

	hu_scaler_step((hu_scaler_rule)rule, &k, hu_load_f64(&found, 0) != 0, &s, &t);
	hu_store_f64(&scale_next, 0, s);
	if (!tracker_next.data)
		return;
	hu_store_f64(&tracker_next, 0, (double)t.good);
	hu_store_f64(&tracker_next, 1, (double)t.left);
	hu_store_f64(&tracker_next, 2, (double)t.step);
	hu_store_f64(&tracker_next, 3, (double)t.last);
}

extern "C" hu_status
HU_SIDE(op_scale_update)(hu_work *w)
{
	const hu_call *c = w->call;
	const char *rule = hu_attr_text(c, "rule", "pytorch");
	hu_slot scale, tracker;
	hu_store_result scale_to = hu_result_begin(w, w->out[0], &scale, 1),
			tracker_to = c->nout > 1 ? hu_result_begin(w, w->out[1], &tracker, 1) : hu_result_none();
	hu_scaler k;
	int id = 0;

	HU_TRY(hu_scaler_find(rule, &k));
	while (strcmp(hu_scaler_at(id)->name, rule))
		id++;
	k.wide = hu_is_wide(w->in[0]->format);
	k.name = NULL; /* it points to the host's memory */
	k.growth = hu_attr_num(c, "growth", k.growth);
	k.backoff = hu_attr_num(c, "backoff", k.backoff);
	k.interval = (int)hu_attr_num(c, "interval", k.interval);
	k.floor = hu_attr_num(c, "floor", k.floor);
	k.cap = hu_attr_num(c, "cap", k.cap);
	k.hysteresis = (int)hu_attr_num(c, "hysteresis", k.hysteresis);
	HU_TRY(HU_GO(w, scale_update_kernel, 1, 1, 0, id, k, hu_operand_of(w->in[0], HU_AT_ONE),
		hu_operand_of(w->in[1], HU_AT_EACH), hu_operand_of(w->in[2], HU_AT_ONE), scale_to, tracker_to));
	HU_TRY(hu_result_finish(w, &scale, w->out[0]));
	return c->nout > 1 ? hu_result_finish(w, &tracker, w->out[1]) : HU_OK;
}
