/* SPDX-License-Identifier: Apache-2.0
   The summation trees of the models as they are documented, built without running anything, and the names of revealed
   trees that equal one of them. */
#ifndef HU_ANALYZERS_REVEAL_KNOWN_H
#define HU_ANALYZERS_REVEAL_KNOWN_H

#include "analyzers/tree/reveal.h"
#include "lib/sum/sum.h"

/* A chain: terms 0 to n-1 one after the other. */
hu_order *hu_order_ascending(size_t n);
/* Slices of length terms, each summed in ascending order; the slices' sums are then added in ascending order. */
hu_order *hu_order_slices(size_t n, size_t length);
/* Recursive halves, the first of which has the largest power of two below n terms. */
hu_order *hu_order_pairwise(size_t n);
/* `lanes` partial sums side by side, each in ascending order, which are then folded by halves. The terms are cut into
   blocks of block terms, whose sums are reduced in the same way; 0: one block. The program's fixed tree has 32 lanes
   and blocks of 4096. */
hu_order *hu_order_lanes(size_t n, size_t lanes, size_t block);
/* A chain of fused blocks of width terms. */
hu_order *hu_order_blocks(size_t n, size_t width);
/* fp8 executed as two fp16 blocks: of every 2 width terms the first block adds those with k mod 4 in {0, 1}, the second
   one the others and the first one's sum; the sum so far is added last. */
hu_order *hu_order_half_blocks(size_t n, size_t width);
/* The order of the all-reduce s (lib/sum/collective.h). */
hu_order *hu_order_ranks(hu_sum s, size_t n);

/* Returns the documented tree of the resolved model s, cut into parts of `part` terms (0: one part) whose sums the
   fixed tree adds. NULL for neumaier and dot2, whose compensation restores what the masks absorb. */
hu_order *hu_order_of_model(hu_sum s, size_t n, size_t part);

/* Appends the names of every order of this program that has this hash for n terms, separated by ", ", and sets *ours to
   1; where there is none, the names of known orders of other programs. Empty where the order is unknown. */
void hu_order_names(uint64_t hash, size_t n, hu_str *names, int *ours);
#endif
