/* SPDX-License-Identifier: Apache-2.0
   amxbf16: what Intel's tdpbf16ps does with tiles of 32 products. Within a tile the products of even elements are added
   by fma, and so are those of odd ones; both sums are added, and their sum is added to the accumulator (Intel 64
   manual, volume 2, TDPBF16PS). No processor with AMX has been asked. */
#include "lib/sum/flush.h"
#include "lib/sum/model/run.h"

HU_HD_CALL double
hu_amxbf16_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	enum { TILE = 32 };
	double acc = hu_flushed(c);

	(void)s;
	for (size_t k = 0; k < n; k += TILE) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		double sum[2] = { 0, 0 };
		for (size_t i = k; i < n && i < k + TILE; i++)
			sum[i % 2] = hu_flush_fma(sum[i % 2], a[i], b[i], i, count ? &inner : 0);
		double pair = hu_flush_nearest(hu_add_odd(sum[0], sum[1])),
		       next = hu_flush_nearest(hu_add_odd(acc, pair));
		hu_count_node(count ? &inner : 0, sum[0], sum[1], pair, k);
		if (pair != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(pair), acc != 0 && next == acc, k);
		hu_count_slice(count, &inner);
		acc = next;
	}
	return acc;
}

HU_SUM_RUN(amxbf16)
{
	(void)draw;
	return hu_amxbf16_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

/* A product meets up to 16 additions of its chain, that of both chains, and those of all tiles. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double tiles = ceil(n / 32), chain = n < 32 ? ceil(n / 2) : 16;

	(void)s;
	(void)outer_u;
	return hu_bound_flushed(n, u, chain + 1 + tiles, n + 2 * tiles);
}

/* Returns a tile's terms from k on, step 2, as a chain. */
static hu_order *
chain(size_t k, size_t end)
{
	hu_order *o = NULL;

	for (; k < end; k += 2)
		o = hu_order_node(o, hu_order_leaf(k));
	return o;
}

static hu_order *
order(hu_sum s, size_t n)
{
	hu_order *o = NULL;

	(void)s;
	for (size_t k = 0; k < n; k += 32) {
		size_t end = n - k < 32 ? n : k + 32;
		o = hu_order_node(o, hu_order_node(chain(k, end), chain(k + 1, end)));
	}
	return o;
}

const hu_sum_model hu_sum_model_amxbf16 = {
	.words = "bf16 by Intel's tdpbf16ps: even and odd elements of 32 by fma in fp32, then both sums, then the "
		 "tiles; subnormal numbers are zeros. By the manual, not held to silicon",
	.run = hu_sum_run_amxbf16,
	.bound = bound,
	.bound_of = hu_bound_flushed_of,
	.from = hu_amxbf16_from,
	.roundings = hu_roundings_flushed,
	.order = order,
	.unit = HU_SUM_UNIT(HU_BF16, HU_FP32),
};
#endif
