/* SPDX-License-Identifier: Apache-2.0
   float32's outputs of one input beside those of the exact network, whose values lie within bounds. */
#ifndef HU_ANALYZERS_EXACT_COMPARE_H
#define HU_ANALYZERS_EXACT_COMPARE_H

#include "analyzers/validate/effect/measures.h"

/* What there is to say of one input: its distances lie within off of the true ones, and its outputs' largest magnitude
   is most. decided: neither float32's margin nor the exact decision depends on where within their bounds the exact
   values lie. */
typedef struct hu_exact_comparison {
	double worst, relative, off, most;
	int undecided, changed, decided;
} hu_exact_comparison;

/* Compares one input's outputs: exact[k] of output k, off by at most off[k] (NULL: 0). */
hu_exact_comparison hu_exact_compare(
	const hu_evaluated *base, const hu_deciding *d, double *const *exact, double *const *off, size_t i);
/* Returns 1 if the bounds change nothing that is reported: three digits of the largest error, or 60 bits below the
   largest output where float32 has hardly any. */
int hu_exact_settled(const hu_exact_comparison *v);
#endif
