/* SPDX-License-Identifier: Apache-2.0
   Operators of lib/op that are one formula of the elements of their operands (lib/op/element/formulas.def), computed in
   balls: whoever adds such an operator has it judged. */
#ifndef HU_JUDGE_FORMULA_BALLS_H
#define HU_JUDGE_FORMULA_BALLS_H

#include "lib/judge/kernel/graph.h"
#include "lib/op/op.h"

/* The result of call c, whose operator must be a formula (hu_pointwise_is_formula), in operand 0's shape: each step of
   the formula rounds as `a` says. HU_EFILE where an operand has too few elements. */
hu_status hu_formula_balls(const hu_call *c, const hu_roundoffs *a, const hu_balls *in, hu_balls *y);

/* The same as a row of graphs, whose keys are the operator's attributes; NULL where there is no such operator. */
const hu_ball_row *hu_formula_balls_row(const char *name);
#endif
