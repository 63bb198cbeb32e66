/* SPDX-License-Identifier: Apache-2.0
   Rounding one value to a format: the plain, complete version on which every
   faster one is tested. Host and device, by value, no globals, no libm. */
#ifndef HU_NUMBER_ROUND_H
#define HU_NUMBER_ROUND_H

#include "lib/number/format.h"

HU_HD uint64_t
hu_bits64(double x)
{
	union { double d; uint64_t u; } v;

	v.d = x;
	return v.u;
}

HU_HD double
hu_from_bits64(uint64_t u)
{
	union { uint64_t u; double d; } v;

	v.u = u;
	return v.d;
}

HU_HD uint32_t
hu_bits32(float x)
{
	union { float f; uint32_t u; } v;

	v.f = x;
	return v.u;
}

HU_HD float
hu_from_bits32(uint32_t u)
{
	union { uint32_t u; float f; } v;

	v.u = u;
	return v.f;
}

HU_HD double hu_nan(void) { return hu_from_bits64(0x7ff8000000000000u); }
HU_HD double hu_inf(int negative) { return hu_from_bits64(negative ? 0xfff0000000000000u : 0x7ff0000000000000u); }
HU_HD int hu_isnan(double x) { return x != x; }
HU_HD int hu_isfinite(double x) { return (hu_bits64(x) >> 52 & 0x7ff) != 0x7ff; }

/* floor(log2|x|) of a finite nonzero double, subnormals included. */
HU_HD int
hu_exponent(double x)
{
	uint64_t a = hu_bits64(x) & 0x7fffffffffffffffu;
	int e = (int)(a >> 52) - 1023;

	if (e != -1023)
		return e;
	e = -1075;
	while (a) {
		a >>= 1;
		e++;
	}
	return e;
}

/* As a flag: stochastic rounding with K random bits, 1 <= K <= 32; 32 where nothing is said. */
#define HU_RANDOM_BITS(k) ((k) << 8)

/* What stands for NaN, an infinity (before overflow's rule) and a zero in a format that may have none of them. */
HU_HD double hu_nan_of(hu_format f) { return hu_has_nan(f) ? hu_nan() : f.max; }

HU_HD double
hu_inf_of(int negative, hu_format f, int flags)
{
	flags |= f.flags;
	if (negative && !hu_has_sign(f))
		return (flags & HU_SATURATE) && hu_has_zero(f) ? 0 : hu_nan();
	if ((flags & HU_SATURATE) || !hu_has_nan(f))
		return negative ? -f.max : f.max;
	return hu_has_inf(f) ? hu_inf(negative) : hu_nan();
}

HU_HD double
hu_zero_of(int negative, hu_format f)
{
	if (!hu_has_zero(f))
		return hu_smallest(f);
	return negative && hu_has_minus_zero(f) ? -0.0 : 0.0;
}

/* What a magnitude beyond max finite becomes: IEEE 754's rule for the mode; formats
   without infinities give NaN instead of one, formats without NaN their largest value.
   To odd, the largest value is odd and the infinity is not, but in P3109 the other way round. */
HU_HD double
hu_overflow(int negative, hu_format f, hu_mode mode, int flags)
{
	int to_max = mode == HU_RZ || (mode == HU_RO && !hu_is_p3109(f)) || (mode == HU_RU && negative) ||
		     (mode == HU_RD && !negative);

	return hu_inf_of(negative, f, to_max ? flags | HU_SATURATE : flags);
}

/* 1 where SR lets a magnitude grow: LOW / 2^LOST is the discarded fraction, LOW < 2^53. */
HU_HD int
hu_round_draw(uint64_t low, int lost, int flags, uint32_t rand)
{
	int k = flags >> 8 & 63;
	uint64_t fraction = lost <= 32 ? low << (32 - lost) : lost - 32 < 64 ? low >> (lost - 32) : 0;

	return k > 0 && k < 32 ? rand >> (32 - k) < fraction >> (32 - k) : rand < fraction;
}

/* Whether the neighbour toward zero, KEEP * 2^(E - p + 1), counts as even. One significant
   bit is always odd: then the larger neighbour wins a tie (IEEE 754-2019, 4.3.1), but
   in P3109 the one with the even code. */
HU_HD int
hu_is_even(uint64_t keep, int e, hu_format f)
{
	if (f.p == 1 && keep && hu_is_p3109(f))
		return !((e - f.emin + 1) & 1);
	return !(keep & 1);
}

/* Rounds x to format f. Exact where x is in f. The result is f's value as a
   double. NaN becomes one quiet NaN (the largest value where f has none).
   Infinities stay, become NaN in a format without them, or max finite under
   HU_SATURATE. A zero keeps its sign where f has -0; where f has no zero it
   becomes the smallest value. Where f has no sign a negative x becomes zero if
   its magnitude rounds to zero, under RZ, RU and HU_SATURATE (P3109's rule), else NaN; and always NaN where f has no
   zero. RAND: 32 uniform bits, used by the modes that draw: under SR the magnitude grows when RAND is below the
   discarded fraction's first 32 bits (of both the first k under HU_RANDOM_BITS(k)), under SRE when it is below 2^31. f
   = fp64 returns x unless a flag says otherwise. */
