/* SPDX-License-Identifier: Apache-2.0
   kahan: what an addition lost is given to the next one. */
#include "lib/sum/compensated.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(kahan)
{
	return hu_model_kahan(a, b, n, hu_format_of(s.acc), s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

/* The bound of Kahan's sum of the products, which are rounded first. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	hu_sum_bound x = hu_bound_kahan(u, n);

	(void)s;
	(void)outer_u;
	x.absolute = n * (1 + x.relative);
	x.peak *= 1 + u;
	x.relative = u + (1 + u) * x.relative;
	return x;
}

/* The compensation cannot restore what a mask of `tree` absorbs, since the other mask absorbs it again: the order is
   seen. */
const hu_sum_model hu_sum_model_kahan = {
	.words = "products are rounded; what an addition lost is given to the next one (Kahan's compensated sum)",
	.run = hu_sum_run_kahan,
	.bound = bound,
	.roundings = hu_roundings_compensated,
	.order = hu_order_chain,
	.lanes = HU_LANES_KAHAN,
	.from_start = 1,
	.compensated = 1,
};
#endif
