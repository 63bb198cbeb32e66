/* SPDX-License-Identifier: Apache-2.0
   The small call by which the order of an operator's sums can be revealed: n terms, every one of which enters each sum
   exactly once. Several outputs sum the same terms, because vector lanes and the rest of a row must all sum alike. */
#ifndef HU_OP_SUM_CALL_H
#define HU_OP_SUM_CALL_H

#include "lib/op/op.h"

/* How often an operand that has columns repeats a term. */
enum { HU_SUM_COLUMNS = 19 };

/* Outputs at … at + equal - 1 sum the terms. Copy c of term k is element place(s, j, k, c) of input j, and there are
   copies[j] of it. With two inputs a term is a product of their elements, with one it is the element. An attribute's
   key is NULL where there are no more. */
struct hu_sum_call {
	size_t n;
	int nin, by_model;
	hu_shape in[2], out;
	struct { const char *key; double value; } attr[2];
	size_t copies[2], at, equal;
	size_t (*place)(const hu_sum_call *s, int j, size_t k, size_t c);
};

/* Term k in row k and every column of the last input, and in every row of the first of two. */
size_t hu_sum_call_place(const hu_sum_call *s, int j, size_t k, size_t c);
/* The edge of a convolution's kernel for n terms: 3 if they can be distributed over 3 x 3 taps, otherwise 1. */
size_t hu_sum_call_edge(size_t n);
#endif
