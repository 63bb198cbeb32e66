/* SPDX-License-Identifier: Apache-2.0
   halving:N: an all-reduce over N ranks by recursive halving. */
#include "lib/sum/collective.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(halving)
{
	return hu_model_ranks(a, b, n, s, 1, 1, hu_outer_format(s), draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_ranks
nodes(hu_sum s, size_t ranks)
{
	(void)s;
	(void)ranks;
	return (hu_sum_ranks){ 1, 1 };
}

const hu_sum_model hu_sum_model_halving = {
	.words = "an all-reduce over N ranks by recursive halving: ranks half of all apart are added first",
	.run = hu_sum_run_halving,
	.bound = hu_bound_ranks,
	.roundings = hu_roundings_ranks,
	.order = hu_order_ranks,
	.ranks = nodes,
};
#endif