HU_HD double
hu_round(double x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	uint64_t u = hu_bits64(x), a = u & 0x7fffffffffffffffu, m, low, half, keep;
	int negative = (int)(u >> 63), e, p, lost, drop, up, even;
	double r;

	flags |= f.flags;
	if (a > 0x7ff0000000000000u)
		return hu_nan_of(f);
	if (a == 0x7ff0000000000000u)
		return hu_inf_of(negative, f, flags);
	if (a == 0)
		return hu_zero_of(negative, f);
	if (negative && !hu_has_zero(f))
		return hu_nan();
	e = (int)(a >> 52) - 1023;
	if (e < f.emin && (flags & HU_DAZ))
		return hu_zero_of(negative, f);
	if (f.p >= 53)
		return e < f.emin && (flags & HU_FTZ) ? hu_zero_of(negative, f) : x;
	if (e == -1023)
		e = -1022,
		m = a; /* a double's subnormal: below every other format's normal range, or of the same range */
	else
		m = (a & 0xfffffffffffffu) | 0x10000000000000u;
	p = (flags & HU_NOSUB) && a < hu_bits64(hu_smallest_normal(f)) ? 1 : f.p;
	lost = 53 - p + (e < f.emin ? f.emin - e : 0);
	drop = lost > 63 ? 63 : lost; /* m < 2^53: nothing is kept, and the fraction stays below 2^-10 */
	keep = m >> drop;
	low = m & (((uint64_t)1 << drop) - 1);
	half = (uint64_t)1 << (drop - 1);
	e = e < f.emin ? f.emin : e;
	even = hu_is_even(keep, e, f);
	switch (mode) {
	case HU_RNE: up = low > half || (low == half && !even); break;
	case HU_RNA: up = low >= half; break;
	case HU_RNZ: up = low > half; break;
	case HU_RU: up = low != 0 && !negative; break;
	case HU_RD: up = low != 0 && negative; break;
	case HU_RO: up = low != 0 && even; break;
	case HU_SR: up = hu_round_draw(low, lost, flags, rand); break;
	case HU_SRE: up = low != 0 && rand < 0x80000000u; break;
	default: up = 0; break;
	}
	keep += (uint64_t)up;
	r = (double)keep * hu_pow2(e - p + 1);
	if (r == 0 || ((flags & HU_FTZ) && r < hu_smallest_normal(f)))
		return hu_zero_of(negative, f);
	if (negative && !hu_has_sign(f))
		return mode == HU_RZ || mode == HU_RU || (flags & HU_SATURATE) ? 0 : hu_nan();
	if (r > f.max)
		return hu_overflow(negative, f, mode, flags);
	return negative ? -r : r;
}

/* A rounding with everything that IEEE 754 and MPFR say about it. */
enum { HU_INEXACT = 1, HU_UNDERFLOW = 2, HU_OVERFLOW = 4, HU_INVALID = 8 };

typedef struct hu_rounded {
	double value;   /* as hu_round */
	int ternary;    /* sign of value - x; 0 where one of them is NaN */
	int flags;      /* HU_INEXACT … */
} hu_rounded;

/* inexact: the value changed. underflow: x is below the smallest normal number
   and the value changed. overflow: the magnitude, rounded as if the exponent had
   no end, is beyond max finite, or a negative number became the zero of a format without sign. invalid: an infinity, a
   NaN or a negative number that the format cannot hold (an infinity under HU_SATURATE overflows instead). */
HU_HD hu_rounded
hu_round_full(double x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	double max = f.max, a = x < 0 ? -x : x, r;
	hu_rounded out;

	flags |= f.flags;
	out.value = hu_round(x, f, mode, flags, rand);
	out.ternary = (out.value > x) - (out.value < x);
	out.flags = 0;
	if (hu_isnan(x)) {
		out.flags = hu_has_nan(f) ? 0 : HU_INVALID;
	} else if (x < 0 && !hu_has_sign(f) && hu_isnan(out.value)) {
		out.flags = HU_INVALID;
	} else if (!hu_isfinite(x)) {
		if (out.value != x)
			out.flags = (flags & HU_SATURATE) ? HU_OVERFLOW | HU_INEXACT : HU_INVALID;
	} else if (out.value != x) {
		out.flags = HU_INEXACT | (a < hu_smallest_normal(f) || a == 0 ? HU_UNDERFLOW : 0);
		f.max = hu_inf(0);
		if (!hu_has_sign(f))
			f.special = HU_SPECIAL_P3109, max = x < 0 ? 0 : max;
		r = a > max ? hu_round(x, f, mode, flags & ~HU_SATURATE, rand) : 0;
		if (r > max || -r > max)
			out.flags |= HU_OVERFLOW;
	}
	return out;
}

/* Exponent of the unit in the last place at x (finite): max(floor(log2|x|), emin) - p + 1. */
HU_HD int
hu_ulp_exponent(double x, hu_format f)
{
	int e = x == 0 ? f.emin : hu_exponent(x);

	return (e < f.emin ? f.emin : e) - f.p + 1;
}
#endif
