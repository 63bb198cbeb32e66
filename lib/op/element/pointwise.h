/* SPDX-License-Identifier: Apache-2.0
   A pointwise operator said in one line: y has operand 0's shape, and element i of it is the formula of
   element i of operand 0 and of what the other operands hold for i. Reductions and windows are elsewhere. */
#ifndef HU_OP_POINTWISE_H
#define HU_OP_POINTWISE_H

#include "lib/op/reduce/reduce.h"

/* How each operand is read; the call's number of them counts. */
typedef struct hu_pointwise { hu_how how[HU_MAP_IN]; } hu_pointwise;

/* The map of C's operands; constants are for the operator to add. */
void hu_pointwise_map(hu_map *m, const hu_pointwise *p, const hu_call *c, const hu_blocks *b, hu_tensor *const *in);
/* Operand k has operand 0's shape (HU_EACH), its last dimension's length (HU_CHANNEL) or one element (HU_ONE). */
hu_status hu_pointwise_shape(const hu_pointwise *p, const hu_call *c, const hu_shape *in, hu_shape *out);
/* The attribute approx of gelu and its gradient: none or tanh. */
int hu_approx_tanh(const hu_call *c);
hu_status hu_approx_check(const hu_call *c);

/* Columns of an operator that is one addition an element, in[0] + in[1]: the exact result; |a| + |b|. */
void hu_pair_exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);
hu_status hu_pair_magnitude(
	const hu_call *c, hu_tensor *const *in, hu_how how, const size_t *element, size_t n, double *all);

/* Rows' columns shape and cost from a hu_pointwise named `self`; FLOPS an element. */
#define HU_POINTWISE_OPERANDS(...) static const hu_pointwise self = { { __VA_ARGS__ } };
#define HU_POINTWISE_SELF(FLOPS, ...)                                                                  \
	HU_POINTWISE_OPERANDS(__VA_ARGS__)                                                             \
	static void cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)        \
	{                                                                                              \
		(void)c;                                                                               \
		(void)out;                                                                             \
		k->flops = FLOPS * (double)hu_count(in[0]);                                            \
	}

/* All columns of an operator without attributes: BLOCKS is its formula. */
#define HU_POINTWISE(BLOCKS, FLOPS, ...)                                                               \
	HU_POINTWISE_SELF(FLOPS, __VA_ARGS__)                                                          \
	static void prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)                         \
	{                                                                                              \
		hu_pointwise_map(m, &self, c, BLOCKS, in);                                             \
	}                                                                                              \
	static hu_status shape(const hu_call *c, const hu_shape *in, hu_shape *out)                    \
	{                                                                                              \
		return hu_pointwise_shape(&self, c, in, out);                                          \
	}                                                                                              \
	HU_MAP_FACES
#endif
