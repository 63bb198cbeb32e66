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
#include "lib/sum/tc/sum.h"

/* For normal operands, where no product's exponent exceeds its magnitude; hu_sum_tc_bound has a bound for all. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	hu_tc t = hu_tc_of_sum(s);
	double halves = t.kind == HU_TC_HALVES ? 2 : 1, e = INFINITY;

	(void)u;
	if (t.kind >= 0) {
		double length = s.n && s.n < n ? s.n : n;
		e = halves * ((t.l + 1) * ldexp(1, -t.f) + (s.acc == HU_FP16 ? 0x1p-11 : ldexp(1, -t.keep))) +
		    (halves - 1) * hu_unit(hu_format_of(s.acc));
		e = hu_bound_growth(e, ceil(length / (halves * t.l)));
		if (s.n)
			e += (1 + e) * hu_bound_growth(outer_u, ceil(n / length));
	}
	return (hu_sum_bound){ e, 0, 1 + e, 0 };
}

/* The error of chopping the operands to the unit's input formats, plus the error of the chopped operands' sum. */
static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	hu_tc t = hu_tc_of(s.arch, s.in, s.path);
	hu_format fa = hu_tc_inner(t, hu_format_of(s.in)), fb = hu_tc_inner(t, hu_format_of(s.in2));
	hu_sum_bound x = { 0, 0, 0, INFINITY };
	double moved = 0, mag = fabs(c), up = 1 + ((double)n + 3) * 0x1p-52;
	int most = HU_TC_TINY;

	for (size_t i = 0; i < n; i++) {
		int32_t am, ae, bm, be;
		if (!hu_isfinite(a[i]) || !hu_isfinite(b[i])) {
			x.absolute = INFINITY;
			return x;
		}
		hu_tc_split(a[i], fa, &am, &ae);
		hu_tc_split(b[i], fb, &bm, &be);
		most = am && bm && ae + be > most ? ae + be : most;
		double p = am && bm ? ldexp((double)am * bm, ae + be - fa.p - fb.p + 2) : 0;
		mag += fabs(p);
		moved += fabs(fma(a[i], b[i], -p)); /* fp32 operands are cut to tf32 */
	}
	x.absolute = hu_sum_tc_bound(s, n, part, most, mag * up) + moved * up;
	return x;
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
	hu_order *o = NULL;

	for (size_t k = 0, m; k < n; k += m) {
		m = s.n && (size_t)s.n < n - k ? (size_t)s.n : n - k;
		o = hu_order_node(o, hu_order_moved(t.kind == HU_TC_BLOCK    ? hu_order_blocks(m, (size_t)t.l)
						    : t.kind == HU_TC_HALVES ? hu_order_half_blocks(m, (size_t)t.l)
									     : hu_order_ascending(m),
					     k));
	}
	return o;
}

const hu_sum_model hu_sum_model_tc = {
	.words = "what a GPU's tensor core does: tc:ARCH, with the operands' format in= and the accumulator's out=; "
		 "promote=N adds its sum to a wider accumulator every N products",
	.run = hu_sum_run_tc,
	.bound = bound,
	.roundings = roundings,
	.order = order,
	.draw = HU_DRAWN_UNIT,
	.bound_of = bound_of,
	.from = hu_model_tc,
	.unit = &(const hu_sum_unit){ .in = HU_NO_FORMAT,
		.acc = HU_NO_FORMAT,
		.key = hu_sum_tc_key,
		.check = hu_sum_tc_check,
		.resolve = hu_sum_tc_resolve,
		.print = hu_sum_tc_print,
		.variants = hu_sum_tc_variants },
};
#endif
