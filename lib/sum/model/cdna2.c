/* SPDX-License-Identifier: Apache-2.0
   cdna2: what the matrix cores of AMD's MI200 do. Products of fp16 or bf16 are rounded to fp32; four of them are added
   as (p0 + p1) + (p2 + p3), and that sum is added to the accumulator, each addition being rounded to nearest even.
   Subnormal operands and a subnormal accumulator are +0, and subnormal results are zeros of their sign. terms=2: bf16
   by the older instructions without _1k, which add pairs. Two public models agree (arXiv 2512.07004 and MMA-Sim, arXiv
   2511.10909). doc/cdna.md has questions for a card. */
#include "lib/sum/flush.h"
#include "lib/sum/model/run.h"

/* x, or +0 where it is below the smallest normal number of its format. */
HU_HD double
hu_cdna2_operand(double x, hu_format f)
{
	return fabs(x) < hu_smallest_normal(f) ? 0 : x;
}

/* x + y in fp32, flushed, counted as a node whose second part begins at term k. */
HU_HD double
hu_cdna2_node(double x, double y, size_t k, hu_sum_count *count)
{
	double sum = hu_flush_nearest(hu_add_odd(x, y));

	hu_count_node(count, x, y, sum, k);
	return sum;
}

HU_HD_CALL double
hu_cdna2_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	hu_format f = hu_format_of(s.in), out = hu_format_of(HU_FP32);
	double acc = hu_cdna2_operand(c, out);
	size_t step = s.n ? (size_t)s.n : 4;

	for (size_t k = 0; k < n; k += step) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		hu_sum_count *in = count ? &inner : 0;
		double p[4] = { 0, 0, 0, 0 };
		for (size_t i = 0; i < step && k + i < n; i++)
			p[i] = hu_flush_nearest(hu_cdna2_operand(a[k + i], f) * hu_cdna2_operand(b[k + i], f));
		double pair = hu_cdna2_node(p[0], p[1], k + 1, in);
		if (step == 4)
			pair = hu_cdna2_node(pair, hu_cdna2_node(p[2], p[3], k + 3, in), k + 2, in);
		double next = hu_flush_nearest(hu_add_odd(acc, pair));
		if (pair != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(pair), acc != 0 && next == acc, k);
		hu_count_slice(count, &inner);
		acc = next;
	}
	return hu_isnan(acc) ? hu_nan() : acc;
}

HU_SUM_RUN(cdna2)
{
	(void)draw;
	return hu_cdna2_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/cdna/units.h"
#include "lib/sum/model/row.h"

#include <stdlib.h>
#include <string.h>

/* A product meets its own rounding, those of the tree, and one for each block. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double step = s.n ? s.n : 4, blocks = ceil(n / step);

	(void)outer_u;
	return hu_bound_flushed(n, u, 1 + step / 2 + blocks, n + (step - 1) * blocks + blocks);
}

static hu_order *
order(hu_sum s, size_t n)
{
	size_t step = s.n ? (size_t)s.n : 4;
	hu_order *o = NULL;

	for (size_t k = 0; k < n; k += step) {
		hu_order *pair[2] = { NULL, NULL };
		for (size_t i = 0; i < step && k + i < n; i++)
			pair[i / 2] = hu_order_node(pair[i / 2], hu_order_leaf(k + i));
		o = hu_order_node(o, hu_order_node(pair[0], pair[1]));
	}
	return o;
}

static hu_status
key(hu_sum *s, const char *key, const char *word)
{
	if (strcmp(key, "terms"))
		return hu_cdna_key_beside(s, key, word, ", terms");
	if (strcmp(word, "2") && strcmp(word, "4"))
		return hu_fail(HU_EINVAL,
			"summation model cdna2: terms=%s: a sum has 4 products, or 2 by the bf16 instructions without "
			"_1k: give 2 or 4",
			word);
	s->n = *word == '2' ? 2 : 0;
	return HU_OK;
}

static void
variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to)
{
	hu_cdna_variants(s, longest, take, to);
	s.in = s.in2 = HU_BF16;
	s.n = 2;
	take(to, s);
}

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_FP64, HU_NO_FORMAT };

const hu_sum_model hu_sum_model_cdna2 = {
	.words = "fp16 or bf16 (in=) by the matrix cores of AMD's MI200: (p0+p1)+(p2+p3), then the accumulator, in "
		 "fp32; terms=2 adds pairs; subnormal numbers are zeros. By two published models, not held to silicon",
	.run = hu_sum_run_cdna2,
	.bound = bound,
	.bound_of = hu_bound_flushed_of,
	.from = hu_cdna2_from,
	.roundings = hu_roundings_flushed,
	.order = order,
	.unit = HU_CDNA_UNIT(formats, key, variants),
};
#endif
