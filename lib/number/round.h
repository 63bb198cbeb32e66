/* SPDX-License-Identifier: Apache-2.0
   Rounding of one value to a format: the plain and complete version that every faster one is tested against. Host
   and device; no globals, no libm. */
#ifndef HU_NUMBER_ROUND_H
#define HU_NUMBER_ROUND_H

#include "lib/number/format.h"

/* The bits of a double or float, and back. */
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

/* floor(log2 |x|) of a finite nonzero double, also of a subnormal one. */
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

/* A flag: stochastic rounding uses k random bits, 1 <= k <= 32. Without it, it uses 32. Bits 8 to 13 hold k. */
#define HU_RANDOM_BITS(k) ((k) << 8)
/* Flags of SR: the fraction with which k random bits are compared is P3109's StochasticB's or StochasticC's, the
   discarded one rounded to k bits, ties upward or to even. Without them it is StochasticA's, chopped to k bits. */
enum { HU_STOCHASTIC_B = 1 << 14, HU_STOCHASTIC_C = 1 << 15 };

/* What replaces a NaN, an infinity (except by overflow) and a zero in a format that may lack them. */
HU_HD double hu_nan_of(hu_format f) { return hu_has_nan(f) ? hu_nan() : f.max; }

HU_HD double
hu_inf_of(int negative, hu_format f, int flags)
{
	flags |= f.flags;
	if ((flags & HU_PROPAGATE) && hu_has_inf(f) && (!negative || hu_has_sign(f)))
		return hu_inf(negative);
	if (negative && !hu_has_sign(f))
		return (flags & HU_SATURATE) && hu_has_zero(f) ? 0 : hu_nan();
	if (hu_saturates(f, flags) || !hu_has_nan(f))
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

/* The result of an overflow, by IEEE 754's rule for the mode: the largest value or an infinity. A format without
   infinities has NaN instead, one without NaN its largest value. Under RO the result is whichever has the odd code:
   the largest value, but in P3109's signed formats the infinity. P3109's SatNone is this without HU_SATURATE.
   HU_PROPAGATE has no part in it, since what overflows is finite. */
HU_HD double
hu_overflow(int negative, hu_format f, hu_mode mode, int flags)
{
	int to_max = mode == HU_RZ || (mode == HU_RO && f.special != HU_SPECIAL_P3109) || (mode == HU_RU && negative) ||
		     (mode == HU_RD && !negative);

	flags &= ~HU_PROPAGATE;
	return hu_inf_of(negative, f, to_max ? flags | HU_SATURATE : flags);
}

/* Returns 1 where StochasticB or C rounds away from zero, by the first k bits of rand; q is the discarded fraction
   times 2^(k+1), chopped, and sticky says that something was chopped. */
HU_HD int
hu_round_draw_rounded(uint64_t q, int sticky, int k, int flags, uint32_t rand)
{
	uint64_t up = (flags & HU_STOCHASTIC_B) ? q & 1 : q & (q >> 1 | (uint64_t)sticky) & 1;

	return rand >> (32 - k) < (q >> 1) + up;
}

/* Returns 1 where SR rounds away from zero: low / 2^lost is the discarded fraction, low < 2^53. */
HU_HD int
hu_round_draw(uint64_t low, int lost, int flags, uint32_t rand)
{
	int k = flags >> 8 & 63;

	if (flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)) {
		k = k ? k : 32;
		int chopped = lost - k - 1;
		uint64_t q = chopped <= 0 ? low << -chopped : chopped < 64 ? low >> chopped : 0;
		return hu_round_draw_rounded(q, chopped > 0 && (chopped > 63 || q << chopped != low), k, flags, rand);
	}
	uint64_t fraction = lost <= 32 ? low << (32 - lost) : lost - 32 < 64 ? low >> (lost - 32) : 0;

	return k > 0 && k < 32 ? rand >> (32 - k) < fraction >> (32 - k) : rand < fraction;
}

/* Returns 1 where the neighbour toward zero, keep * 2^(e - p + 1), counts as even in a tie. With one significant bit
   every number is odd and the larger neighbour wins (IEEE 754-2019, 4.3.1), but in P3109 the one with the even code
   wins. */
HU_HD int
hu_is_even(uint64_t keep, int e, hu_format f)
{
	if (keep && hu_ties_by_code(f))
		return !((e - f.emin + 1) & 1);
	return !(keep & 1);
}

/* Rounds x to format f; values of f stay as they are. Returns a value of f as a double.
     NaN       becomes one quiet NaN, or the largest value where f has no NaN
     infinity  stays; becomes NaN where f has none, and the largest value where f or HU_SATURATE saturates, unless
               HU_PROPAGATE keeps it
     zero      keeps its sign where f has -0; becomes the smallest value where f has no zero
     x < 0     where f has no sign: zero if |x| rounds to zero or under RZ, RU and HU_SATURATE (P3109's rule), else
               NaN; always NaN where f has no zero
   rand holds 32 uniform bits for the modes that draw. Under SR the magnitude is rounded up where rand is below the
   first 32 bits of the discarded fraction (under HU_RANDOM_BITS(k), the first k bits of both are compared, under
   HU_STOCHASTIC_B and _C with the fraction rounded to them); under SRE where rand is below 2^31. fp64 returns x
   unless a flag says otherwise. */
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
		m = a; /* x is subnormal in double: below f's normal range, or in f's own subnormal range */
	else
		m = (a & 0xfffffffffffffu) | 0x10000000000000u;
	p = (flags & HU_NOSUB) && a < hu_bits64(hu_smallest_normal(f)) ? 1 : f.p;
	lost = 53 - p + (e < f.emin ? f.emin - e : 0);
	drop = lost > 63 ? 63 : lost; /* m < 2^53, so that nothing is kept and the fraction stays below 2^-10 */
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

/* The exception flags of IEEE 754, and a rounding with all that it raises. */
enum { HU_INEXACT = 1, HU_UNDERFLOW = 2, HU_OVERFLOW = 4, HU_INVALID = 8 };

typedef struct hu_rounded {
	double value;   /* as hu_round */
	int ternary;    /* sign of value - x, as in MPFR; 0 where one of them is NaN */
	int flags;      /* HU_INEXACT … */
} hu_rounded;

/* Rounds as hu_round does and sets the flags:
     HU_INEXACT    the value changed
     HU_UNDERFLOW  |x| is below the smallest normal number and the value changed
     HU_OVERFLOW   the magnitude, rounded as if exponents were unbounded, exceeds the largest value; or a negative
                   number became the zero of a format without sign
     HU_INVALID    f cannot hold this infinity, NaN or negative number; an infinity overflows instead where f or
                   HU_SATURATE saturates */
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
			out.flags = hu_saturates(f, flags) ? HU_OVERFLOW | HU_INEXACT : HU_INVALID;
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

/* The exponent of the unit in the last place (ulp) at a finite x: max(floor(log2 |x|), emin) - p + 1. */
HU_HD int
hu_ulp_exponent(double x, hu_format f)
{
	int e = x == 0 ? f.emin : hu_exponent(x);

	return (e < f.emin ? f.emin : e) - f.p + 1;
}
#endif
