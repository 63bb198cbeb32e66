/* SPDX-License-Identifier: Apache-2.0
   bfdot: what Arm's BFDOT does, and BFMMLA, which is two of them, where FPCR.EBF is 0: two products are added, and
   their sum is added to the accumulator. Products and sums are rounded to odd, and what is subnormal before its
   rounding is a zero (Arm Architecture Reference Manual, functions BFDotAdd, BFMul, BFAdd and BFRound). No processor
   has been asked. */
#include "lib/sum/flush.h"
#include "lib/sum/model/run.h"

/* x, exact or rounded to odd, as BFRound has it: a result of 2^128 and more is infinite. */
HU_HD double
hu_bfdot_round(double x)
{
	if (!hu_isfinite(x))
		return x;
	if (fabs(x) >= 0x1p128)
		return hu_inf(x < 0);
	return fabs(x) < 0x1p-126 ? hu_flushed(x) : hu_round(x, hu_format_of(HU_FP32), HU_RO, 0, 0);
}

HU_HD_CALL double
hu_bfdot_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	double acc = hu_flushed(c);

	(void)s;
	for (size_t k = 0; k < n; k += 2) {
		double p = hu_bfdot_round(hu_flushed(a[k]) * hu_flushed(b[k])),
		       q = k + 1 < n ? hu_bfdot_round(hu_flushed(a[k + 1]) * hu_flushed(b[k + 1])) : 0,
		       pair = hu_bfdot_round(hu_add_odd(p, q)), next = hu_bfdot_round(hu_add_odd(acc, pair));
		hu_count_node(count, p, q, pair, k);
		if (pair != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(pair), acc != 0 && next == acc, k);
		acc = next;
	}
	return acc;
}

HU_SUM_RUN(bfdot)
{
	(void)draw;
	return hu_bfdot_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

/* A rounding to odd is off by less than an ulp, which is twice u. A term meets that of its product (exact unless it is
   flushed), of its pair, and those of the pairs' sums. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double pairs = ceil(n / 2);

	(void)s;
	(void)outer_u;
	return hu_bound_flushed(n, 2 * u, 1 + pairs, n + 2 * pairs);
}

const hu_sum_model hu_sum_model_bfdot = {
	.words = "bf16 by Arm's BFDOT and BFMMLA: pairs of products, rounded to odd in fp32, then added likewise; "
		 "subnormal numbers are zeros. By the manual, not held to silicon",
	.run = hu_sum_run_bfdot,
	.bound = bound,
	.bound_of = hu_bound_flushed_of,
	.from = hu_bfdot_from,
	.roundings = hu_roundings_flushed,
	.compensated = 1, /* rounding to odd leaves a trace of what is absorbed: no order is to be seen */
	.unit = HU_SUM_UNIT(HU_BF16, HU_FP32),
};
#endif
