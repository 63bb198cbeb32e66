/* SPDX-License-Identifier: Apache-2.0
   avx512bf16: what x86's vdpbf16ps does, one pair of products an instruction. Of each pair the product of the odd
   elements is added first; each addition is fused (Intel 64 manual, volume 2, VDPBF16PS). */
#include "lib/sum/flush.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_avx512bf16_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	double acc = hu_flushed(c);

	(void)s;
	for (size_t k = 0; k < n; k += 2) {
		/* The tail of an odd number of products is filled with +0 in both operands. */
		acc = k + 1 < n ? hu_flush_fma(acc, a[k + 1], b[k + 1], k + 1, count)
				: hu_flush_fma(acc, 0, 0, k + 1, count);
		acc = hu_flush_fma(acc, a[k], b[k], k, count);
	}
	return acc;
}

HU_SUM_RUN(avx512bf16)
{
	(void)draw;
	return hu_avx512bf16_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)s;
	(void)outer_u;
	return hu_bound_flushed(n, u, n, n);
}

static hu_order *
order(hu_sum s, size_t n)
{
	hu_order *o = NULL;

	(void)s;
	for (size_t k = 0; k < n; k += 2) {
		if (k + 1 < n)
			o = hu_order_node(o, hu_order_leaf(k + 1));
		o = hu_order_node(o, hu_order_leaf(k));
	}
	return o;
}

const hu_sum_model hu_sum_model_avx512bf16 = {
	.words = "bf16 by x86's vdpbf16ps: fma in fp32, of each pair the odd element first; subnormal operands and "
		 "results are zeros. Held to the instruction",
	.run = hu_sum_run_avx512bf16,
	.bound = bound,
	.bound_of = hu_bound_flushed_of,
	.from = hu_avx512bf16_from,
	.roundings = hu_roundings_flushed,
	.order = order,
	.unit = HU_SUM_UNIT(HU_BF16, HU_FP32),
};
#endif
