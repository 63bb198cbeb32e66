/* SPDX-License-Identifier: Apache-2.0
   The numeric types that formula.inc computes with: native float and double ("f32", "f64"), a double
   rounded to a format after each operation ("any", p <= 25), and "bounded": the emulated value together with a proven
   bound on its distance to the exact result. Roundings in computing the bound itself only enlarge it. */
#ifndef HU_OP_NUMERIC_H
#define HU_OP_NUMERIC_H

#include "lib/number/elementary/elementary.h"

enum { HU_CONSTANTS = 12 };

/* The compute format and a call's constants in a numeric type. */
typedef struct hu_ctx_f32 {
	hu_format f;
	float k[HU_CONSTANTS];
} hu_ctx_f32;
typedef struct hu_ctx_f64 {
	hu_format f;
	double k[HU_CONSTANTS];
} hu_ctx_f64;
typedef struct hu_bounded {
	double v, e;
} hu_bounded;
typedef struct hu_ctx_bounded {
	hu_format f;
	hu_bounded k[HU_CONSTANTS];
} hu_ctx_bounded;

/* Whether the double with the bits a, a magnitude, lies between normal numbers of f, where f only drops digits. */
HU_HD int
hu_only_drops(hu_format f, uint64_t a)
{
	return f.p > 1 && f.p < 53 && hu_has_sign(f) && a >= hu_bits64(hu_pow2(f.emin)) && a < hu_bits64(f.max);
}

/* Rounds to nearest even in format f. It uses the processor's own conversion for fp32, and every NaN becomes the one
   quiet NaN. */
HU_HD double
hu_rne(hu_format f, double x)
{
	uint64_t u = hu_bits64(x), a = u & 0x7fffffffffffffffu;

	if (f.id == HU_FP32) {
		float y = (float)x;
		return y == y ? (double)y : hu_nan();
	}
	if (hu_only_drops(f, a)) { /* a carry into the exponent is the next power of two */
		int cut = 53 - f.p;
		a += ((uint64_t)1 << (cut - 1)) - 1 + (a >> cut & 1);
		return hu_from_bits64((u & 0x8000000000000000u) | (a >> cut << cut));
	}
	return hu_round(x, f, HU_RNE, 0, 0);
}

/* The distance between the two numbers of f that enclose x: 0 where x is one of them, +Inf where one is infinite. */
HU_HD double
hu_gap(hu_format f, double x)
{
	uint64_t a = hu_bits64(x) & 0x7fffffffffffffffu;
	double up, down;

	if (hu_only_drops(f, a))
		return a << (f.p + 11) ? hu_pow2((int)(a >> 52) - 1023 - f.p + 1) : 0;
	up = hu_round(x, f, HU_RU, 0, 0);
	down = hu_round(x, f, HU_RD, 0, 0);
	return up == down ? 0 : hu_isfinite(up) && hu_isfinite(down) ? up - down : hu_inf(0);
}

HU_HD double
hu_abs(double x)
{
	return x < 0 ? -x : x;
}

/* Enlarges x by more than all roundings of up to 30 operations on nonnegative doubles can lose. */
HU_HD double
hu_up(double x)
{
	return x * (1 + 0x1p-48) + 0x1p-1065;
}

/* Rounds r to format f, where r is within e of the exact result. A library's operation may have another error than this
   rounding's, so that the format's allowance is added, and what a subnormal result may lose. */
HU_HD hu_bounded
hu_bounded_of(hu_format f, double r, double e)
{
	hu_bounded x;

	x.v = hu_rne(f, r);
	if (f.library > 0)
		e += f.library * (hu_unit(f) * hu_abs(r) + hu_smallest(f));
	x.e = x.v == r && e == 0 ? 0 : hu_up(hu_abs(x.v - r) + e);
	if (!hu_isfinite(x.v) || !(x.e >= 0))
		x.e = hu_inf(0);
	return x;
}

/* An operand that is infinite, as masked scores are, is so exactly, and so is what it is added to; of whatever has
   become infinite otherwise e is infinite. */
HU_HD int
hu_bounded_endless(hu_bounded x)
{
	return hu_abs(x.v) == hu_inf(0) && x.e < hu_inf(0);
}

