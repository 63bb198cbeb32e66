/* SPDX-License-Identifier: Apache-2.0
   Emulates all_reduce: element by element as lib/sum/table/model.h has it, and faster, a block of elements at a time,
   where the sums are those of an all-reduce in fp32. */
#ifndef HU_OP_OVER_RANKS_H
#define HU_OP_OVER_RANKS_H

#include "lib/op/contract/contract.h"
#include "lib/op/reduce/reduce.h"
#include "lib/sum/collective.h"

/* Computes every element of out[0] from the operands in, which have one shape and one format: HU_EINVAL where they have
   several formats. Element i draws at index i times the number of operands. */
hu_status hu_over_ranks_emulate(
	const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env);

/* Counts the additions of n elements by the plain version of the model; `out` is 0. */
hu_status hu_over_ranks_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count);

/* The format that ranks send. */
hu_format_id hu_over_ranks_wire(const hu_call *c);
/* Returns what rank r sends of element i before it receives anything: its own term, rounded to the accumulator's format
   and to the wire's. */
double hu_over_ranks_sent(const hu_call *c, hu_tensor *const *in, int r, size_t i, const hu_env *env);
#endif
