/* SPDX-License-Identifier: Apache-2.0
   Reveals the order in which a black box sums, from its results alone, by FPRev's masks (arXiv 2411.00442): M and -M at
   two places and a small unit everywhere else. Units that are added before the two masks meet are absorbed, so the
   result counts the units outside the smallest subtree that holds both masks. */
#ifndef HU_ANALYZERS_REVEAL_H
#define HU_ANALYZERS_REVEAL_H

#include "lib/base/str.h"
#include "lib/number/format.h"
#include "lib/sum/order/order.h"

#include <stdint.h>

/* What a tree looks like in a line, regular stretches folded; terms count from 1:
     seq(a, b, c)    ((a + b) + c); 1..8: terms 1 to 8, 1..29 by 4: every fourth
     pair(T, +s)     T plus the same tree moved by s terms
     pairs(1..8)     halves summed recursively, the first half the largest power of two below
     fused(a, b, c)  one node of several terms; fused(1..16; x3 +16): three of them in a chain, each taking the
		     sum so far and the next 16
     T xk +s         k copies of T, each moved by s; [1, 2] x3 +4: terms 1, 2, 5, 6, 9, 10
   and (A + B) where nothing is regular. */
void hu_reveal_text(const hu_order *o, hu_str *s);
/* Appends the tree with every term and nothing folded: ((1 2) 3). */
void hu_reveal_nested(const hu_order *o, hu_str *s);

/* The black box: returns the sum of n terms, each of which is big, -big or unit. */
typedef double hu_reveal_sum(void *to, const double *terms, size_t n);

/* Finds the masks for n terms that are values of format `term`, or products of two of them, and are summed in format
   acc. They satisfy: big absorbs all units together, also just below a power of two; sums of units are exact; and,
   where the range allows, all units together lie 27 bits below big, so that blocks that are aligned to big cut them
   off. Units may be subnormal in acc. HU_EUNABLE where the formats have no such values for n terms. */
hu_status hu_reveal_masks(hu_format term, int products, hu_format acc, size_t n, double *big, double *unit);

/* Sets *out to the tree of n >= 1 terms, which the caller frees, and *sums, unless NULL, to the number of sums that
   were asked for: between n - 1 and n (n - 1) / 2. HU_EUNABLE where no tree explains the counts, as with compensated
   sums. */
hu_status hu_reveal(hu_order **out, hu_reveal_sum *sum, void *to, size_t n, double big, double unit, size_t *sums);
#endif
