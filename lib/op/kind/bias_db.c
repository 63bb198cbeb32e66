/* SPDX-License-Identifier: Apache-2.0
   bias_db: db = the sum of dy over the rows, one for each channel. */
#include "lib/op/reduce/reduce_family.h"
#include "lib/op/sum_call.h"

static hu_status
shape(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d)
{
	size_t channels = hu_last(x);

	(void)c;
	*y = hu_shape1(channels);
	*d = (hu_reduce_dims){ 1, channels ? hu_count(x) / channels : 0, channels };
	return HU_OK;
}

static void
sum_call(size_t n, hu_sum_call *s)
{
	*s = (hu_sum_call){ .n = n, .nin = 1, .in = { hu_shape2(n, HU_SUM_COLUMNS) },
		.out = hu_shape1(HU_SUM_COLUMNS), .copies = { HU_SUM_COLUMNS }, .equal = HU_SUM_COLUMNS,
		.place = hu_sum_call_place };
}

const hu_op hu_op_bias_db = {
	.name = "bias_db", .summary = "gradient of a bias: sums over the rows", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = { .sum_call = sum_call },
	.family = &hu_family_reduce, .reduce = &(hu_reduce_own){ .shape = shape },
};
