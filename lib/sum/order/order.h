/* SPDX-License-Identifier: Apache-2.0
   Summation trees: in which order a sum adds its terms, as a tree; and those of the models as they are documented,
   built without running anything. */
#ifndef HU_SUM_ORDER_H
#define HU_SUM_ORDER_H

#include "lib/sum/sum.h"

#include <stddef.h>
#include <stdint.h>

/* A summation tree: a leaf is a term; a node with more than two children adds them at once (a fused block). Since
   addition commutes, the order of siblings has no meaning: children are sorted by their smallest terms. Terms count
   from 0. */
typedef struct hu_order {
	size_t leaf;   /* the term of a leaf */
	size_t leaves; /* how many leaves it has; 1 for a leaf */
	struct hu_order **child;
	int n, cap; /* n children; 0 for a leaf */
} hu_order;

hu_order *hu_order_leaf(size_t leaf);
/* Returns a node with the children a and b, which it owns. NULLs are left out; where only one child remains, that child
   is returned. */
hu_order *hu_order_node(hu_order *a, hu_order *b);
/* Makes c another child of the node o. */
void hu_order_add(hu_order *o, hu_order *c);
void hu_order_free(hu_order *o);

/* Returns a 64-bit hash of the canonical form: equal trees have the same hash whatever the order of siblings, and terms
   are distinguished. */
uint64_t hu_order_hash(const hu_order *o);
/* Returns the number of leaves of the smallest subtree with the terms i and j. */
size_t hu_order_meet(const hu_order *o, size_t i, size_t j);

/* A chain: terms 0 to n-1 one after the other. */
hu_order *hu_order_ascending(size_t n);
/* Slices of length terms, each summed in ascending order; the slices' sums are then added in ascending order. With
   evened = 1 the last slices are as hu_slice_terms cuts them. */
hu_order *hu_order_slices(size_t n, size_t length, int evened);
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
/* Returns o, whose terms now begin `by` terms later. */
hu_order *hu_order_moved(hu_order *o, size_t by);
/* The order of the all-reduce s (lib/sum/collective.h). */
hu_order *hu_order_ranks(hu_sum s, size_t n);

/* A chain; and slices as s's row has them. */
hu_order *hu_order_chain(hu_sum s, size_t n);
hu_order *hu_order_sliced(hu_sum s, size_t n);

/* Returns the documented tree of the resolved model s, cut into parts of `part` terms (0: one part) whose sums the
   fixed tree adds. NULL for neumaier and dot2, whose compensation restores what the masks absorb. */
hu_order *hu_order_of_model(hu_sum s, size_t n, size_t part);
#endif
