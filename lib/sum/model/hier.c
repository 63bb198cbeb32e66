/* SPDX-License-Identifier: Apache-2.0
   hier:N:G: an all-reduce over N ranks in nodes of G. */
#include "lib/sum/collective.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(hier)
{
	return hu_model_ranks(a, b, n, s, (size_t)s.node, 0, hu_outer_format(s), draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_ranks
nodes(hu_sum s, size_t ranks)
{
	(void)ranks;
	return (hu_sum_ranks){ (size_t)s.node, 0 };
}

const hu_sum_model hu_sum_model_hier = {
	.words = "an all-reduce over N ranks in nodes of G: a ring within each node, recursive doubling over nodes",
	.run = hu_sum_run_hier,
	.bound = hu_bound_ranks,
	.roundings = hu_roundings_ranks,
	.order = hu_order_ranks,
	.ranks = nodes,
};
#endif
