/* SPDX-License-Identifier: Apache-2.0
   The family of reductions: y = finish(Σ term) over groups of one operand's elements, by the fixed tree in the compute
   format (lib/sum/tree.h). A row says which groups, which term and which finish; every column but cost is here. stats.h
   has the operators that need more than one statistic. */
#ifndef HU_OP_REDUCE_FAMILY_H
#define HU_OP_REDUCE_FAMILY_H

#include "lib/op/reduce/dims.h"
#include "lib/op/reduce/stats.h"

/* What a row supplies. shape checks the operand and sets the output's shape and the groups' dimensions. */
typedef struct hu_reduce_own {
	hu_status (*shape)(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d);
	hu_term term;
	hu_finish finish;
} hu_reduce_own;
extern const hu_columns hu_family_reduce;
#endif
