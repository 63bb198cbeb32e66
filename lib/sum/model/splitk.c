/* SPDX-License-Identifier: Apache-2.0
   splitk:N: N equal slices, summed as by fma; the slices' sums are added in order. */
#include "lib/sum/model/run.h"
#include "lib/sum/slices.h"

HU_SUM_RUN(splitk)
{
	hu_format f = hu_format_of(s.acc);

	return hu_model_slices(a, b, n, (n + (size_t)s.n - 1) / (size_t)s.n + !n, 0, f, f, s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_slices
lengths(hu_sum s, size_t n)
{
	return (hu_sum_slices){ (n + (size_t)s.n - 1) / (size_t)s.n + !n, 0 };
}

const hu_sum_model hu_sum_model_splitk = {
	.words = "the terms are cut into N equal slices, summed as by fma; the slices' sums are added in order",
	.run = hu_sum_run_splitk,
	.bound = hu_bound_sliced,
	.roundings = hu_roundings_sliced,
	.order = hu_order_sliced,
	.lengths = lengths,
	.lanes = HU_LANES_SLICES,
	.draw = HU_DRAWN_SLICES,
};
#endif
