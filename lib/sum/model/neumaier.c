/* SPDX-License-Identifier: Apache-2.0
   neumaier: what the additions lost is summed beside the sum and added at the end. */
#include "lib/sum/compensated.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(neumaier)
{
	return hu_model_neumaier(a, b, n, hu_format_of(s.acc), s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

/* The errors of additions are exact under RNE in formats of three bits or more. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	hu_sum_bound x = hu_bound_compensated(u, n, s.mode == HU_RNE && u <= 0.125, 0);

	(void)outer_u;
	x.relative = u + (1 + u) * x.relative;
	x.peak *= 1 + u;
	x.absolute *= 1 + x.relative;
	return x;
}

const hu_sum_model hu_sum_model_neumaier = {
	.words = "products are rounded; what the additions lost is summed beside them and added at the end (Neumaier)",
	.run = hu_sum_run_neumaier,
	.bound = bound,
	.roundings = hu_roundings_compensated,
	.lanes = HU_LANES_NEUMAIER,
	.from_start = 1,
	.compensated = 1,
};
#endif
