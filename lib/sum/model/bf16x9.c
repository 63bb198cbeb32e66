/* SPDX-License-Identifier: Apache-2.0
   bf16x9: fp32 products by bf16 tensor cores. An operand is b0 + 2^-8 b1 + 2^-16 b2, exactly, where each slice is bf16
   and toward zero. All nine products of slices are added, those of one weight 2^-8w by Blackwell's unit, of 16 products
   a block; the five sums are added in fp32 to nearest even, from the smallest weight on. cuBLAS (since 12.9) says that
   there are nine products with these weights, and not in which order it adds them. */
#include "lib/sum/model/run.h"
#include "lib/sum/tc/unit.h"

enum { HU_BF16X9_BLOCK = 16, HU_BF16X9_SLICES = 3, HU_BF16X9_WEIGHTS = 5 };

/* The unit that multiplies slices. */
HU_HD hu_sum
hu_bf16x9_unit(hu_sum s)
{
	s.arch = HU_TC_BLACKWELL;
	s.path = 0;
	s.in = s.in2 = HU_BF16;
	s.out = s.acc = HU_FP32;
	s.n = s.group = 0;
	return s;
}

/* Writes the slices of the fp32 value x, without their weights 2^-8i. An infinity has the slices Inf and NaN. */
HU_HD void
hu_bf16x9_slices(double x, double slice[HU_BF16X9_SLICES])
{
	for (int i = 0; i < HU_BF16X9_SLICES; i++) {
		slice[i] = hu_round(x, hu_format_of(HU_BF16), HU_RZ, 0, 0);
		x = (x - slice[i]) * 256;
	}
}

HU_SUM_RUN(bf16x9)
{
	hu_sum unit = hu_bf16x9_unit(s);
	hu_format f = hu_format_of(HU_FP32);
	double sum[HU_BF16X9_WEIGHTS] = { 0, 0, 0, 0, 0 }, acc, one[HU_BF16X9_SLICES];
	double x[HU_BF16X9_SLICES][HU_BF16X9_BLOCK], y[HU_BF16X9_SLICES][HU_BF16X9_BLOCK];

	(void)draw;
	for (size_t k = 0; k < n; k += HU_BF16X9_BLOCK) {
		size_t m = n - k < HU_BF16X9_BLOCK ? n - k : HU_BF16X9_BLOCK;
		for (size_t t = 0; t < m; t++) {
			hu_bf16x9_slices(a[k + t], one);
			for (int i = 0; i < HU_BF16X9_SLICES; i++)
				x[i][t] = one[i];
			hu_bf16x9_slices(b[k + t], one);
			for (int i = 0; i < HU_BF16X9_SLICES; i++)
				y[i][t] = one[i];
		}
		for (int i = 0; i < HU_BF16X9_SLICES; i++)
			for (int j = 0; j < HU_BF16X9_SLICES; j++)
				sum[i + j] = hu_tc_run(x[i], y[j], m, sum[i + j], unit, k, i + j ? 0 : count);
	}
	acc = sum[HU_BF16X9_WEIGHTS - 1];
	for (int w = HU_BF16X9_WEIGHTS - 1; w-- > 0;)
		acc = hu_acc_add(acc * 0x1p-8, sum[w], f, HU_RNE, 0, 0, 0);
	return hu_isnan(acc) ? hu_nan() : acc;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"

/* Sums the bounds of the five weights, each of so many blocks, and what the four additions of their sums round. Slices
   have the operand's sign, so that their products' magnitudes add up to |ab|. */
static double
one_part(hu_sum s, const double *a, const double *b, size_t n, double *mag)
{
	double sum[HU_BF16X9_WEIGHTS] = { 0 }, error = 0, top = 0, up = 1 + (3 * (double)n + 4) * 0x1p-52;
	int most[HU_BF16X9_WEIGHTS], pairs[HU_BF16X9_WEIGHTS] = { 0 };
	size_t blocks = (n + HU_BF16X9_BLOCK - 1) / HU_BF16X9_BLOCK;
	hu_sum unit = hu_bf16x9_unit(s);
	hu_format f = hu_format_of(HU_BF16);

	for (int w = 0; w < HU_BF16X9_WEIGHTS; w++)
		most[w] = HU_TC_TINY;
	for (int i = 0; i < HU_BF16X9_SLICES; i++)
		for (int j = 0; j < HU_BF16X9_SLICES; j++) {
			int w = i + j;
			pairs[w]++;
			for (size_t k = 0; k < n; k++) {
				double x[HU_BF16X9_SLICES], y[HU_BF16X9_SLICES];
				int32_t am, ae, bm, be;
				if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
					return INFINITY;
				hu_bf16x9_slices(a[k], x);
				hu_bf16x9_slices(b[k], y);
				hu_tc_split(x[i], f, &am, &ae);
				hu_tc_split(y[j], f, &bm, &be);
				most[w] = am && bm && ae + be > most[w] ? ae + be : most[w];
				sum[w] += fabs(x[i] * y[j]);
			}
		}
	for (int w = HU_BF16X9_WEIGHTS; w-- > 0;) {
		double e = hu_sum_tc_bound(unit, (size_t)pairs[w] * blocks * HU_BF16X9_BLOCK, 0, most[w], sum[w] * up);
		top = (sum[w] * up + e + 0x1p-8 * top) * (1 + 0x1p-23); /* no partial sum exceeds it */
		error = 0x1p-8 * error + e + 0x1p-24 * top + 0x1p-149;
	}
	for (int w = 0; w < HU_BF16X9_WEIGHTS; w++)
		*mag += ldexp(sum[w] * up, -8 * w);
	return error;
}

static hu_sum_bound
bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)
{
	return hu_bound_by_parts(one_part, s, a, b, n, part, c);
}

/* For operands whose slices' products are normal: a block loses (L+1) 2^-F of the largest and one rounding toward zero,
   a weight has up to three blocks for 16 products, and the sums of the weights meet four roundings. */
static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	double e = hu_bound_growth(17 * 0x1p-25 + 0x1p-23, 3 * ceil(n / HU_BF16X9_BLOCK));

	(void)s;
	(void)outer_u;
	e += (1 + e) * hu_bound_growth(u, 4);
	return (hu_sum_bound){ e, 8, 1 + e, 0 };
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	(void)s;
	(void)n;
	r->none = "tensor cores chop, so that errors have a sign of their own";
}

const hu_sum_model hu_sum_model_bf16x9 = {
	.words = "fp32 by three bf16 slices of each operand: nine products of slices, by Blackwell's tensor core for "
		 "each of "
		 "five weights, whose sums are added in fp32",
	.run = hu_sum_run_bf16x9,
	.bound = bound,
	.bound_of = bound_of,
	.roundings = roundings,
	.compensated = 1, /* what a slice's sum loses is far below the order of the whole sum */
	.unit = HU_SUM_UNIT(HU_FP32, HU_FP32),
};
#endif
