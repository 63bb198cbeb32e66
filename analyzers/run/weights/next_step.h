/* SPDX-License-Identifier: Apache-2.0
   What the roundings of a step's states do to the step behind it, whichever optimizer keeps them: a second moment that
   became zero is divided by there, however small its own norm is. */
#ifndef HU_ANALYZERS_WEIGHTS_NEXT_STEP_H
#define HU_ANALYZERS_WEIGHTS_NEXT_STEP_H

#include "analyzers/run/analyzer.h"
#include "lib/judge/harm.h"

/* The next step of n elements of parameters from the states as they were stored, beside the one from the exact states.
   dead: elements of which the former is not finite though the latter is. */
typedef struct hu_next_step {
	hu_harm harm;
	size_t n, dead;
} hu_next_step;

/* Takes the step behind the traced one twice, in doubles, by the calls of this step's update: from the states that it
   stored, and with exact values in the place of those that no other analyzer judges. Its gradients are not known: each
   weight has that of the weight half a tensor away, which is as large but another one, as that of another batch would
   be. Weights begin as stored, and what is made of neither states nor gradients is what it was. s->n stays 0 where the
   states are as good as exact, where exact ones move nothing, where an opaque call stands between a state and a
   weight, or where it would cost too much. hu_analysis_ideal comes first. */
hu_status hu_next_step_take(hu_next_step *s, hu_analysis *a, hu_trace *t);
/* harmless, costs, or "-" where no step was taken. A step costs where its cosine is less than 0.99 or its length more
   than a tenth off; it is never fatal, as it was not taken. */
const char *hu_next_step_verdict(const hu_next_step *s);
#endif
