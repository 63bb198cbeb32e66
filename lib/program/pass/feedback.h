/* SPDX-License-Identifier: Apache-2.0
   Error feedback on the way to the wire. For each gradient and each rank r that adds to it there is a state
   LAYER.ROLE_errorR, in fp32, or in fp64 where the gradient is. What the rank has, times the wire's scale, plus the
   error is LAYER.ROLE_correctedR; its cast to the wire's format, LAYER.ROLE_correctedR@WIRE, is what the rank sends;
   the error's next value is what that cast lost, corrected - sent, or where the step is skipped the error as it was.

   Where the loss scale changes from step to step the state is divided by it, and multiplied by the present one before
   it is added: a gradient that was lost at one loss scale would otherwise come back at another. */
#ifndef HU_PROGRAM_FEEDBACK_H
#define HU_PROGRAM_FEEDBACK_H

#include "lib/program/pass/pass.h"

/* Returns 1 where feedback is asked for and the wire's format does not hold every number of the tensor `term`. */
int hu_feedback_helps(const hu_program *p, int term, const hu_all_reduce *r);

/* Appends the backward calls that correct and cast `term`, which rank `rank` of r->ranks adds to the gradient named
   `gradient`, and returns the tensor to be sent. `last` is the last micro-batch of the rank. hu_pass_feedback then
   completes the states. */
int hu_feedback_send(hu_program *p, int term, const char *gradient, int rank, int last, const hu_all_reduce *r);

/* The tensors behind one that a rank sends with feedback: what it had, the state, and their sum. */
typedef struct hu_feedback { int term, error, corrected; } hu_feedback;

/* Returns 1 if the tensor `sent`, of any program, was made by hu_feedback_send, and fills in *out. */
int hu_feedback_of(const hu_program *p, int sent, hu_feedback *out);
#endif
