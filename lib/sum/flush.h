/* SPDX-License-Identifier: Apache-2.0
   One operation of an fp32 accumulator that flushes: subnormal operands are zeros of their sign (DAZ), and a result
   that is tiny is one too (FTZ). Units of processors for bf16 are made of these, whatever the modes of the processor
   are. Host and device. */
#ifndef HU_SUM_FLUSH_H
#define HU_SUM_FLUSH_H

#include "lib/sum/step.h"

/* x, or a zero of its sign where x is subnormal in fp32 and bf16. */
HU_HD double
hu_flushed(double x)
{
	return fabs(x) < 0x1p-126 ? (hu_bits64(x) >> 63 ? -0.0 : 0.0) : x;
}

/* x, which is exact or rounded to odd, rounded to nearest even and flushed. A result is tiny where it would be below
   2^-126 if the exponents had no end, so that what lies up to half an ulp below 2^-126 is 2^-126 (Intel 64 manual,
   volume 1, section 4.9.1.5: tininess is detected after rounding). */
HU_HD double
hu_flush_nearest(double x)
{
	if (fabs(x) < 0x1p-126 - 0x1p-151)
		return hu_flushed(x);
	return hu_round(x, hu_format_of(HU_FP32), HU_RNE, 0, 0);
}

/* acc + a b with one rounding to nearest even, where a and b are of bf16, counted as term k. */
HU_HD double
hu_flush_fma(double acc, double a, double b, uint64_t k, hu_sum_count *count)
{
	double x = hu_flushed(a) * hu_flushed(b), s = hu_flush_nearest(hu_add_odd(acc, x));

	if (a != 0 && b != 0)
		hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(x), (acc != 0 || x == 0) && s == acc, k);
	return s;
}
#endif
