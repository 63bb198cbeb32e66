/* SPDX-License-Identifier: Apache-2.0
   Dynamic loss scaling: the rules of the frameworks as data (scalers.def) and as
   one step of a state machine that host and device share. It does not look at
   gradients (op finite_check) and does not select updates (op sgd, adamw). */
#ifndef HU_OP_SCALER_H
#define HU_OP_SCALER_H

#include "lib/number/round.h"

typedef struct hu_scaler {
	const char *name;
	double init, growth, backoff;
	int interval;
	double floor, cap;     /* 0: none */
	int hysteresis;        /* this many overflows lower the scale, the ones before do not */
	const char *reads;     /* options of a training, a blank between two */
} hu_scaler;

typedef enum hu_scaler_rule {
#define SCALER(name, init, growth, backoff, interval, floor, cap, hysteresis, reads) HU_SCALER_##name,
#include "lib/op/scalers.def"
#undef SCALER
	HU_SCALERS
} hu_scaler_rule;

/* A row by name; HU_EINVAL names the nearest. */
hu_status hu_scaler_find(const char *name, hu_scaler *out);
const hu_scaler *hu_scaler_at(int i);   /* NULL past the last */

/* What a rule remembers beside the scale; all zero before the first step. Whole
   numbers, exact in a float up to 2^24 steps. good: good steps since the last change;
   of deepspeed: overflows at the smallest scale, each of which DeepSpeed raises an
   error for. left: overflows until the scale falls. last: the last step that overflowed. */
typedef struct hu_tracker { float good, left, step, last; } hu_tracker;

/* One step of RULE: *scale and *t after a step that overflowed (FOUND) or not.
   Products are formed in double and rounded once to the scale's float, as in
   PyTorch's kernel; with powers of two every framework agrees. */
HU_HD void
hu_scaler_step(hu_scaler_rule rule, const hu_scaler *k, int found, float *scale, hu_tracker *t)
{
	double up = (double)(float)(*scale * k->growth), down = (double)(float)(*scale * k->backoff);

	if (t->step == 0) { /* a fresh tracker: so that zeros are a valid start */
		t->left = (float)k->hysteresis;
		t->last = -1;
	}
	if (k->floor != 0 && down < k->floor)
		down = k->floor;
	if (k->cap != 0 && up > k->cap)
		up = k->cap;
	if (rule == HU_SCALER_none || rule == HU_SCALER_static) {
		t->good = found ? 0 : t->good + 1;
	} else if (rule == HU_SCALER_deepspeed) {
		if (found) {
			if (k->hysteresis == 1 || t->left == 1) {
				t->good += (float)(*scale == (float)k->floor); /* where DeepSpeed stops the training */
				*scale = (float)down;
			} else {
				t->left -= 1;
			}
		} else if ((long long)(t->step - t->last) % k->interval == 0) { /* a phase, not a count of good steps */
			t->left = (float)k->hysteresis;
			*scale = (float)up;
		}
	} else if (found) {
		*scale = (float)down;
		t->good = 0;
	} else {
		t->good += 1;
		if (t->good == (float)k->interval) {
			if (rule != HU_SCALER_pytorch || hu_isfinite(up)) /* only PyTorch refuses to grow to infinity */
				*scale = (float)up;
			t->good = 0;
		}
	}
	if (found)
		t->last = t->step;
	t->step += 1;
}
#endif