/* Loads x, which is within e of the exact value, into the compute format. */
HU_HD hu_bounded
hu_bounded_load(hu_format f, double x, double e)
{
	hu_bounded r = { x, 0 };

	f.library = 0;
	return e == 0 && hu_abs(x) == hu_inf(0) && hu_rne(f, x) == x ? r : hu_bounded_of(f, x, e);
}

/* A literal of formula.inc: exact if it fits a float, else taken as the double nearest to the constant meant. */
HU_HD hu_bounded
hu_bounded_literal(hu_format f, double x)
{
	return hu_bounded_load(f, x, (double)(float)x == x ? 0 : hu_abs(x) * 0x1p-53);
}

HU_HD hu_bounded
hu_bounded_literal2(hu_format f, double h, double l)
{
	return (void)l, hu_bounded_literal(f, h);
}

/* What a double operation itself loses. For products of short operands (whose products are exact) this is not needed;
   otherwise it is u |r|, with u = 2^-53, and an underflow. */
HU_HD double
hu_bounded_own(double r)
{
	return hu_abs(r) * 0x1p-53 + 0x1p-1074;
}

HU_HD hu_bounded
hu_bounded_add(hu_format f, hu_bounded a, hu_bounded b)
{
	double s = a.v + b.v, t = s - a.v, lost = (a.v - (s - t)) + (b.v - t); /* exact (Knuth) */

	if (hu_abs(s) == hu_inf(0) && a.e + b.e < hu_inf(0) && (hu_bounded_endless(a) || hu_bounded_endless(b))) {
		a.v = s;
		a.e = 0;
		return a;
	}
	return hu_bounded_of(f, s, hu_abs(lost) + (a.e + b.e));
}

HU_HD hu_bounded
hu_bounded_neg(hu_bounded a)
{
	a.v = -a.v;
	return a;
}

HU_HD hu_bounded
hu_bounded_sub(hu_format f, hu_bounded a, hu_bounded b)
{
	return hu_bounded_add(f, a, hu_bounded_neg(b));
}

HU_HD hu_bounded
hu_bounded_abs(hu_bounded a)
{
	a.v = hu_abs(a.v);
	return a;
}

/* Uses that |min(a, b) - min(a', b')| is at most the larger of |a - a'| and |b - b'|. */
HU_HD hu_bounded
hu_bounded_min(hu_bounded a, hu_bounded b)
{
	hu_bounded r = b.v < a.v ? b : a;

	r.e = a.e < b.e ? b.e : a.e;
	return r;
}

HU_HD hu_bounded
hu_bounded_mul(hu_format f, hu_bounded a, hu_bounded b)
{
	double p = a.v * b.v, e = 0;

	if (a.e != 0 || b.e != 0)
		e = hu_up(hu_abs(a.v) * b.e + hu_abs(b.v) * a.e + a.e * b.e);
	if (f.p >= 53)
		e += hu_bounded_own(p);
	return hu_bounded_of(f, p, e);
}

HU_HD hu_bounded
hu_bounded_div(hu_format f, hu_bounded a, hu_bounded b)
{
	double q = a.v / b.v, gap = (hu_abs(b.v) - b.e) * (1 - 0x1p-50), e = 0;

	if (a.e != 0 || b.e != 0)
		e = gap > 0 ? hu_up((a.e + hu_abs(q) * b.e) / gap) : hu_inf(0);
	/* If q is in the format and q times b is a, q has no rounding error in double. */
	return hu_bounded_of(f, q, e + (f.p < 26 && hu_rne(f, q) == q && q * b.v == a.v ? 0 : hu_bounded_own(q)));
}

/* The exact operand must be nonnegative. */
HU_HD hu_bounded
hu_bounded_sqrt(hu_format f, hu_bounded a)
{
	double s = sqrt(a.v), e = 0;

	if (a.e != 0) {
		e = hu_up(sqrt(a.e));
		if (a.v > a.e && a.e / s < e)
			e = hu_up(a.e / s);
	}
	return hu_bounded_of(f, s, e + hu_bounded_own(s));
}

