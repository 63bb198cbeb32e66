/* SPDX-License-Identifier: Apache-2.0
   Which elements a call reduces together and what becomes of them, from its attributes and the operand's shape: all
   that a back end needs to compute reductions in loops of its own. C and C++. */
#ifndef HU_OP_DIMS_H
#define HU_OP_DIMS_H

#include "lib/op/call.h"

/* How many elements of the operand lie outside, along and inside each group: element (o, m, i) of outer x middle x
   inner belongs to group (o, i). */
typedef struct hu_reduce_dims { size_t outer, middle, inner; } hu_reduce_dims;

/* Sets the reduced shape *y of x and the groups' dimensions by the attributes axis, axes and keep (lib/op/axis/axes.h).
   HU_EINVAL if x has no such axes or no elements. */
hu_status hu_axes_of(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d);
/* The same for operators whose output has x's shape, along the one axis that the attribute axis names; by default it is
   the last one. */
hu_status hu_axis_of(const hu_call *c, hu_shape x, hu_reduce_dims *d);

typedef enum hu_term { HU_TERM_ELEMENT, HU_TERM_SQUARE, HU_TERMS } hu_term;   /* x or x^2 */
typedef enum hu_finish { HU_FINISH_NONE, HU_FINISH_MEAN, HU_FINISH_ROOT, HU_FINISHES } hu_finish;

/* A call of the family of reductions (reduce_family.h) or of that of extremes (lib/op/axis/extreme.h) on an operand of
   shape x. */
typedef struct hu_reduce_call { hu_reduce_dims d; hu_term term; hu_finish finish; } hu_reduce_call;
typedef struct hu_extreme_call { hu_reduce_dims d; int smallest, place; } hu_extreme_call;
hu_status hu_reduce_describe(hu_reduce_call *r, const hu_call *c, hu_shape x);
hu_status hu_extreme_describe(hu_extreme_call *e, const hu_call *c, hu_shape x);
#endif
