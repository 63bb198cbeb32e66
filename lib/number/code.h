/* SPDX-License-Identifier: Apache-2.0
   Values of a format to their codes and back. A value here is already in the
   format (round.h); NaN becomes the house's one code (positive, quiet). */
#ifndef HU_NUMBER_CODE_H
#define HU_NUMBER_CODE_H

#include "lib/number/round.h"

/* The one NaN code of a format: IEEE-like quiet bit alone, except the 8-bit
   formats' 0x7e (e5m2) and 0x7f (e4m3). */
HU_HD uint64_t
hu_nan_code(hu_format f)
{
	int mant = f.p - 1;

	if (f.special == HU_SPECIAL_FN)
		return ((uint64_t)1 << (f.bits - 1)) - 1;
	return ((((uint64_t)1 << f.ebits) - 1) << mant) | (uint64_t)1 << (mant - 1);
}

/* The code of x, which must be a value of f (else the result is that of x's chopped value). */
HU_HD uint64_t
hu_encode(double x, hu_format f)
{
	uint64_t sign = (hu_bits64(x) >> 63) << (f.bits - 1), m;
	int mant = f.p - 1, e;
	double a = x < 0 ? -x : x;

	if (hu_isnan(x))
		return hu_nan_code(f);
	if (!hu_isfinite(x))
		return sign | (((uint64_t)1 << f.ebits) - 1) << mant;
	if (x == 0)
		return sign;
	if (f.p == 53)
		return hu_bits64(x);
	e = hu_exponent(x);
	if (e < f.emin) /* subnormal: the field is the multiple of the smallest one */
		return sign | (uint64_t)(a * hu_pow2(-(f.emin - f.p + 1)));
	m = (hu_bits64(x) & 0xfffffffffffffu) >> (53 - f.p);
	return sign | (uint64_t)(e - f.emin + 1) << mant | m;
}

/* The value of a code; bits above f.bits are ignored. */
HU_HD double
hu_decode(uint64_t code, hu_format f)
{
	int mant = f.p - 1, negative = (int)(code >> (f.bits - 1) & 1);
	uint64_t field = code >> mant & (((uint64_t)1 << f.ebits) - 1), m = code & (((uint64_t)1 << mant) - 1);
	uint64_t top = ((uint64_t)1 << f.ebits) - 1;
	double r;

	if (f.p == 53)
		return hu_from_bits64(code);
	if (f.special == HU_SPECIAL_IEEE && field == top)
		return m ? hu_nan() : hu_inf(negative);
	if (f.special == HU_SPECIAL_FN && field == top && m == ((uint64_t)1 << mant) - 1)
		return hu_nan();
	if (field == 0)
		r = (double)m * hu_pow2(f.emin - f.p + 1);
	else
		r = (double)(m | (uint64_t)1 << mant) * hu_pow2((int)field - 1 + f.emin - f.p + 1);
	return negative ? -r : r;
}
#endif
