/* SPDX-License-Identifier: Apache-2.0
   fabsum:N: fma within blocks of N terms, whose sums Kahan's sum adds (Blanchard, Higham and Mary). */
#include "lib/sum/compensated.h"
#include "lib/sum/model/run.h"

HU_SUM_RUN(fabsum)
{
	return hu_model_fabsum(a, b, n, (size_t)s.n, hu_format_of(s.acc), s.mode, draw, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

#include <math.h>

static hu_sum_slices
lengths(hu_sum s, size_t n)
{
	(void)n;
	return (hu_sum_slices){ (size_t)s.n, 0 };
}

/* fma inside, kahan over the block sums. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double length = s.n < n ? s.n : n, e = hu_bound_slice(length, u, s.mode == HU_RNE);
	hu_sum_bound x = hu_bound_kahan(u, length > 0 ? ceil(n / length) : 0);

	(void)outer_u;
	x.absolute = n * (1 + x.relative) * (1 + e);
	x.peak *= 1 + e;
	x.relative = e + (1 + e) * x.relative;
	return x;
}

/* The blocks' sums have a proven bound in place of random roundings: kahan's, which includes a rounding of products. */
static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	double length = s.n < n ? s.n : n, blocks = length > 0 ? ceil(n / length) : 0;

	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, length);
	s.id = HU_SUM_KAHAN;
	r->certain = hu_sum_apriori(s, (size_t)blocks, 0).relative;
}

const hu_sum_model hu_sum_model_fabsum = {
	.words = "as fma within blocks of N terms, whose sums Kahan's sum adds (Blanchard, Higham and Mary)",
	.run = hu_sum_run_fabsum,
	.bound = bound,
	.roundings = roundings,
	.order = hu_order_sliced,
	.lengths = lengths,
	.lanes = HU_LANES_FABSUM,
	.compensated = 1,
};
#endif
