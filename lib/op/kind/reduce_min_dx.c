/* SPDX-License-Identifier: Apache-2.0
   reduce_min_dx x, dy: the gradient of reduce_min: the first smallest element of each group gets dy, the others 0. */
#include "lib/op/axis/extreme.h"

const hu_op hu_op_reduce_min_dx = {
	.name = "reduce_min_dx", .summary = "gradient of reduce_min, from its input", .min_in = 2, .max_in = 2,
	.nout = 1, .same = "=", .attrs = HU_AXES_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_extreme_dx, .extreme = &(hu_extreme_own){ .smallest = 1 },
};
