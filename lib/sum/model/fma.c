/* SPDX-License-Identifier: Apache-2.0
   fma: fused multiply-adds one after another, as in every chain of a processor's or GPU's scalar units. */
#include "lib/sum/model/run.h"

HU_SUM_RUN(fma)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0;

	for (size_t k = 0; k < n; k++)
		acc = hu_model_fma(acc, a[k], b[k], f, s.mode, draw, k, count);
	return acc;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/prefixes.h"

/* RNE: Jeannerod and Rump 2013; their induction also carries the rounding of a subnormal result if Σ|ab| is increased
   by h / u. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	hu_sum_bound x = hu_bound_met(n, u, n);

	(void)outer_u;
	return s.mode == HU_RNE ? (hu_sum_bound){ n * u, n, 1 + n * u, 0 } : x;
}

/* One of the first fma, and n - 1 additions. */
static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, n);
}

/* Its vector kernels keep several rows in registers (lib/sum/vector/panel.h) and are chosen before those of lanes. */
const hu_sum_model hu_sum_model_fma = {
	.words = "each product is added with one rounding (a fused multiply-add), in order: acc = fl(acc + a*b)",
	.run = hu_sum_run_fma,
	.prefixes = hu_prefixes_fused,
	.bound = bound,
	.roundings = roundings,
	.order = hu_order_chain,
	.draw = HU_DRAWN_FUSED,
	.from_start = 1,
};
#endif