HU_HD hu_bounded
hu_bounded_exp(hu_format f, hu_bounded a)
{
	double x = hu_exp(a.v), e = 0;

	if (a.e != 0) /* exp(e) - 1 <= e (1 + e) for e <= 1 */
		e = a.e <= 1 ? hu_up((x + 0x1p-1070) * (a.e + a.e * a.e)) : hu_exp(a.v + a.e) * (1 + 0x1p-40) + x;
	return hu_bounded_of(f, x, e + x * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

HU_HD hu_bounded
hu_bounded_log(hu_format f, hu_bounded a)
{
	double l = hu_log(a.v), gap = (a.v - a.e) * (1 - 0x1p-50),
	       e = a.e == 0  ? 0
		   : gap > 0 ? hu_up(a.e / gap)
			     : hu_inf(0);

	return hu_bounded_of(f, l, e + hu_abs(l) * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

/* The slopes of erf and tanh are at most 2 / sqrt(pi) < 1.1284 and 1. */
HU_HD hu_bounded
hu_bounded_erf(hu_format f, hu_bounded a)
{
	double r = hu_erf(a.v);

	return hu_bounded_of(f, r, hu_up(1.1284 * a.e) + hu_abs(r) * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

HU_HD hu_bounded
hu_bounded_tanh(hu_format f, hu_bounded a)
{
	double r = hu_tanh(a.v);

	return hu_bounded_of(f, r, a.e + hu_abs(r) * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

/* Both slopes are at most 1, and no two values are more than 2 apart. */
HU_HD hu_bounded
hu_bounded_sin(hu_format f, hu_bounded a)
{
	double r = hu_sin(a.v);

	return hu_bounded_of(f, r, (a.e < 2 ? a.e : 2) + hu_abs(r) * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

HU_HD hu_bounded
hu_bounded_cos(hu_format f, hu_bounded a)
{
	double r = hu_cos(a.v);

	return hu_bounded_of(f, r, (a.e < 2 ? a.e : 2) + hu_abs(r) * HU_ELEMENTARY_ERROR);
}

/* The angle of the point (x, y), y being a. Over a box of points whose distance from the origin is at least gap its
   slopes add up to no more than 1 / gap for each coordinate; no two values are more than a turn apart, and so far apart
   are the two sides of the negative half of the x axis. */
HU_HD hu_bounded
hu_bounded_atan2(hu_format f, hu_bounded a, hu_bounded b)
{
	double r = hu_atan2(a.v, b.v), high = hu_abs(a.v) - a.e, wide = hu_abs(b.v) - b.e, e = 0,
	       gap = (high > wide ? high : wide) * (1 - 0x1p-50);

	if (a.e != 0 || b.e != 0)
		e = (a.e != 0 && high <= 0 && b.v - b.e <= 0) || !(gap > 0) ? 6.2832 : hu_up((a.e + b.e) / gap);
	return hu_bounded_of(f, r, (e < 6.2832 ? e : 6.2832) + hu_abs(r) * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

/* The slope of the sigmoid is at most 1/4, and at most the function itself, which grows by a factor of exp(e) over a
   distance e. */
HU_HD hu_bounded
hu_bounded_sigmoid(hu_format f, hu_bounded a)
{
	double r = hu_sigmoid(a.v), e = 0.25 * a.e;

	if (a.e <= 1 && (r + 0x1p-1070) * (a.e + 2 * a.e * a.e) < e) /* exp(e) - 1 <= e + 2 e^2 */
		e = (r + 0x1p-1070) * (a.e + 2 * a.e * a.e);
	return hu_bounded_of(f, r, hu_up(e) + r * HU_ELEMENTARY_ERROR + 0x1p-1070);
}

/* exp(e) - 1 <= e (1 + e) for e <= 1. */
HU_HD hu_bounded
hu_bounded_expm1(hu_format f, hu_bounded a)
{
	double r = hu_expm1(a.v), x = hu_exp(a.v), e = 0;

	if (a.e != 0)
		e = a.e <= 1 ? hu_up((x + 0x1p-1070) * (a.e + a.e * a.e)) : hu_exp(a.v + a.e) * (1 + 0x1p-40) + x + 1;
	return hu_bounded_of(f, r, e + hu_abs(r) * HU_ELEMENTARY_ERROR + (r == 0 ? 0 : 0x1p-1070));
}

HU_HD hu_bounded
hu_bounded_log1p(hu_format f, hu_bounded a)
{
	double l = hu_log1p(a.v), gap = (1 + a.v - a.e) * (1 - 0x1p-50) - 0x1p-51,
	       e = a.e == 0  ? 0
		   : gap > 0 ? hu_up(a.e / gap)
			     : hu_inf(0);

	return hu_bounded_of(f, l, e + hu_abs(l) * HU_ELEMENTARY_ERROR + (a.v == 0 ? 0 : 0x1p-1070));
}

/* The slope of 1/sqrt(x) is -1/2 x^(-3/2). */
HU_HD hu_bounded
hu_bounded_rsqrt(hu_format f, hu_bounded a)
{
	double r = hu_rsqrt(a.v), gap = (a.v - a.e) * (1 - 0x1p-50),
	       e = a.e == 0  ? 0
		   : gap > 0 ? hu_up(a.e / gap / sqrt(gap))
			     : hu_inf(0);

	return hu_bounded_of(f, r, e + hu_abs(r) * HU_ELEMENTARY_ERROR);
}

/* |y' log x' - y log x| <= |y| |log x' - log x| + |y' - y| |log x'|. */
HU_HD hu_bounded
hu_bounded_pow(hu_format f, hu_bounded a, hu_bounded b)
{
	double r = hu_pow(a.v, b.v), gap = (a.v - a.e) * (1 - 0x1p-50), e = 0, by;

	if (a.e != 0 || b.e != 0) {
		by = gap > 0 ? a.e / gap : hu_inf(0);
		by = hu_up(hu_abs(b.v) * by + (hu_abs(hu_log(a.v)) + by) * b.e);
		e = by < 700 ? hu_up(hu_abs(r) * hu_expm1(by) * (1 + 0x1p-40) + 0x1p-1070) : hu_inf(0);
	}
	return hu_bounded_of(f, r, e + (r == 0 && a.v == 0 ? 0 : hu_abs(r) * HU_POW_ERROR + 0x1p-1060));
}

/* Functions that only rise, in steps: an operand's error moves them at most to their values at its ends. */
#define HU_BOUNDED_STEP(NAME)                                                                                          \
	HU_HD hu_bounded hu_bounded_##NAME(hu_format f, hu_bounded a)                                                  \
	{                                                                                                              \
		double s = a.e == 0 ? 0 : hu_up(a.e) + hu_abs(a.v) * 0x1p-52, v = hu_##NAME(a.v);                      \
		double up = hu_##NAME(a.v + s) - v, down = v - hu_##NAME(a.v - s);                                     \
		return hu_bounded_of(f, v, s == 0 ? 0 : up > down ? up : down);                                        \
	}
HU_BOUNDED_STEP(rint)
HU_BOUNDED_STEP(floor)
HU_BOUNDED_STEP(ceil)
HU_BOUNDED_STEP(sign)
#undef HU_BOUNDED_STEP

/* Whether a and b, or the exact values that they stand for, may compare otherwise than the values do. */
HU_HD double
hu_bounded_unsure(hu_bounded a, hu_bounded b)
{
	double s = a.e + b.e;

	if (s == 0)
		return 0;
	return hu_abs(a.v - b.v) > hu_up(s) + (hu_abs(a.v) + hu_abs(b.v)) * 0x1p-52 ? 0 : 1;
}

HU_HD hu_bounded
hu_bounded_less(hu_format f, hu_bounded a, hu_bounded b)
{
	return hu_bounded_of(f, a.v < b.v, hu_bounded_unsure(a, b));
}

HU_HD hu_bounded
hu_bounded_equal(hu_format f, hu_bounded a, hu_bounded b)
{
	return hu_bounded_of(f, a.v == b.v, hu_bounded_unsure(a, b));
}

/* y <= 0 ? b : a (a NaN takes a) if the sign of y is certain; else the bound covers both. */
HU_HD hu_bounded
hu_bounded_pick(hu_bounded y, hu_bounded a, hu_bounded b)
{
	hu_bounded r = !(y.v <= 0) ? a : b;

	if (y.e != 0 && !(hu_abs(y.v) > y.e))
		r.e = hu_up(a.e + b.e + hu_abs(a.v - b.v));
	return r;
}
#endif
