/* SPDX-License-Identifier: Apache-2.0
   pairwise: products are rounded, and sums of halves are added; the first half is the largest power of two below n. */
#include "lib/sum/model/run.h"

HU_SUM_RUN(pairwise)
{
	hu_format f = hu_format_of(s.acc);
	double level[64], x;
	size_t size[64], at;
	int top = 0;

	/* Finished subtrees are kept like the digits of a binary counter, which needs no recursion on a device. */
	for (size_t k = 0; k < n; k++) {
		x = hu_model_product(a[k], b[k], f, s.mode, draw, k);
		for (at = 1; top && size[top - 1] == at; at *= 2)
			x = hu_model_node(level[--top], x, f, s.mode, draw, k + 1 - at, count);
		level[top] = x;
		size[top++] = at;
	}
	if (!top)
		return 0;
	x = level[--top];
	for (at = n - size[top]; top; at -= size[top]) {
		top--;
		x = hu_model_node(level[top], x, f, s.mode, draw, at, count);
	}
	return x;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/prefixes.h"

static double
depth(double n)
{
	double d = 0;

	for (double reach = 1; reach < n; reach *= 2)
		d++;
	return d;
}

/* A term meets the rounding of its product and those of ceil(log2 n) additions. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)s;
	(void)outer_u;
	return hu_bound_met(n, u, depth(n) + 1);
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, 1 + depth(n));
}

static hu_order *
order(hu_sum s, size_t n)
{
	(void)s;
	return hu_order_pairwise(n);
}

const hu_sum_model hu_sum_model_pairwise = {
	.words = "products are rounded; the sums of the two parts, the first the largest power of two, are added",
	.run = hu_sum_run_pairwise,
	.prefixes = hu_prefixes_halves,
	.bound = bound,
	.roundings = roundings,
	.order = order,
	.lanes = HU_LANES_PAIRWISE,
};
#endif
