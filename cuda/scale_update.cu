/* SPDX-License-Identifier: Apache-2.0
   scale_update: one step of a loss-scale rule (lib/op/scaler.h). */
#include "cuda/map.cuh"

extern "C" {
#include "lib/op/scaler.h"
}

/* MOVED: the scale and the four numbers of the tracker. */
HU_KERNEL
update_kernel(int rule, hu_scaler k, HU_PARAM hu_operand scale, HU_PARAM hu_operand tracker, HU_PARAM hu_operand found, double *moved)
{
	float s = hu_load_f32(&scale, 0);
	hu_tracker t = { hu_load_f32(&tracker, 0), hu_load_f32(&tracker, 1), hu_load_f32(&tracker, 2), hu_load_f32(&tracker, 3) };

	hu_scaler_step((hu_scaler_rule)rule, &k, hu_load_f64(&found, 0) != 0, &s, &t);
	moved[0] = (double)s;
	moved[1] = (double)t.good;
	moved[2] = (double)t.left;
	moved[3] = (double)t.step;
	moved[4] = (double)t.last;
}

extern "C" hu_status
HU_SIDE(op_scale_update)(hu_work *w)
{
	const hu_call *c = w->call;
	const char *rule = hu_attr_text(c, "rule", "pytorch");
	hu_slot scale = hu_raw_slot(w, 5, HU_FP64), tracker = scale;
	hu_scaler k;
	int id = 0;

	HU_TRY(hu_scaler_find(rule, &k));
	while (strcmp(hu_scaler_at(id)->name, rule))
		id++;
	k.name = NULL; /* the host's memory */
	k.growth = hu_attr_num(c, "growth", k.growth);
	k.backoff = hu_attr_num(c, "backoff", k.backoff);
	k.interval = (int)hu_attr_num(c, "interval", k.interval);
	k.floor = hu_attr_num(c, "floor", k.floor);
	k.cap = hu_attr_num(c, "cap", k.cap);
	k.hysteresis = (int)hu_attr_num(c, "hysteresis", k.hysteresis);
	HU_TRY(HU_GO(w, update_kernel, 1, 1, 0, id, k, hu_operand_of(w->in[0], HU_AT_ONE), hu_operand_of(w->in[1], HU_AT_EACH), hu_operand_of(w->in[2], HU_AT_ONE), (double *)scale.data));
	tracker.data = (double *)scale.data + 1;
	HU_TRY(HU_SIDE(round)(w, &scale, w->out[0]));
	return c->nout > 1 ? HU_SIDE(round)(w, &tracker, w->out[1]) : HU_OK;
}
