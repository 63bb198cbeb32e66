/* SPDX-License-Identifier: Apache-2.0
   The summation trees of the models as they are documented, built without running anything, and what
   a revealed tree is by comparison with them. */
#ifndef HU_ANALYZERS_REVEAL_KNOWN_H
#define HU_ANALYZERS_REVEAL_KNOWN_H

#include "analyzers/tree/reveal.h"
#include "lib/sum/sum.h"

/* One after the other, terms 0 to n-1. */
hu_order *hu_order_ascending(size_t n);
/* Slices of length terms, each ascending; slice sums ascending. */
hu_order *hu_order_slices(size_t n, size_t length);
/* Halves, the first the largest power of two below n. */
hu_order *hu_order_pairwise(size_t n);
/* lanes terms side by side, each lane ascending; lanes folded by halves. Blocks of block terms, whose sums
   are reduced in the same way; 0: one block. The fixed tree is 32 lanes, blocks of 4096. */
hu_order *hu_order_lanes(size_t n, size_t lanes, size_t block);
/* Fused blocks of width terms in a chain. */
hu_order *hu_order_blocks(size_t n, size_t width);
/* fp8 by two fp16 blocks: of each 2 width terms, those with k mod 4 in {0, 1}, then the others with that sum; the sum
   before added last. */
hu_order *hu_order_half_blocks(size_t n, size_t width);

/* The documented tree of model s, resolved, in parts of part terms (0: one) that the fixed tree joins; NULL for
   neumaier and dot2, whose compensation brings back what masks absorb. */
hu_order *hu_order_of_model(hu_sum s, size_t n, size_t part);

/* Names of every order of ours that has this hash for n terms, separated by ", "; OTHERS: of ones that are not
   ours, where none of ours has it. Empty: nothing known. */
void hu_order_names(uint64_t hash, size_t n, hu_str *names, int *ours);
#endif
