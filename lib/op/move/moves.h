/* SPDX-License-Identifier: Apache-2.0
   The family of operators whose output element i is an input element f(i) or a constant: nothing is computed, and what
   is stored is that number, rounded once where the output's format is narrower. A row gives f. */
#ifndef HU_OP_MOVES_H
#define HU_OP_MOVES_H

#include "lib/op/move/index_map.h"
#include "lib/op/op.h"
#include "lib/op/sink.h"

/* Element AT of operand OPERAND, or, where that is -1, the constant FILL. The RUN elements from this one on, of its
   row, are the same constant, or from the same operand, each STEP behind the one before; 0: not known. */
typedef struct hu_moved {
	int operand;
	size_t at;
	double fill;
	size_t run;
	ptrdiff_t step;
} hu_moved;

typedef struct hu_moves_own {
	/* Fills X from attributes and shapes; HU_EINVAL where they do not fit. OUT: the shape that is made. */
	hu_status (*describe)(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out);
	/* Refuses operands' values, in the map X; NULL: there is nothing to refuse. */
	hu_status (*check)(const hu_moves *x);
	hu_moved (*from)(const hu_moves *x, size_t i);
	/* The length of a row: within one, elements between two that are from one operand are from it too, and in equal
	   steps. 0, or no function: that is not so. The first SOURCES operands are what is moved; 0: all. */
	size_t (*row)(const hu_moves *x);
	int sources;
	/* 1: where the first and last element of a row are different elements of operand 0, elements of different
	   columns, of whatever rows, are different ones too. */
	int apart;
	/* Of gradients, which set nothing else: the operator whose operand 0 the gradient is for. */
	const hu_op *forward;
} hu_moves_own;

/* Moves everything to OUT in rows, if the call has such and none of its operands another format; 0: it did not. */
int hu_moves_copy(const hu_moves *x, hu_tensor *out);
/* The same for certified values, whose n leading parts, trailing parts and errors go to hi, lo and err; low has one of
   each operand, and the operands are in doubles. */
int hu_moves_copy_parts(const hu_moves *x, const hu_low *low, size_t n, double *hi, double *lo, double *err);

/* Sums the gradient dy of the forward call that X describes to OUT, as call c of the gradient says, if the call has
   rows and computes in float32; 0: it did not. */
int hu_moves_sum(const hu_moves *x, const hu_call *c, const hu_tensor *dy, hu_tensor *out, const hu_env *env);

extern const hu_columns hu_family_moves;

/* The family of their gradients for operand 0: the operands are dy, the operands of the forward call from the second
   on, and x, of which only the shape is read. Element i of dx is the sum of the dy[o] whose o moved element i, from +0
   in ascending order of o, in the compute format: exact where each element is moved once. */
extern const hu_columns hu_family_moves_dx;

/* Describes a call on these operands, and checks their values. */
hu_status hu_moves_of(hu_moves *x, const hu_call *c, hu_tensor *const *in);
#endif
