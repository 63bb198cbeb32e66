/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded arithmetic for the formats that are too large for arith.h's doubles: fp64, and every other with
   many significant bits or a wide range of exponents. An exact result is an integer of 128 bits with a sticky bit,
   which says that something nonzero was cut off below; it is rounded once. Operands are any doubles. Host and
   device. */
#ifndef HU_NUMBER_WIDE_H
#define HU_NUMBER_WIDE_H

#include "lib/number/round.h"

__extension__ typedef unsigned __int128 hu_u128;

/* The number (-1)^negative (m + s) 2^e, where s = 0, or 0 < s < 1 if sticky is set. A sticky number has an m of 86
   bits or more, so that rounding never needs s itself: 53 for fp64, 32 for a random draw, and one more. */
typedef struct hu_wide { hu_u128 m; int e, negative, sticky; } hu_wide;

/* The number of bits of m, without leading zeros. */
HU_HD int
hu_wide_length(hu_u128 m)
{
	int n = 0;

	for (int step = 64; step; step >>= 1)
		if (m >> step) {
			m >>= step;
			n += step;
		}
	return n + (m != 0);
}

/* Converts a finite double that is not 0. */
HU_HD hu_wide
hu_wide_of(double x)
{
	uint64_t u = hu_bits64(x);
	int field = (int)(u >> 52 & 0x7ff);
	hu_wide r;

	r.m = (u & 0xfffffffffffffu) | (uint64_t)(field != 0) << 52;
	r.e = (field ? field : 1) - 1075;
	r.negative = (int)(u >> 63);
	r.sticky = 0;
	return r;
}

/* Rounds x (m != 0) to f, with ternary value and flags as hu_round_full gives them for the exact number. */
HU_HD hu_rounded
hu_wide_round(hu_wide x, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int top, tiny, p, q, drop, up = 0, even, k = flags >> 8 & 63, above, half;
	uint64_t keep, fraction = 0;
	hu_rounded out = { 0, 0, 0 };
	double r;

	flags |= f.flags;
	if (x.negative && !hu_has_zero(f)) {
		out.value = hu_nan();
		out.flags = HU_INVALID;
		return out;
	}
	top = x.e + hu_wide_length(x.m) - 1;
	tiny = top < f.emin;
	p = tiny && (flags & HU_NOSUB) ? 1 : f.p;
	q = (tiny ? f.emin : top) - p + 1;
	drop = q - x.e;
	if (drop <= 0) {
		keep = (uint64_t)(x.m << -drop);
	} else {
		hu_u128 low = drop < 128 ? x.m & (((hu_u128)1 << drop) - 1) : x.m;
		keep = drop < 128 ? (uint64_t)(x.m >> drop) : 0;
		if (drop <= 64) {
			fraction = (uint64_t)(low << (64 - drop));
		} else if (drop < 192) {
			fraction = (uint64_t)(low >> (drop - 64));
			x.sticky |= (low & (((hu_u128)1 << (drop - 64)) - 1)) != 0;
		} else {
			x.sticky = 1;
		}
	}
	/* half compares the fraction with 1/2: above 1, equal 0, below -1. */
	half = fraction >> 63 ? ((fraction << 1) || x.sticky ? 1 : 0) : -1;
	even = hu_is_even(keep, tiny ? f.emin : top, f);
	if (fraction || x.sticky)
		switch (mode) {
		case HU_RNE: up = half > 0 || (half == 0 && !even); break;
		case HU_RNA: up = half >= 0; break;
		case HU_RNZ: up = half > 0; break;
		case HU_RU: up = !x.negative; break;
		case HU_RD: up = x.negative; break;
		case HU_RO: up = even; break;
		case HU_SR:
			k = k > 0 && k < 32 ? k : 32;
			if (flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)) {
				uint64_t cut = fraction >> (63 - k);
				int sticky = x.sticky || cut << (63 - k) != fraction;
				up = hu_round_draw_rounded(cut, sticky, k, flags, rand);
				break;
			}
			up = rand >> (32 - k) < (uint32_t)(fraction >> 32) >> (32 - k);
			break;
		case HU_SRE: up = rand < 0x80000000u; break;
		case HU_RZ:
		case HU_MODES: break; /* HU_MODES counts them */
		}
	above = up ? 1 : fraction || x.sticky ? -1 : 0;
	r = top > f.emax ? hu_inf(0) : (double)(keep + (uint64_t)up) * hu_pow2(q);
	if (r == 0 || (tiny && (flags & HU_DAZ)) || ((flags & HU_FTZ) && r < hu_smallest_normal(f))) {
		out.value = hu_zero_of(x.negative, f);
		above = hu_has_zero(f) ? -1 : 1;
	} else if (x.negative && !hu_has_sign(f)) {
		up = mode == HU_RZ || mode == HU_RU || (flags & HU_SATURATE);
		out.value = up ? 0 : hu_nan();
		out.flags = up ? HU_OVERFLOW : HU_INVALID;
		above = up ? -1 : 0;
	} else if (r > f.max) {
		out.value = hu_overflow(x.negative, f, mode, flags);
		out.flags = HU_OVERFLOW | HU_INEXACT;
		above = hu_isnan(out.value) ? 0 : hu_isfinite(out.value) ? -1 : 1;
	} else {
		out.value = x.negative ? -r : r;
	}
	out.ternary = x.negative ? -above : above;
	if (above)
		out.flags |= HU_INEXACT | (tiny ? HU_UNDERFLOW : 0);
	return out;
}

