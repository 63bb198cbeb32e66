/* SPDX-License-Identifier: Apache-2.0
   argmax: y = the place of the largest element along some axes, counted from 0 in row-major order; the first of equal
   elements, or the first NaN. The class keeps the result in float32, where places below 2^24 are exact. */
#include "lib/op/axis/extreme.h"

const hu_op hu_op_argmax = {
	.name = "argmax", .summary = "place of the largest element along axes", .min_in = 1, .max_in = 1, .nout = 1,
	.same = "=",
	.attrs = HU_AXES_ATTRS, .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.family = &hu_family_extreme, .extreme = &(hu_extreme_own){ .smallest = 0, .place = 1 },
};
