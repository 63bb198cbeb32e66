/* SPDX-License-Identifier: Apache-2.0
   Draws rounded operations: why 1 + 0.0001 is 1, what a sum loses step by step, which bits a tensor core cuts off. */
#ifndef HU_ANALYZERS_EXPLAIN_H
#define HU_ANALYZERS_EXPLAIN_H

#include "analyzers/explain/explain_drawing.h"
#include "analyzers/expression/expr.h"
#include "lib/base/str.h"

/* The drawing so far. root is the whole expression: a literal is drawn only where it is all of it. */
typedef struct hu_explain {
	hu_drawing d;
	const hu_expr *root;
} hu_explain;

/* A hu_arithmetic_seen; `to` is a hu_explain. Appends a title, panels and words for every operation that rounds: the
   operands as stored, the aligned significands, the exact result with guard, round and sticky bits behind the last bit
   kept, and the result. The words say how large an operand must be to change the larger one. */
void hu_explain_seen(void *to, const hu_arithmetic *a, const hu_seen *what);

/* How an expression came out: its text, the value computed, its distance to the exact one in ulps and relative. */
typedef struct hu_explain_result {
	const char *text;
	double value, ulps, relative;
	const char *exact;
} hu_explain_result;
/* Appends how far the whole expression x->root is off: its exact value above the value computed, the steps whose
   drawings begin at item `from`, and what the exact value rounded once would be. */
void hu_explain_whole(hu_explain *x, int from, const hu_arithmetic *a, const hu_explain_result *r);

/* Appends the names of the models whose steps are drawn: "fma, … and tc". */
void hu_explain_models(hu_str *to);
/* Returns 1 where the steps of sums by model s are drawn; for other models words say that they are not. */
int hu_explain_draws(const struct hu_sum *s);
#endif
