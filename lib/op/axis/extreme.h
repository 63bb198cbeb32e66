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
#endif
