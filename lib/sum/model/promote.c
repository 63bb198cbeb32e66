/* SPDX-License-Identifier: Apache-2.0
   promote:N: fma for N terms, whose sum is then added to a wider accumulator. */
#include "lib/sum/model/run.h"
#include "lib/sum/slices.h"

HU_SUM_RUN(promote)
{
	return hu_model_slices(a, b, n, (size_t)s.n, 0, hu_format_of(s.acc), hu_outer_format(s), s.mode, draw, count);
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

/* fma inside, then (1+u)^m - 1 in the wider format over m sums. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double length = s.n < n ? s.n : n, e = hu_bound_slice(length, u, s.mode == HU_RNE),
	       d = hu_bound_growth(outer_u, length > 0 ? ceil(n / length) : 0);
	hu_sum_bound x = { e + (1 + e) * d, n * (1 + e) * (1 + d), 0, 0 };

	x.peak = 1 + x.relative;
	return x;
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	double length = s.n < n ? s.n : n;

	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, length);
	hu_roundings_add(r, hu_outer_format(s), s.mode, s.bits, length > 0 ? ceil(n / length) : 0);
}

const hu_sum_model hu_sum_model_promote = {
	.words = "as fma for N terms, whose sum is then added to a wider accumulator (outer=, else fp32)",
	.run = hu_sum_run_promote,
	.bound = bound,
	.roundings = roundings,
	.order = hu_order_sliced,
	.lengths = lengths,
	.lanes = HU_LANES_SLICES,
	.draw = HU_DRAWN_SLICES,
};
#endif
