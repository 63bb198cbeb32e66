/* SPDX-License-Identifier: Apache-2.0
   Drawings of rounded operations: why 1 + 0.0001 is 1, what a sum loses step by step, what a tensor
   core chops. */
#ifndef HU_ANALYZERS_EXPLAIN_H
#define HU_ANALYZERS_EXPLAIN_H

#include "analyzers/explain/explain_drawing.h"
#include "analyzers/calc/expr.h"

/* Where drawings go; root, a literal alone, is drawn too. */
typedef struct hu_explain { hu_drawing d; const hu_expr *root; } hu_explain;

/* A hu_arithmetic_seen; `to` is a hu_explain. Adds a title, panels and words for every operation that
   rounds: operands as stored, significands aligned, the exact result with guard, round and sticky
   behind the last bit kept, the result; in words what it takes to move the larger operand. */
void hu_explain_seen(void *to, const hu_arithmetic *a, const hu_seen *what);

/* Models whose steps are drawn, for people. */
#define HU_EXPLAIN_MODELS "fma, sequential, chunk, splitk, promote and tc"
/* Whether the steps of sums by model s are drawn; of the others words say that they are not. */
int hu_explain_draws(const struct hu_sum *s);
#endif
