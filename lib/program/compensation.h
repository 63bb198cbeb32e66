/* SPDX-License-Identifier: Apache-2.0
   States that keep what the rounding of other ones loses, for a later step to add: the compensation of Kahan's sum, the
   low half of a weight that is stored in two formats, the residual of a gradient that is sent in a short format. They
   are found by what the program does, not by their names: what such a state becomes is 0 for every input if nothing is
   rounded, because the program subtracts from a value that same value after a rounding. */
#ifndef HU_PROGRAM_COMPENSATION_H
#define HU_PROGRAM_COMPENSATION_H

#include "lib/program/program.h"

enum { HU_LINEAR = 12 };

/* The sum of term[i].factor times tensor term[i].tensor. */
typedef struct hu_linear {
	struct {
		int tensor;
		double factor;
	} term[HU_LINEAR];
	int n;
} hu_linear;

/* State `rest` keeps what a state's rounding loses, as state `after` it has what it keeps for the next step. The state
   and `factor` times rest are one value, which becomes `sum` of tensors of the step if nothing is rounded. */
typedef struct hu_compensation {
	int rest, after;
	double factor;
	hu_linear sum;
} hu_compensation;

/* Sets what compensates the state in this step and returns 1; 0: nothing does. */
int hu_program_compensation(const hu_program *p, size_t step, int state, hu_compensation *c);
/* Returns 1 if the state becomes 0 in this step where nothing is rounded, after a call of the step has read it. */
int hu_program_compensates(const hu_program *p, size_t step, int state);
#endif
