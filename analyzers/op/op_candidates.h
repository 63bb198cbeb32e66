/* SPDX-License-Identifier: Apache-2.0
   The summation models that op --sum all tries. */
#ifndef HU_ANALYZERS_OP_CANDIDATES_H
#define HU_ANALYZERS_OP_CANDIDATES_H

#include "analyzers/op/op_run.h"

/* Returns every model, *n of them, that these operands can have: those without a length, those of each length, and all
   variants of units, promotion after some lengths included. The caller frees it. */
hu_sum *hu_op_candidates(const hu_op_run *r, size_t *n);
/* The same of products of operands in formats a and b, whose sums have at most LONGEST terms; acc is the accumulator
   that units are asked with. */
hu_sum *hu_op_candidates_of(hu_format_id a, hu_format_id b, hu_format_id acc, size_t longest, size_t *n);
#endif
