/* SPDX-License-Identifier: Apache-2.0
   The model without a rounding: its exact outputs on chosen inputs, from certified double-doubles or MPFR
   (lib/judge/propagate.h), and how far float32's lie from them. */
#ifndef HU_ANALYZERS_EXACT_NETWORK_H
#define HU_ANALYZERS_EXACT_NETWORK_H

#include "analyzers/validate/measures.h"

/* by input: done, and for each row of its decision the errors of float32's two largest values together, against their
   margin: undecided where the margin is no larger. worst: the largest |float32 - exact| of all outputs' elements,
   relative: the largest of them divided by the output's largest magnitude. */
typedef struct hu_exact_network {
	size_t n; /* inputs done */
	char *done, *undecided;
	size_t changed; /* of them, float32 decides otherwise than the exact network */
	double worst, relative;
} hu_exact_network;

/* Runs the exact network on at most LIMIT inputs: those that a policy flipped first, with the smallest margins before
   others. M: the model for batches of one. */
hu_status hu_exact_network_run(hu_exact_network *x, const hu_imported *m, const hu_evaluated *base,
	const hu_deciding *d, const hu_samples *s, const char *flipped, size_t limit, hu_progress *bar);
void hu_exact_network_release(hu_exact_network *x);
#endif
