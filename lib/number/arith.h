/* SPDX-License-Identifier: Apache-2.0
   Correctly rounded +, -, *, /, sqrt and fma in a format: the exact result is rounded once, in any mode. For most
   formats the result is first computed in double and rounded to odd: an inexact result gets an odd last bit, after
   which a second rounding to at most 51 bits gives what a single one would (Boldo and Melquiond, Emulation of FMA
   and correctly rounded sums, IEEE TC 57, 2008). fp64 and formats of similar size use integers (wide.h). Host and
   device. */
#ifndef HU_NUMBER_ARITH_H
#define HU_NUMBER_ARITH_H

#include "lib/number/round.h"
#include "lib/number/wide.h"

#include <math.h>

/* Returns 1 where double arithmetic is enough for f: products are exact in double (2p <= 53) and nothing leaves
   double's range. That holds for fp32 and all narrower rows of formats.def, not for fp64; fp64 and the other formats
   go through wide.h, which is some ten times slower. */
HU_HD int
hu_arith_serves(hu_format f)
{
	return f.p <= 26 && f.emin - f.p >= -300 && f.emax <= 300;
}

/* Turns s, the exact result rounded to nearest, into the exact result rounded to odd. error has the sign of exact -
   s. */
HU_HD double
hu_arith_odd(double s, double error)
{
	uint64_t u = hu_bits64(s);

	if (error == 0 || !hu_isfinite(s) || (u & 1))
		return s;
	return hu_from_bits64((error > 0) == (s > 0) ? u | 1 : u - 1);
}

/* Returns x + y rounded to odd. The error of the sum is exact (Knuth's TwoSum). */
HU_HD double
hu_arith_sum_odd(double x, double y)
{
	double s = x + y, t = s - x;

	return hu_arith_odd(s, (x - (s - t)) + (y - t));
}

/* Rounds a result to f. A NaN is flagged as invalid unless an operand was NaN. */
HU_HD hu_rounded
hu_arith_finish(double exact, int from_nan, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	hu_rounded r = hu_round_full(exact, f, mode, flags, rand);

	if (hu_isnan(exact) && !from_nan)
		r.flags |= HU_INVALID;
	return r;
}

/* The same for an exact number w; where w is zero, x stands for it: a zero or a special value. */
HU_HD hu_rounded
hu_arith_finish_wide(hu_wide w, double x, int from_nan, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	return w.m ? hu_wide_round(w, f, mode, flags, rand) : hu_arith_finish(x, from_nan, f, mode, flags, rand);
}

/* The operand x, or a zero of its sign where HU_DAZ flushes it. */
HU_HD double
hu_arith_operand(double x, hu_format f, int flags)
{
	return (flags & HU_DAZ) && x < hu_smallest_normal(f) && -x < hu_smallest_normal(f) ? x * 0.0 : x;
}

HU_HD int
hu_arith_is_number(double x)
{
	return hu_isfinite(x) && x != 0;
}

/* Returns a b + c, correctly rounded; the functions below are like it. Operands are values of f, or of any format
   that hu_arith_serves if it serves f too, else any doubles. flags are those of hu_round; HU_DAZ acts on the
   operands alone, not on the result. An exact zero sum of numbers of unlike sign is +0, and -0 under RD. */
HU_HD hu_rounded
hu_arith_fma(double a, double b, double c, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int from_nan = hu_isnan(a) || hu_isnan(b) || hu_isnan(c);
	double x, y, s;

	a = hu_arith_operand(a, f, flags);
	b = hu_arith_operand(b, f, flags);
	c = hu_arith_operand(c, f, flags);
	flags &= ~HU_DAZ;
	if (!hu_arith_serves(f) && hu_arith_is_number(a) && hu_arith_is_number(b) && hu_isfinite(c)) {
		hu_wide w = hu_wide_mul(hu_wide_of(a), hu_wide_of(b));
		if (c != 0)
			w = hu_wide_add(w, hu_wide_of(c));
		return hu_arith_finish_wide(w, mode == HU_RD ? -0.0 : 0.0, 0, f, mode, flags, rand);
	}
	x = a * b;
	y = c;
	/* The product a * b may overflow here although the exact product is finite. */
	if (!hu_isfinite(c) && hu_isfinite(a) && hu_isfinite(b))
		x = 0;
	s = hu_arith_sum_odd(x, y);
	if (s == 0 && mode == HU_RD && (hu_bits64(x) >> 63) != (hu_bits64(y) >> 63))
		s = -0.0;
	return hu_arith_finish(s, from_nan, f, mode, flags, rand);
}

HU_HD hu_rounded
hu_arith_add(double a, double b, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	return hu_arith_fma(
		hu_arith_operand(a, f, flags), 1, hu_arith_operand(b, f, flags), f, mode, flags & ~HU_DAZ, rand);
}

HU_HD hu_rounded
hu_arith_sub(double a, double b, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	return hu_arith_add(a, -b, f, mode, flags, rand);
}

HU_HD hu_rounded
hu_arith_mul(double a, double b, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int from_nan = hu_isnan(a) || hu_isnan(b);

	a = hu_arith_operand(a, f, flags);
	b = hu_arith_operand(b, f, flags);
	flags &= ~HU_DAZ;
	if (!hu_arith_serves(f) && hu_arith_is_number(a) && hu_arith_is_number(b))
		return hu_wide_round(hu_wide_mul(hu_wide_of(a), hu_wide_of(b)), f, mode, flags, rand);
	return hu_arith_finish(a * b, from_nan, f, mode, flags, rand);
}

HU_HD hu_rounded
hu_arith_div(double a, double b, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int from_nan = hu_isnan(a) || hu_isnan(b);
	double q, rest = 0;

	a = hu_arith_operand(a, f, flags);
	b = hu_arith_operand(b, f, flags);
	flags &= ~HU_DAZ;
	if (!hu_arith_serves(f) && hu_arith_is_number(a) && hu_arith_is_number(b))
		return hu_wide_round(hu_wide_div(hu_wide_of(a), hu_wide_of(b)), f, mode, flags, rand);
	q = a / b;
	if (hu_isfinite(q) && hu_isfinite(b) && q != 0)
		rest = fma(-q, b, a); /* the exact remainder */
	return hu_arith_finish(hu_arith_odd(q, b > 0 ? rest : -rest), from_nan, f, mode, flags, rand);
}

HU_HD hu_rounded
hu_arith_sqrt(double a, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int from_nan = hu_isnan(a);
	double s, rest = 0;

	a = hu_arith_operand(a, f, flags);
	flags &= ~HU_DAZ;
	if (!hu_arith_serves(f) && hu_arith_is_number(a) && a > 0)
		return hu_wide_round(hu_wide_sqrt(hu_wide_of(a)), f, mode, flags, rand);
	s = sqrt(a);
	if (hu_isfinite(s) && s != 0)
		rest = fma(-s, s, a);
	return hu_arith_finish(hu_arith_odd(s, rest), from_nan, f, mode, flags, rand);
}
#endif
