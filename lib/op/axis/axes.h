/* SPDX-License-Identifier: Apache-2.0
   The axes that a reduction runs over, from a call's attributes (lib/op/reduce/dims.h), and the groups of elements that
   they make. */
#ifndef HU_OP_AXES_H
#define HU_OP_AXES_H

#include "lib/op/reduce/reduce_family.h"

/* The attributes of reductions. axis is the first axis reduced, axes (1) how many from there on; without axis all are
   reduced. keep=1 leaves an axis of one element in the place of each. */
#define HU_AXES_ATTRS "axis axes keep"

/* The groups of input 0 or 1 along its reduced axes, or along one axis, once the shapes have been checked. */
hu_groups hu_axes_groups0(const hu_call *c, hu_tensor *const *in);
hu_groups hu_axes_groups1(const hu_call *c, hu_tensor *const *in);
hu_groups hu_axis_groups(const hu_call *c, hu_tensor *const *in);

/* The group that element i belongs to, and its place in the group. */
void hu_axes_find(const hu_groups *g, size_t i, size_t *group, size_t *at);

/* The shape rules of operators whose operands and output have one shape and that run along one axis; of reductions over
   axes; and of gradients of these, whose operand x, number 0 or 1, has the output's shape and whose other operands have
   the reduced one. */
hu_status hu_axis_shape(const hu_call *c, const hu_shape *in, hu_shape *out);
hu_status hu_axes_shape(const hu_call *c, const hu_shape *in, hu_shape *out);
hu_status hu_axes_shape_dx0(const hu_call *c, const hu_shape *in, hu_shape *out);
hu_status hu_axes_shape_dx1(const hu_call *c, const hu_shape *in, hu_shape *out);

/* The references of such gradients. dx0: each element is a function, the row's slope (hu_stats_own), of x's element and
   of the numbers that operands 1 and 2, or 1 alone, have for its group. dx1: each element is the number that operand 0
   has for its group. */
hu_status hu_axes_reference_dx0(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
hu_status hu_axes_reference_dx1(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact);
#endif
