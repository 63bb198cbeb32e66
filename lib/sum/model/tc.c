/* SPDX-License-Identifier: Apache-2.0
   tc:ARCH: what a GPU's tensor core does. Its arithmetic is lib/sum/tc/unit.h, its parameters lib/sum/tc/tc.def. */
#include "lib/sum/model/run.h"
#include "lib/sum/tc/unit.h"

HU_SUM_RUN(tc)
{
	(void)draw;
	return hu_model_tc(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

/* For normal operands, where no product's exponent exceeds its magnitude; hu_sum_tc_bound has a bound for all. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	hu_tc t = hu_tc_of_sum(s);
	double halves = t.kind == HU_TC_HALVES ? 2 : 1, e = INFINITY;

	(void)u;
	(void)outer_u;
	if (t.kind >= 0) {
		e = halves * ((t.l + 1) * ldexp(1, -t.f) + (s.acc == HU_FP16 ? 0x1p-11 : ldexp(1, -t.keep))) +
		    (halves - 1) * hu_unit(hu_format_of(s.acc));
		e = hu_bound_growth(e, ceil(n / (halves * t.l)));
	}
	return (hu_sum_bound){ e, 0, 1 + e, 0 };
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "tensor cores chop, so that errors have a sign of their own";
}

static hu_order *
order(hu_sum s, size_t n)
{
	hu_tc t = hu_tc_of(s.arch, s.in, s.path);

	if (t.kind == HU_TC_BLOCK)
		return hu_order_blocks(n, (size_t)t.l);
	return t.kind == HU_TC_HALVES ? hu_order_half_blocks(n, (size_t)t.l) : hu_order_ascending(n);
}

const hu_sum_model hu_sum_model_tc = {
	.words = "what a GPU's tensor core does: tc:ARCH, with the operands' format in= and the accumulator's out=",
	.run = hu_sum_run_tc,
	.bound = bound,
	.roundings = roundings,
	.order = order,
	.draw = HU_DRAWN_UNIT,
};
#endif
