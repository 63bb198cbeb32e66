/* SPDX-License-Identifier: Apache-2.0
   The model without a rounding: its exact outputs on chosen inputs, from doubles or pairs of doubles with bounds or by
   MPFR (lib/judge/propagate.h), and how far float32's lie from them. */
#ifndef HU_ANALYZERS_EXACT_NETWORK_H
#define HU_ANALYZERS_EXACT_NETWORK_H

#include "analyzers/validate/effect/measures.h"

#include "lib/base/parts/pack.h"

/* by input: done, and for each row of its decision the errors of float32's two largest values together, against their
   margin: undecided where the margin is no larger. An input is done only if no decision and no margin depends on where
   within their bounds the exact values lie, and the bounds are below 2^-10 of float32's error; else it is open.
   worst: the largest |float32 - exact| of all outputs' elements, relative: the largest of them divided by the output's
   largest magnitude. Row r of the exact outputs is that of input[r], r < n: value[k] has n rows of output k, each to
   nearest of what was computed, and off[r] bounds how far any value of the row is from the true one. value[k] is NULL
   where an output has no exact values, as none has that no call computes. */
typedef struct hu_exact_network {
	size_t n, open; /* inputs done, and those of which the bounds leave something open */
	size_t agreed;    /* inputs whose bounds come from the agreement with float32's run (lib/judge/propagate.h) */
	size_t doubles;   /* those of them that were computed in doubles alone (lib/judge/doubles/doubles.h) */
	char *done, *undecided;
	size_t changed; /* of those done, float32 decides otherwise than the exact network */
	double worst, relative;
	size_t nout, *input;
	double **value, *off;
} hu_exact_network;

/* An input that bounds leave open is given to MPFR, which does about ten million operations a second on two cores,
   where the model takes no more than these on one input. */
#define HU_EXACT_MPFR_OPERATIONS 5e7

/* float32's outputs of an input in a batch may differ from those of the input alone by this times the largest: 2^-20 is
   16 units in the last place, and a library whose sums change their order with the batch would need some. */
#define HU_EXACT_ALONE 0x1p-20

/* The exact network on at most LIMIT inputs: those that a policy flipped first, with the smallest margins before
   others; number i of them, from 0, is tried by itself. M: the model for batches of one. PAIRS: the exact outputs are
   wanted as precisely as can be, so that no input is computed in doubles alone. All arguments must outlive the trial.
   close takes NULL, and what open has left where it failed. */
typedef struct hu_exact_trial hu_exact_trial;
hu_status hu_exact_trial_open(hu_exact_trial **t, const hu_imported *m, const hu_evaluated *base, const hu_deciding *d,
	const hu_samples *s, const char *flipped, size_t limit, int pairs);
void hu_exact_trial_close(hu_exact_trial *t);
hu_status hu_exact_trial_run(hu_exact_trial *t, size_t i);
/* Passes what was found of number i through a record. */
void hu_exact_trial_pack(hu_pack *r, hu_exact_trial *t, size_t i);
/* Tries all, of which each rank takes some; afterwards every rank has what all found. Collective. */
hu_status hu_exact_trial_together(hu_exact_trial *t, hu_progress *bar);
/* What was found of all of them. */
void hu_exact_network_of(hu_exact_network *x, const hu_exact_trial *t);
void hu_exact_network_release(hu_exact_network *x);
#endif
