/* SPDX-License-Identifier: Apache-2.0
   chunk:N: fma within chunks of N terms, whose sums are added in order. */
#include "lib/sum/model/run.h"
#include "lib/sum/slices.h"

HU_SUM_RUN(chunk)
{
	hu_format f = hu_format_of(s.acc);

	return hu_model_slices(a, b, n, (size_t)s.n, 0, f, f, s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/prefixes.h"

static hu_sum_slices
lengths(hu_sum s, size_t n)
{
	(void)n;
	return (hu_sum_slices){ (size_t)s.n, 0 };
}

const hu_sum_model hu_sum_model_chunk = {
	.words = "as fma within chunks of N terms, whose sums are then added in order",
	.run = hu_sum_run_chunk,
	.prefixes = hu_prefixes_blocks,
	.bound = hu_bound_sliced,
	.roundings = hu_roundings_sliced,
	.order = hu_order_sliced,
	.lengths = lengths,
	.lanes = HU_LANES_SLICES,
	.draw = HU_DRAWN_SLICES,
};
#endif
