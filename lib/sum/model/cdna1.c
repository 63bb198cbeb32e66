/* SPDX-License-Identifier: Apache-2.0
   cdna1: what the matrix cores of AMD's MI100 do. Four products of fp16, or two of bf16, and the accumulator are added
   exactly, and their sum is rounded once to fp32, to nearest even; subnormal numbers are kept. Two public models agree
   on that (the vectors and models of arXiv 2512.07004, and MMA-Sim's second edition); MMA-Sim's first edition (arXiv
   2511.10909) adds pairs, each rounded. doc/cdna.md has the questions whose answers tell these apart. */
#include "lib/sum/cdna/wide.h"
#include "lib/sum/model/run.h"

HU_HD size_t hu_cdna1_block(hu_sum s) { return s.in == HU_BF16 ? 2 : 4; }

HU_HD_CALL double
hu_cdna1_from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	size_t step = hu_cdna1_block(s);

	for (size_t k = 0; k < n; k += step) {
		size_t m = n - k < step ? n - k : step;
		double next = hu_cdna_wide_block(a + k, b + k, m, c, hu_format_of(s.in));
		hu_cdna_count(count, a, b, k, m, c, next, 0);
		c = next;
	}
	return c;
}

HU_SUM_RUN(cdna1)
{
	(void)draw;
	return hu_cdna1_from(a, b, n, 0, s, count);
}

#ifndef __cplusplus
#include "lib/sum/cdna/units.h"
#include "lib/sum/model/row.h"

/* Every term meets one rounding for each block from its own on. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)outer_u;
	return hu_bound_met(n, u, ceil(n / (double)hu_cdna1_block(s)));
}

/* Operands are taken as they are, so that the bound of the length holds for all of them. */
static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return hu_bound_plain_of(s, a, b, n, part, c);
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	hu_roundings_add(r, hu_format_of(s.acc), HU_RNE, 0, ceil(n / (double)hu_cdna1_block(s)));
}

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_NO_FORMAT };

const hu_sum_model hu_sum_model_cdna1 = {
	.words = "fp16 or bf16 (in=) by the matrix cores of AMD's MI100: exact sums of 4 or 2 products and the "
		 "accumulator, rounded once. By published models, which dispute it; not held to silicon",
	.run = hu_sum_run_cdna1,
	.bound = bound,
	.bound_of = bound_of,
	.from = hu_cdna1_from,
	.roundings = roundings,
	.compensated = 1, /* a block's sum is exact, so that nothing in it is absorbed: no order is to be seen */
	.unit = HU_CDNA_UNIT(formats, hu_cdna_key, hu_cdna_variants),
};
#endif