/* Shifts m so that its highest bit is bit `top`; 1 bits that fall out set sticky. */
HU_HD hu_wide
hu_wide_shift(hu_wide x, int top)
{
	int left = top + 1 - hu_wide_length(x.m);

	if (left >= 0) {
		x.m <<= left;
	} else {
		x.sticky |= (x.m & (((hu_u128)1 << -left) - 1)) != 0;
		x.m >>= -left;
	}
	x.e -= left;
	return x;
}

/* Returns a + b for numbers that are neither 0 nor sticky and have at most 106 bits each; m = 0 where they cancel.
   With the highest bits at bit 125, a shift by up to 20 loses nothing, and after a longer one at most one leading
   bit cancels. */
HU_HD hu_wide
hu_wide_add(hu_wide a, hu_wide b)
{
	hu_wide t;
	int d;

	a = hu_wide_shift(a, 125);
	b = hu_wide_shift(b, 125);
	if (a.e < b.e || (a.e == b.e && a.m < b.m)) {
		t = a;
		a = b;
		b = t;
	}
	d = a.e - b.e;
	if (d > 126) {
		a.sticky = 1;
		b.m = 0;
	} else {
		a.sticky = (b.m & (((hu_u128)1 << d) - 1)) != 0;
		b.m >>= d;
	}
	if (a.negative == b.negative)
		a.m += b.m;
	else
		a.m -= b.m + (hu_u128)a.sticky; /* a - (b + s) = (a - b - 1) + (1 - s) */
	return a;
}

/* Returns a b for numbers of at most 53 bits each that are neither 0 nor sticky. */
HU_HD hu_wide
hu_wide_mul(hu_wide a, hu_wide b)
{
	a.m *= b.m;
	a.e += b.e;
	a.negative ^= b.negative;
	return a;
}

/* Returns a / b with 126 or 127 bits, divided in two steps. */
HU_HD hu_wide
hu_wide_div(hu_wide a, hu_wide b)
{
	hu_u128 q, r;

	a = hu_wide_shift(a, 52);
	b = hu_wide_shift(b, 52);
	q = (a.m << 74) / b.m;
	r = (a.m << 74) % b.m;
	a.m = q << 52 | (r << 52) / b.m;
	a.sticky = (r << 52) % b.m != 0;
	a.e -= b.e + 126;
	a.negative ^= b.negative;
	return a;
}

/* Returns the square root with 90 bits, one at a time. The invariant is rest = (radicand so far) - root^2 <= 2 root. */
HU_HD hu_wide
hu_wide_sqrt(hu_wide a)
{
	hu_u128 root = 0, rest = 0;

	a = hu_wide_shift(a, 53 - ((a.e + hu_wide_length(a.m)) & 1)); /* makes the exponent even, with 53 or 54 bits */
	for (int i = 0; i < 90; i++) {
		rest = rest << 2 | (i < 27 ? (a.m >> (52 - 2 * i)) & 3 : 0);
		root <<= 1;
		if (rest > root << 1) {
			rest -= root << 1 | 1;
			root |= 1;
		}
	}
	a.m = root;
	a.sticky = rest != 0;
	a.e = a.e / 2 - 63; /* 27 pairs of bits stand before the binary point, 63 behind it */
	return a;
}
#endif
