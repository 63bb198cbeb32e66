/* SPDX-License-Identifier: Apache-2.0
   Converts values of a format to codes (bit patterns) and back. A value here is already in the format (round.h
   rounds to it). Every NaN becomes the same code: positive and quiet. */
#ifndef HU_NUMBER_CODE_H
#define HU_NUMBER_CODE_H

#include "lib/number/round.h"

/* The code that encoding gives to NaN. In IEEE-like formats it has the quiet bit alone (0x7e for e5m2); elsewhere it
   is all ones (0x7f for e4m3, 0xff for e8m0 and other formats without sign) or the sign bit alone (0x80); in a
   format without NaN it is the largest value's code. */
HU_HD uint64_t
hu_nan_code(hu_format f)
{
	int mant = f.p - 1;

	switch (f.special) {
	case HU_SPECIAL_IEEE: return ((((uint64_t)1 << f.ebits) - 1) << mant) | (uint64_t)1 << (mant - 1);
	case HU_SPECIAL_FNUZ:
	case HU_SPECIAL_P3109: return (uint64_t)1 << (f.bits - 1);
	case HU_SPECIAL_SCALE:
	case HU_SPECIAL_P3109U:
	case HU_SPECIAL_P3109UF: return ((uint64_t)1 << f.bits) - 1;
	default: /* HU_SPECIAL_FN, and HU_SPECIAL_FINITE, which has no NaN */
		return ((uint64_t)1 << (f.bits - 1)) - 1;
	}
}

/* The code of +infinity in a format that has it. */
HU_HD uint64_t
hu_inf_code(hu_format f)
{
	if (f.special == HU_SPECIAL_P3109)
		return ((uint64_t)1 << (f.bits - 1)) - 1;
	if (f.special == HU_SPECIAL_P3109U)
		return ((uint64_t)1 << f.bits) - 2;
	return (((uint64_t)1 << f.ebits) - 1) << (f.p - 1);
}

/* The code of x, which must be a value of f; of any other x it is the code of its truncation toward zero. */
HU_HD uint64_t
hu_encode(double x, hu_format f)
{
	uint64_t sign = hu_has_sign(f) ? (hu_bits64(x) >> 63) << (f.bits - 1) : 0, m;
	int mant = f.p - 1, e;
	double a = x < 0 ? -x : x;

	if (hu_isnan(x))
		return hu_nan_code(f);
	if (!hu_isfinite(x))
		return sign | hu_inf_code(f);
	if (x == 0)
		return hu_has_minus_zero(f) ? sign : 0;
	if (f.p == 53)
		return hu_bits64(x);
	e = hu_exponent(x);
	if (!hu_has_zero(f))
		return (uint64_t)(e - f.emin);
	if (e < f.emin) /* subnormal: the code is the multiple of the smallest subnormal */
		return sign | (uint64_t)(a * hu_pow2(-f.emin) * hu_pow2(f.p - 1));
	m = (hu_bits64(x) & 0xfffffffffffffu) >> (53 - f.p);
	return sign | (uint64_t)(e - f.emin + 1) << mant | m;
}

/* x rounded to f, as its code; ternary and flags are those of hu_round_full. */
typedef struct hu_coded { uint64_t code; int ternary, flags; } hu_coded;

/* Rounds x to f as hu_round_full does, and returns the code. */
HU_HD hu_coded
hu_round_code(double x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	hu_rounded r = hu_round_full(x, f, mode, flags, rand);
	hu_coded c;

	c.code = hu_encode(r.value, f);
	c.ternary = r.ternary;
	c.flags = r.flags;
	return c;
}

/* The value of a code; bits above f.bits are ignored. In a format without subnormals their codes read as zeros. */
HU_HD double
hu_decode(uint64_t code, hu_format f)
{
	int mant = f.p - 1, negative = hu_has_sign(f) && (code >> (f.bits - 1) & 1);
	uint64_t field = code >> mant & (((uint64_t)1 << f.ebits) - 1), m = code & (((uint64_t)1 << mant) - 1);
	uint64_t top = ((uint64_t)1 << f.ebits) - 1;
	int ones = field == top && m == ((uint64_t)1 << mant) - 1;
	double r;

	if (f.p == 53)
		return hu_from_bits64(code);
	switch (f.special) {
	case HU_SPECIAL_IEEE:
		if (field == top)
			return m ? hu_nan() : hu_inf(negative);
		break;
	case HU_SPECIAL_FN:
		if (ones)
			return hu_nan();
		break;
	case HU_SPECIAL_P3109:
		if (ones)
			return hu_inf(negative);
		/* fall through */
	case HU_SPECIAL_FNUZ:
		if (negative && field == 0 && m == 0)
			return hu_nan();
		break;
	case HU_SPECIAL_P3109U:
	case HU_SPECIAL_P3109UF:
		if (ones)
			return hu_nan();
		code &= ((uint64_t)1 << f.bits) - 1;
		if (code == hu_inf_code(f) && hu_has_inf(f))
			return hu_inf(0);
		break;
	case HU_SPECIAL_SCALE: return ones ? hu_nan() : hu_pow2((int)field + f.emin);
	default: break; /* HU_SPECIAL_FINITE: every code is a number */
	}
	if (field == 0 && (f.flags & (HU_FTZ | HU_NOSUB)))
		return hu_zero_of(negative, f);
	if (field == 0)
		r = (double)m * hu_pow2(f.emin - f.p + 1);
	else
		r = (double)(m | (uint64_t)1 << mant) * hu_pow2((int)field - 1 + f.emin - f.p + 1);
	return negative ? -r : r;
}
#endif
