/* SPDX-License-Identifier: Apache-2.0
   dot2: what products and additions lost is summed beside the sum and added at the end. */
#include "lib/sum/compensated.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(dot2)
{
	return hu_model_dot2(a, b, n, hu_format_of(s.acc), s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)outer_u;
	return hu_bound_compensated(u, n, s.mode == HU_RNE && u <= 0.125, 1);
}

const hu_sum_model hu_sum_model_dot2 = {
	.words = "what products and additions lost is summed beside them and added at the end (Ogita, Rump and Oishi)",
	.run = hu_sum_run_dot2,
	.bound = bound,
	.roundings = hu_roundings_compensated,
	.lanes = HU_LANES_DOT2,
	.from_start = 1,
	.compensated = 1,
};
#endif
