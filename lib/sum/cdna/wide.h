/* SPDX-License-Identifier: Apache-2.0
   What the models of AMD's matrix cores share: an exact sum of few products and an fp32 number, rounded once to nearest
   even, and the counts of what a block swamps. Host and device. */
#ifndef HU_SUM_CDNA_WIDE_H
#define HU_SUM_CDNA_WIDE_H

#include "lib/sum/step.h"
#include "lib/sum/tc/tc.h"

/* A wide integer in digits of 32 bits: digit i counts 2^(32 i + HU_WIDE_LEAST). Products of bf16 are multiples of
   2^-266, and a few of them with an fp32 number stay below 2^260. Between additions and the carry a digit may have any
   64 bits. */
enum { HU_WIDE_DIGITS = 18, HU_WIDE_LEAST = -272 };
typedef struct hu_cdna_wide { int64_t digit[HU_WIDE_DIGITS]; } hu_cdna_wide;

/* Adds m * 2^q, where |m| < 2^24, for up to 64 terms. */
HU_HD void
hu_cdna_wide_add(hu_cdna_wide *x, int32_t m, int q)
{
	int at = q - HU_WIDE_LEAST;

	if (m)
		x->digit[at / 32] += (int64_t)m * ((int64_t)1 << at % 32);
}

/* Makes all digits but the sign's lie in 0 … 2^32 - 1, and returns 1 where the sum is negative. */
HU_HD int
hu_cdna_wide_carry(hu_cdna_wide *x)
{
	int64_t carry = 0;

	for (int i = 0; i < HU_WIDE_DIGITS; i++) {
		int64_t t = x->digit[i] + carry;
		x->digit[i] = t & 0xffffffff;
		carry = (t - x->digit[i]) / 0x100000000;
	}
	return carry < 0;
}

/* The sum rounded to fp32, to nearest even; zero is +0. The two highest digits have 33 bits or more, and what lies
   below them is folded into their last bit, so that one rounding remains. */
HU_HD double
hu_cdna_wide_round(hu_cdna_wide *x)
{
	int negative = hu_cdna_wide_carry(x), top = HU_WIDE_DIGITS - 1;
	uint64_t m, low;

	if (negative) {
		for (int i = 0; i < HU_WIDE_DIGITS; i++)
			x->digit[i] = -x->digit[i];
		x->digit[HU_WIDE_DIGITS - 1] += 0x100000000;
		hu_cdna_wide_carry(x);
	}
	while (top > 1 && !x->digit[top])
		top--;
	m = (uint64_t)x->digit[top] << 32 | (uint64_t)x->digit[top - 1];
	low = m >> 53 ? m & 2047 : 0;
	for (int i = 0; i < top - 1; i++)
		low |= (uint64_t)x->digit[i];
	if (m >> 53)
		m = (m >> 11 | (low != 0)) << 11;
	else
		m |= low != 0;
	double r = (double)m * hu_pow2(32 * (top - 1) + HU_WIDE_LEAST);
	return m ? hu_round(negative ? -r : r, hu_format_of(HU_FP32), HU_RNE, 0, 0) : 0;
}

/* Returns c + Σ a b over one block of m products of operands of format f. Where an operand is not finite the result is
   IEEE 754's; NaN has its canonical code. */
HU_HD double
hu_cdna_wide_block(const double *a, const double *b, size_t m, double c, hu_format f)
{
	hu_cdna_wide x;
	int32_t am, ae, bm, be;
	double plain = c;

	for (size_t k = 0; k < m; k++)
		plain += a[k] * b[k];
	if (!hu_isfinite(plain))
		return hu_isnan(plain) ? hu_nan() : plain;
	for (int i = 0; i < HU_WIDE_DIGITS; i++)
		x.digit[i] = 0;
	hu_tc_split(c, hu_format_of(HU_FP32), &am, &ae);
	hu_cdna_wide_add(&x, am, am ? ae - 23 : 0);
	for (size_t k = 0; k < m; k++) {
		hu_tc_split(a[k], f, &am, &ae);
		hu_tc_split(b[k], f, &bm, &be);
		hu_cdna_wide_add(&x, am * bm, am && bm ? ae + be - 2 * f.p + 2 : 0);
	}
	return hu_cdna_wide_round(&x);
}

/* Counts the m products from number k on, which moved the accumulator from c to next. Bit i of lost says that product
   k + i was chopped to nothing; all are swamped where the accumulator stays as it was, unless they cancel. */
HU_HD void
hu_cdna_count(hu_sum_count *count, const double *a, const double *b, size_t k, size_t m, double c, double next,
	unsigned lost)
{
	double sum = 0;
	int finite = hu_isfinite(c) && hu_isfinite(next);

	if (!count)
		return;
	for (size_t i = 0; i < m; i++)
		sum += a[k + i] * b[k + i];
	for (size_t i = 0; i < m; i++)
		if (a[k + i] != 0 && b[k + i] != 0)
			hu_count_term(count, c, finite,
				finite && ((lost >> i & 1) || (c != 0 && sum != 0 && next == c)), k + i);
}
#endif
