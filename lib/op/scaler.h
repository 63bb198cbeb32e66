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
	double floor, cap;     /* 0: no limit */
	int hysteresis;        /* the scale falls only at the last of this many overflows */
	int wide;              /* the scale is a double, as Python has it, and no float32 tensor */
	const char *reads;     /* the training options it reads, separated by blanks */
} hu_scaler;

typedef enum hu_scaler_rule {
#define SCALER(name, init, growth, backoff, interval, floor, cap, hysteresis, wide, reads) HU_SCALER_##name,
#include "lib/op/scalers.def"
#undef SCALER
	HU_SCALERS
} hu_scaler_rule;

/* Finds a rule by name. HU_EINVAL names the nearest one. */
hu_status hu_scaler_find(const char *name, hu_scaler *out);
const hu_scaler *hu_scaler_at(int i);   /* NULL past the last */

/* What a rule remembers besides the scale; all zero before the first step. The members hold whole numbers, which a
   float represents exactly up to 2^24 steps. good counts successful steps since the last change; for deepspeed it
   counts overflows at the smallest scale, where DeepSpeed raises an error. left counts the overflows until the scale
   falls. last is the last step that overflowed. */
typedef struct hu_tracker { float good, left, step, last; } hu_tracker;

/* Performs one step of the rule: updates *scale and *t after a step whose gradients overflowed (found) or not. Products
   are formed in double; where the rule is not wide they are rounded once to the scale's float, as in PyTorch's kernel.
   With powers of two of float32's range every framework agrees. */
HU_HD void
hu_scaler_step(hu_scaler_rule rule, const hu_scaler *k, int found, double *scale, hu_tracker *t)
{
	double up = *scale * k->growth, down = *scale * k->backoff;

	if (!k->wide) {
		up = (double)(float)up;
		down = (double)(float)down;
	}

	if (t->step == 0) { /* a fresh tracker is set up here, so that all zeros is a valid start */
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
				/* at the floor DeepSpeed stops the training */
				t->good += (float)(*scale == (k->wide ? k->floor : (double)(float)k->floor));
				*scale = k->wide ? down : (double)(float)down;
			} else {
				t->left -= 1;
			}
		/* DeepSpeed grows on a fixed phase, not after a count of good steps */
		} else if ((long long)(t->step - t->last) % k->interval == 0) {
			t->left = (float)k->hysteresis;
			*scale = k->wide ? up : (double)(float)up;
		}
	} else if (found) {
		*scale = k->wide ? down : (double)(float)down;
		t->good = 0;
	} else {
		t->good += 1;
		if (t->good == (float)k->interval) {
			if (rule != HU_SCALER_pytorch || hu_isfinite(up)) /* only PyTorch refuses to grow to infinity */
				*scale = k->wide ? up : (double)(float)up;
			t->good = 0;
		}
	}
	if (found)
		t->last = t->step;
	t->step += 1;
}
#endif
