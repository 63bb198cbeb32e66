/* SPDX-License-Identifier: Apache-2.0
   The formulas of formulas.def by number, and what a call of a pointwise operator computes from which elements: all
   that a back end needs to compute it in a loop of its own. C and C++. */
#ifndef HU_OP_FORMULAS_H
#define HU_OP_FORMULAS_H

#include "lib/op/call.h"

typedef enum hu_formula {
#define FORMULA1(NAME, Y) HU_FORMULA_##NAME,
#define FORMULA2(NAME, Y) HU_FORMULA_##NAME,
#define FORMULA3(NAME, Y) HU_FORMULA_##NAME,
#include "lib/op/element/formulas.def"
	HU_FORMULAS
} hu_formula;

/* Which element of an operand belongs to element i of the output. */
typedef enum hu_how {
	HU_EACH,      /* i */
	HU_CHANNEL,   /* i % channels */
	HU_ROW,       /* i / channels */
	HU_IMAGE,     /* i / image * channels + i % channels */
	HU_ONE,       /* 0 */
	HU_INDEX      /* there is no tensor: the number i % channels itself */
} hu_how;

/* A call's formula, how it reads each of its operands, and its constants. channels is the last dimension of operand
   0. */
enum { HU_POINTWISE_IN = 3, HU_POINTWISE_CONSTANTS = 2 };
typedef struct hu_pointwise_call {
	hu_formula formula;
	int nin, nk;
	hu_how how[HU_POINTWISE_IN];
	double k[HU_POINTWISE_CONSTANTS];
} hu_pointwise_call;

/* Which element of an operand of that rank is read, where the operator's row says HOW: an operand of HU_EACH may be one
   number, of rank 0, for all elements. */
static inline hu_how
hu_pointwise_how(hu_how how, int rank)
{
	return how == HU_EACH && rank == 0 ? HU_ONE : how;
}

/* Returns 1 if the operator is nothing but a formula; hu_pointwise_describe then describes its call c in *p, by the
   operator's row (hu_pointwise_how). */
int hu_pointwise_is_formula(const hu_op *op);
int hu_pointwise_describe(hu_pointwise_call *p, const hu_call *c);
#endif
