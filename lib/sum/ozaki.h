/* SPDX-License-Identifier: Apache-2.0
   FP64 products by 8-bit integers (Ozaki, Ogita, Oishi and Rump 2012; Ootomo, Ozaki and Yokota 2024, arXiv 2306.11975),
   as cuBLAS's fixed-point emulation has them: all n elements of a line share one power of two, an element is cut
   (truncated) to 8 N - 1 bits below it and written as N digits of base 256 between -128 and 128, and digits are
   multiplied and added as integers, exactly. Of the products of digits those are left out that weigh less than the last
   kept bit. Host and device. */
#ifndef HU_SUM_OZAKI_H
#define HU_SUM_OZAKI_H

#include "lib/sum/step.h"

/* cuBLAS takes up to 79 bits. */
enum { HU_OZAKI_SLICES = 10 };

/* Returns e with 2^(e-1) <= |x| < 2^e for a finite x that is not 0. */
HU_HD int
hu_ozaki_exponent(double x)
{
	uint64_t u = hu_bits64(x);
	int shift = (u >> 52 & 0x7ff) ? 0 : 64;

	if (shift)
		u = hu_bits64(x * 0x1p64);
	return (int)(u >> 52 & 0x7ff) - 1022 - shift;
}

/* Returns the exponent that n elements share: that of the largest one, and 1 more where its first seven bits are ones,
   since the carry of lower digits may then need another bit. All elements are finite; *zero says that all are 0. */
HU_HD int
hu_ozaki_line(const double *x, size_t n, int *zero)
{
	double most = 0;

	for (size_t k = 0; k < n; k++)
		most = fabs(x[k]) > most ? fabs(x[k]) : most;
	*zero = most == 0;
	if (*zero)
		return 0;
	int e = hu_ozaki_exponent(most);
	/* most / 2^e >= 1 - 2^-7, in two steps of which none leaves the doubles' range */
	double part = most * hu_pow2(-e / 2) * hu_pow2(-e - (-e / 2));
	return e + (part >= 1 - 0x1p-7);
}

/* Returns |x| 2^q without its fraction, for a result below 2^80. */
HU_HD double
hu_ozaki_cut(double x, int q)
{
	double y = fabs(x) * hu_pow2(q / 2) * hu_pow2(q - q / 2);

	return y < 0x1p53 ? (double)(uint64_t)y : y;
}

/* Sets d[0] to the highest and d[slices - 1] to the lowest digit of x on a line of exponent e. */
HU_HD void
hu_ozaki_digits(double x, int e, int slices, int *d)
{
	double left = hu_ozaki_cut(x, 8 * slices - 1 - e);
	int carry = 0;

	for (int i = slices; i-- > 0;) {
		double next = hu_ozaki_cut(left, -8);
		int digit = (int)(left - 256 * next) + carry;
		carry = i && digit >= 128;
		digit -= carry ? 256 : 0;
		d[i] = x < 0 ? -digit : digit;
		left = next;
	}
}

/* Returns the sum of n products by so many slices; NaN where an element is not finite. Counts as swamped a product of
   which an operand was cut to nothing. */
HU_HD_CALL double
hu_ozaki_sum(const double *a, const double *b, size_t n, int slices, hu_sum_count *count)
{
	int64_t sum[HU_OZAKI_SLICES];
	int zero[2], da[HU_OZAKI_SLICES], db[HU_OZAKI_SLICES];
	double r = 0;

	for (size_t k = 0; k < n; k++)
		if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
			return hu_nan();
	int ea = hu_ozaki_line(a, n, &zero[0]), eb = hu_ozaki_line(b, n, &zero[1]);
	if (zero[0] || zero[1])
		return 0;
	for (int w = 0; w < slices; w++)
		sum[w] = 0;
	for (size_t k = 0; k < n; k++) {
		int some[2] = { 0, 0 };
		hu_ozaki_digits(a[k], ea, slices, da);
		hu_ozaki_digits(b[k], eb, slices, db);
		for (int i = 0; i < slices; i++) {
			some[0] |= da[i];
			some[1] |= db[i];
			for (int j = 0; i + j < slices; j++)
				sum[i + j] += da[i] * db[j];
		}
		if (a[k] != 0 && b[k] != 0)
			hu_count_term(count, 1, 1, !some[0] || !some[1], k);
	}
	/* Digits i and j weigh 2^(ea - 7 - 8 i) 2^(eb - 7 - 8 j). The largest is added first. */
	for (int w = 0; w < slices; w++)
		r += (double)sum[w] * hu_pow2(-8 * w);
	int q = ea + eb - 14;
	return r * hu_pow2(q / 2) * hu_pow2(q - q / 2);
}

/* Returns how many slices give n products of these finite elements an error of at most n 2^-53 times the largest
   product: with s = ea + eb - the largest exponent of a product, cutting loses less than 2 n 2^(ea+eb-bits) and the
   digits left out less than n slices/2 2^(ea+eb-bits), together less than 8 times n 2^(ea+eb-bits), and the largest
   product is 2^(ea+eb-s-2) at least: bits = 58 + s. Returns 0 where more bits are needed than there are. */
HU_HD_CALL int
hu_ozaki_slices(const double *a, const double *b, size_t n)
{
	int zero[2], ea = hu_ozaki_line(a, n, &zero[0]), eb = hu_ozaki_line(b, n, &zero[1]), top = -4000, slices;

	for (size_t k = 0; k < n; k++) {
		int e = a[k] != 0 && b[k] != 0 ? hu_ozaki_exponent(a[k]) + hu_ozaki_exponent(b[k]) : -4000;
		top = e > top ? e : top;
	}
	if (top == -4000)
		return 1;
	slices = (58 + ea + eb - top + 8) / 8; /* 8 N - 1 bits */
	return slices <= HU_OZAKI_SLICES ? slices : 0;
}

#ifndef __cplusplus
/* Bounds the error of hu_ozaki_sum over finite elements, from them; raises *mag by no less than Σ|ab|. */
double hu_ozaki_bound(const double *a, const double *b, size_t n, int slices, double *mag);
#endif
#endif
