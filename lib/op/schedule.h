/* SPDX-License-Identifier: Apache-2.0
   Learning-rate schedules (schedules.def): the rate of a step as a function of the step's number alone, for host and
   device. Steps count from 0; after the warm-up a schedule counts from its end, t - warmup. */
#ifndef HU_OP_SCHEDULE_H
#define HU_OP_SCHEDULE_H

#include "lib/op/call.h"
#include "lib/op/numeric.h"

typedef enum hu_schedule_rule {
#define SCHEDULE(name, reads, summary) HU_SCHEDULE_##name,
#include "lib/op/schedules.def"
#undef SCHEDULE
	HU_SCHEDULES
} hu_schedule_rule;

/* A schedule with its numbers. In the warm-up's steps t < warmup the rate is lr (t + 1) / (warmup + 1); decay_steps is
   at least 1. */
typedef struct hu_lr_schedule {
	hu_schedule_rule rule;
	double lr, lr_end, decay_rate, warmup, decay_steps;
} hu_lr_schedule;

typedef struct hu_schedule_row { const char *name, *reads, *summary; } hu_schedule_row;

/* Finds a rule by name. HU_EINVAL names the nearest one. */
hu_status hu_schedule_find(const char *name, hu_schedule_rule *out);
/* Returns the schedule of a call of lr_schedule, whose attributes have been checked. */
hu_lr_schedule hu_schedule_of(const hu_call *c);
const hu_schedule_row *hu_schedule_at(int i);   /* NULL past the last */

/* Returns cos^2(pi/2 u/n) = (1 + cos(pi u/n)) / 2 for 0 <= u <= n, within 32 unit roundoffs of 2^-53: the angle is
   taken from the nearer end, so that it is at most pi/4 and has three roundings; there the Taylor series below differ
   from sine and cosine by less than 2^-58. */
HU_HD double
hu_schedule_wave(double u, double n)
{
	int far = 2 * u > n;
	double a = 1.5707963267948966 * ((far ? n - u : u) / n), x = a * a, y;

	if (far)
		y = a * (1 + x * (-1. / 6 + x * (1. / 120 + x * (-1. / 5040 + x * (1. / 362880 + x * (-1. / 39916800 +
			x * (1. / 6227020800. + x * (-1. / 1307674368000. + x * (1. / 355687428096000.)))))))));
	else
		y = 1 + x * (-1. / 2 + x * (1. / 24 + x * (-1. / 720 + x * (1. / 40320 + x * (-1. / 3628800 +
			x * (1. / 479001600. + x * (-1. / 87178291200. + x * (1. / 20922789888000.))))))));
	return y * y;
}

/* Returns how often a rate has dropped after u steps. The quotient of whole numbers below 2^31 never rounds up to a
   whole number that it does not reach: it misses that by more than 2^-52 of itself. */
HU_HD double hu_schedule_drops(const hu_lr_schedule *s, double u) { return (double)(uint64_t)(u / s->decay_steps); }

/* Returns the number of the step that t says: a whole number from 0 to 2^31, whatever a file or a command line gave. */
HU_HD double
hu_schedule_step(double t)
{
	return t >= 0 ? t < 0x1p31 ? (double)(uint64_t)t : 0x1p31 : 0;
}

/* Returns the rate of step t (hu_schedule_step), computed in double; hu_schedule_error bounds its distance to the
   formula's value. */
HU_HD double
hu_schedule_rate(const hu_lr_schedule *s, double t)
{
	double u = t - s->warmup, part = u < s->decay_steps ? u : s->decay_steps, rate = s->lr;

	if (t < s->warmup)
		return s->lr * ((t + 1) / (s->warmup + 1));
	switch (s->rule) {
	case HU_SCHEDULE_step: {
		double power = s->decay_rate;
		for (uint64_t n = (uint64_t)hu_schedule_drops(s, u); n; n >>= 1, power *= power)
			if (n & 1)
				rate *= power;
		return rate;
	}
	case HU_SCHEDULE_cosine:
		return s->lr_end + (s->lr - s->lr_end) * hu_schedule_wave(part, s->decay_steps);
	case HU_SCHEDULE_linear:
		return s->lr_end + (s->lr - s->lr_end) * ((s->decay_steps - part) / s->decay_steps);
	case HU_SCHEDULE_constant:
	case HU_SCHEDULES: break; /* HU_SCHEDULES counts them */
	}
	return rate;
}

/* Bounds |rate - exact| for the rate v of step t. Warm-up, line and wave err by at most 32 roundings of the part that
   changes, and three of the sum; n drops multiply 2n rounded factors at most, and may fall below the smallest normal
   number. */
static inline double
hu_schedule_error(const hu_lr_schedule *s, double t, double v)
{
	double u = 0x1p-53, end = s->lr_end;

	if (t >= s->warmup && s->rule == HU_SCHEDULE_constant)
		return 0;
	if (t >= s->warmup && s->rule == HU_SCHEDULE_step)
		return 4 * (hu_schedule_drops(s, t - s->warmup) + 1) * u * hu_abs(v) + 0x1p-1000;
	return u * (64 * (t < s->warmup ? hu_abs(v) : hu_abs(v - end)) + 4 * (hu_abs(v) + hu_abs(end))) + 0x1p-1000;
}
#endif
