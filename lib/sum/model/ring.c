/* SPDX-License-Identifier: Apache-2.0
   ring:N: an all-reduce over N ranks, each of which adds its own sum to what it receives. */
#include "lib/sum/collective.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(ring)
{
	hu_ranks c = hu_ranks_of(a, b, n, s, hu_outer_format(s), draw, count);

	return n ? hu_ranks_ring(&c, 0, c.ranks) : 0;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_ranks
nodes(hu_sum s, size_t ranks)
{
	(void)s;
	return (hu_sum_ranks){ ranks, 0 };
}

const hu_sum_model hu_sum_model_ring = {
	.words = "an all-reduce over N ranks by a ring: each rank adds its own sum to what it receives, in order",
	.run = hu_sum_run_ring,
	.bound = hu_bound_ranks,
	.roundings = hu_roundings_ranks,
	.order = hu_order_ranks,
	.ranks = nodes,
};
#endif
