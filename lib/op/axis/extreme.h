/* SPDX-License-Identifier: Apache-2.0
   The families of operators that look for the largest or smallest element along axes: its value, its place, and the
   gradient of its value. The first of equal elements wins, and the first NaN beats every number. */
#ifndef HU_OP_EXTREME_H
#define HU_OP_EXTREME_H

#include "lib/op/axis/axes.h"

/* What a row supplies: whether it looks for the smallest element, and whether the result is the element's place in its
   group, a whole number from 0. */
typedef struct hu_extreme_own { int smallest, place; } hu_extreme_own;

/* y of x. Exact. */
extern const hu_columns hu_family_extreme;
/* dx of x, dy: the element that won gets its group's gradient, the others 0. Exact. */
extern const hu_columns hu_family_extreme_dx;

/* The place in its group of the element that wins. */
size_t hu_extreme_of(const hu_extreme_own *own, const hu_tensor *x, const hu_groups *g, size_t group);
/* How far the certified element i may lie beyond the certified element w, which won: a positive number if i may be the
   one that wins. */
double hu_extreme_beyond(
	const hu_extreme_own *own, hu_tensor *const *in, const struct hu_sink *sink, size_t i, size_t w);

/* Columns of both families. enclose hands over what `one` says of each listed element of output 0, which is number i
   of it; cost counts one comparison for each element of the operand. */
typedef hu_dd hu_extreme_value(
	const hu_call *c, hu_tensor *const *in, const struct hu_sink *sink, const hu_groups *g, size_t i);
hu_status hu_extreme_enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	struct hu_sink *sink, hu_extreme_value *one);
void hu_extreme_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k);
#endif
