/* SPDX-License-Identifier: Apache-2.0
   The model without a rounding: its exact outputs on chosen inputs, from pairs of doubles with bounds or
   by MPFR (lib/judge/propagate.h), and how far float32's lie from them. */
#ifndef HU_ANALYZERS_EXACT_NETWORK_H
#define HU_ANALYZERS_EXACT_NETWORK_H

#include "analyzers/validate/measures.h"

/* by input: done, and for each row of its decision the errors of float32's two largest values together, against their
   margin: undecided where the margin is no larger. An input is done only if no decision and no margin depends on where
   within their bounds the exact values lie, and the bounds are below 2^-10 of float32's error; else it is untold.
   worst: the largest |float32 - exact| of all outputs' elements, relative: the largest of them divided by the output's
   largest magnitude. Row r of the exact outputs is that of input[r], r < n: value[k] has n rows of output k, each to
   nearest of what was computed, and off[r] bounds how far any value of the row is from the true one. value[k] is NULL
   where an output has no exact values, as none has that no call computes. */
typedef struct hu_exact_network {
	size_t n, untold; /* inputs done, and those of which the bounds leave something open */
	size_t agreed; /* inputs whose bounds come from the agreement with float32's run (lib/judge/propagate.h) */
	char *done, *undecided;
	size_t changed; /* of those done, float32 decides otherwise than the exact network */
	double worst, relative;
	size_t nout, *input;
	double **value, *off;
} hu_exact_network;

/* An input that bounds leave open is given to MPFR, which does about ten million operations a second on two cores,
   where the model takes no more than these on one input. */
#define HU_EXACT_MPFR_OPERATIONS 5e7

/* Runs the exact network on at most LIMIT inputs: those that a policy flipped first, with the smallest margins before
   others. M: the model for batches of one. Where there are ranks all of them call it, with the same base and flips, and
   each runs some of the inputs. */
hu_status hu_exact_network_run(hu_exact_network *x, const hu_imported *m, const hu_evaluated *base,
	const hu_deciding *d, const hu_samples *s, const char *flipped, size_t limit, hu_progress *bar);
void hu_exact_network_release(hu_exact_network *x);
#endif
