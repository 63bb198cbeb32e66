/* SPDX-License-Identifier: Apache-2.0
   sequential: each product is rounded, then added and rounded again, one after another. */
#include "lib/sum/model/run.h"

HU_SUM_RUN(sequential)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0;

	for (size_t k = 0; k < n; k++)
		acc = hu_acc_term(
			acc, hu_model_product(a[k], b[k], f, s.mode, draw, k), f, s.mode, draw, k, HU_DRAW_SUM, count);
	return acc;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/prefixes.h"

/* RNE: Jeannerod and Rump 2013, with products that are rounded first. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)outer_u;
	return s.mode == HU_RNE ? (hu_sum_bound){ n * u, n * (1 + n * u), 1 + n * u, 0 } : hu_bound_met(n, u, n + 1);
}

/* One of the product, and n - 1 additions. */
static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, n);
}

const hu_sum_model hu_sum_model_sequential = {
	.words = "each product is rounded, then added and rounded again, in order",
	.run = hu_sum_run_sequential,
	.prefixes = hu_prefixes_rounded,
	.bound = bound,
	.roundings = roundings,
	.order = hu_order_chain,
	.lanes = HU_LANES_SEQUENTIAL,
	.draw = HU_DRAWN_ROUNDED,
	.from_start = 1,
};
#endif
