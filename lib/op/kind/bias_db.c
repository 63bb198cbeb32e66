/* SPDX-License-Identifier: Apache-2.0
   bias_db: db = the sum of dy over the rows, one for each channel. */
#include "lib/op/reduce/reduce_family.h"

static hu_status
shape(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d)
{
	size_t channels = hu_last(x);

	(void)c;
	*y = hu_shape1(channels);
	*d = (hu_reduce_dims){ 1, channels ? hu_count(x) / channels : 0, channels };
	return HU_OK;
}

const hu_op hu_op_bias_db = {
	.name = "bias_db", .summary = "gradient of a bias: sums over the rows", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.family = &hu_family_reduce, .reduce = &(hu_reduce_own){ .shape = shape },
};
