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

enum { HU_SATURATE = 1 }; /* overflow gives the largest finite value, and so does an infinity */

/* What a magnitude beyond max finite becomes: IEEE 754's rule for the mode;
   formats without infinities give NaN instead of one. */
HU_HD double
hu_overflow(int negative, hu_format f, hu_mode mode, int flags)
{
	int to_max = (flags & HU_SATURATE) || mode == HU_RZ || mode == HU_RO || (mode == HU_RU && negative) || (mode == HU_RD && !negative);

	if (to_max)
		return negative ? -f.max : f.max;
	return hu_has_inf(f) ? hu_inf(negative) : hu_nan();
}

/* Rounds x to format f. Exact where x is in f. The result is f's value as a
   double. -0 and NaN are kept (one quiet NaN); infinities stay, become NaN in a
   format without them, or max finite under HU_SATURATE. Subnormals are kept.
   RAND: 32 uniform bits, used by SR alone: the magnitude grows when RAND is
   below the discarded fraction's first 32 bits. f = fp64 returns x. */
HU_HD double
hu_round(double x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	uint64_t u = hu_bits64(x), a = u & 0x7fffffffffffffffu, m, low, half, keep;
	int negative = (int)(u >> 63), e, drop, up;
	double r;

	if (a > 0x7ff0000000000000u)
		return hu_nan();
	if (a == 0x7ff0000000000000u)
		return (flags & HU_SATURATE) ? (negative ? -f.max : f.max) : hu_has_inf(f) ? x : hu_nan();
	if (a == 0 || f.p >= 53)
		return x;
	e = (int)(a >> 52) - 1023;
	if (e == -1023)
		e = -1022, m = a; /* a double's subnormal: far below every other format's range */
	else
		m = (a & 0xfffffffffffffu) | 0x10000000000000u;
	drop = 53 - f.p + (e < f.emin ? f.emin - e : 0);
	if (drop > 63)
		drop = 63; /* m < 2^53: nothing is kept, and the fraction stays below 2^-10 */
	keep = m >> drop;
	low = m & (((uint64_t)1 << drop) - 1);
	half = (uint64_t)1 << (drop - 1);
	switch (mode) {
	case HU_RNE: up = low > half || (low == half && (keep & 1)); break;
	case HU_RNA: up = low >= half; break;
	case HU_RU: up = low != 0 && !negative; break;
	case HU_RD: up = low != 0 && negative; break;
	case HU_RO: up = low != 0 && !(keep & 1); break;
	case HU_SR: {
		int lost = 53 - f.p + (e < f.emin ? f.emin - e : 0);
		uint64_t frac = lost <= 32 ? low << (32 - lost) : lost - 32 < 64 ? (lost <= 63 ? low : m) >> (lost - 32) : 0;
		up = rand < frac;
		break;
	}
	default: up = 0; break;
	}
	keep += (uint64_t)up;
	r = (double)keep * hu_pow2((e < f.emin ? f.emin : e) - f.p + 1);
	if (r > f.max)
		return hu_overflow(negative, f, mode, flags);
	return negative ? -r : r;
}

/* Exponent of the unit in the last place at x (finite): max(floor(log2|x|), emin) - p + 1. */
HU_HD int
hu_ulp_exponent(double x, hu_format f)
{
	int e = x == 0 ? f.emin : hu_exponent(x);

	return (e < f.emin ? f.emin : e) - f.p + 1;
}
#endif
