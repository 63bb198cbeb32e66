/* SPDX-License-Identifier: Apache-2.0
   Pictures of sums in text: why 1 + 0.0001 is 1. */
#ifndef HU_ANALYZERS_EXPLAIN_H
#define HU_ANALYZERS_EXPLAIN_H

#include "analyzers/expr.h"

/* Draws an addition, subtraction or fma of finite nonzero operands on standard
   output: both significands aligned, the exact sum, the result, the line below
   the last kept bit, guard, round and sticky, and in words what it takes to move
   the larger operand. Nothing for other operations. A hu_arithmetic_seen. */
void hu_explain_sum(const hu_arithmetic *a, hu_function f, const double *x, int n, double s);
#endif
