/* SPDX-License-Identifier: Apache-2.0
   The order in which a black box sums, from its results alone: FPRev's masks (arXiv 2411.00442). M and
   -M at two places and a small unit everywhere else: what is added before the two meet is absorbed, so
   the result counts the units outside the smallest subtree that holds both. */
#ifndef HU_ANALYZERS_REVEAL_H
#define HU_ANALYZERS_REVEAL_H

#include "lib/base/str.h"
#include "lib/number/format.h"

#include <stdint.h>

/* A summation tree: a leaf is a term; a node of more than two children adds them at once (a fused
   block). A child's order among its siblings says nothing: addition commutes. Children stand in the
   order of their smallest terms, and terms count from 0. */
typedef struct hu_order {
	size_t leaf;            /* of a leaf */
	size_t leaves;          /* below it; 1 of a leaf */
	struct hu_order **child;
	int n, cap;             /* children; 0 of a leaf */
} hu_order;

hu_order *hu_order_leaf(size_t leaf);
/* A node of the children a and b, which it owns; NULLs are left out, and an only child is returned. */
hu_order *hu_order_node(hu_order *a, hu_order *b);
/* c becomes another child of the node o. */
void hu_order_add(hu_order *o, hu_order *c);
void hu_order_free(hu_order *o);

/* 64 bits of the canonical form: equal for equal trees whatever the order of siblings; terms are told apart. */
uint64_t hu_order_hash(const hu_order *o);
/* Leaves of the smallest subtree with terms i and j. */
size_t hu_order_meet(const hu_order *o, size_t i, size_t j);

/* What a tree looks like in a line, regular stretches folded; terms count from 1:
     seq(a, b, c)    ((a + b) + c); 1..8: terms 1 to 8, 1..29 by 4: every fourth
     pair(T, +s)     T plus the same tree moved by s terms
     pairs(1..8)     halves summed recursively, the first half the largest power of two below
     fused(a, b, c)  one node of several terms; fused(1..16; x3 +16): three of them in a chain, each taking the
                     sum so far and the next 16
     T xk +s         k copies of T, each moved by s; [1, 2] x3 +4: terms 1, 2, 5, 6, 9, 10
   and (A + B) where nothing is regular. */
void hu_order_text(const hu_order *o, hu_str *s);
/* ((1 2) 3): every term, nothing folded. */
void hu_order_nested(const hu_order *o, hu_str *s);

/* The black box: the sum of n terms, each of them big, -big or unit. */
typedef double hu_reveal_sum(void *to, const double *terms, size_t n);

/* The masks for n terms that are values of term, or products of two of them, summed in acc: big absorbs all
   units also below a power of two, sums of units are exact, and all units together lie, where the range allows,
   27 bits below big, so that blocks aligned to big chop them. Units may be subnormal in acc. HU_EUNABLE where the
   formats leave no room for n. */
hu_status hu_reveal_masks(hu_format term, int products, hu_format acc, size_t n, double *big, double *unit);

/* The tree of n >= 1 terms, freed by the caller; *sums, unless NULL, is how often the box was asked: between
   n - 1 times and n (n - 1) / 2. HU_EUNABLE where no tree gives the counts, as with compensated sums. */
hu_status hu_reveal(hu_order **out, hu_reveal_sum *sum, void *to, size_t n, double big, double unit, size_t *sums);
#endif
