/* SPDX-License-Identifier: Apache-2.0
   What --ulps K allows: K units in the last place of each tensor's own format, and what follows from that for the
   errors, losses and shares that a baseline holds. */
#ifndef HU_ANALYZERS_ALLOWANCE_H
#define HU_ANALYZERS_ALLOWANCE_H

#include "analyzers/drift/baseline/baseline.h"

/* Widens every quantity of B that K > 0 ulps of its elements can move: losses and scores by K ulps of fp32; an error in
   ulps by K; an error relative to a norm, a lost length or a cosine by K ulps of the tensor's format at 1; the largest
   share of a bound by as much as K ulps are of that bound; the logarithm of a loss scale by 1; a summary by as much as
   the widest of its rows. Counts of outputs over their bound, skipped steps, loss scales and programs stay exact.
   Digests, and shares of elements that were swamped or flushed, which one ulp can move by any amount, are not
   compared. */
void hu_baseline_allow(hu_baseline *b, double k);
#endif
