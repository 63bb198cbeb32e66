/* SPDX-License-Identifier: Apache-2.0
   A traced step executed again with other random bits where calls round stochastically, and with the same inputs,
   state and masks. */
#ifndef HU_ANALYZERS_STOCHASTIC_REDRAW_H
#define HU_ANALYZERS_STOCHASTIC_REDRAW_H

#include "analyzers/run/analyzer.h"
#include "lib/program/exec.h"

typedef struct hu_redraw {
	hu_program *p; /* a copy, whose random streams are named anew for each draw */
	const hu_program *from;
	hu_exec x; /* x.t has the tensors of the last draw */
	hu_env env;
	int first; /* the first call whose rounding draws random bits: those before it are executed once */
} hu_redraw;

/* Returns 1 if the call rounds by random bits: its output, a sum inside of it, or elements of blocks. */
int hu_redraw_draws(const hu_call *c);
/* Returns 1 if some call of p does. */
int hu_redraw_is_drawn(const hu_program *p);

/* Copies the step's inputs and state, and executes it once with its own random bits (draw 0). HU_EABSENT says why it
   cannot be executed again: an input was not recorded, a call is opaque, or draw 0 differs from what was recorded. */
hu_status hu_redraw_init(hu_redraw *d, const hu_analysis *a, hu_trace *t);
/* Executes the step with the random bits of draw k, which are those of streams named after the calls' own and k. */
hu_status hu_redraw_run(hu_redraw *d, int k);
void hu_redraw_release(hu_redraw *d);
#endif
