/* SPDX-License-Identifier: Apache-2.0
   MPFR's functions, as far as references of the kernel judge's tests call them, on numbers of type long double with a
   bound of their error: a reference that is written for MPFR (as_extended.inc gives its calls these names) costs some
   ten nanoseconds an operation, and says itself how far it may be off. Where the bound leaves a branch undecided, or
   where a result is no finite number, extended_open is set, and MPFR has to decide. */
#ifndef HU_T_KERNEL_EXTENDED_H
#define HU_T_KERNEL_EXTENDED_H

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The exact value lies within e of x. */
typedef struct extended {
	long double x, e;
} extended_t[1];
typedef const struct extended *extended_srcptr;
typedef struct extended *extended_ptr;

static int extended_open;

/* An operation in round to nearest errs by at most half of LDBL_EPSILON; what is computed of errors errs relatively as
   little, which the other half covers. Routines of the C library err by at most 2 units in the last place where x87
   computes, glibc says, and powl and erfcl by 5; 8 and 32 of these are allowed for, and the test that MPFR's values lie
   within e holds them to it. Numbers below 2^-16000 count as an error. */
#define EXTENDED_UNIT LDBL_EPSILON
#define EXTENDED_ROUTINE (8 * LDBL_EPSILON)
#define EXTENDED_TINY (LDBL_MIN * 0x1p382L)
#define EXTENDED_HUGE (LDBL_MAX * 0x1p-384L)

static inline void
extended_put(extended_ptr y, long double x, long double e)
{
	y->x = x;
	y->e = e > 0 ? e * (1 + 16 * LDBL_EPSILON) + EXTENDED_TINY : 0;
	if (!(fabsl(x) < EXTENDED_HUGE) && x == x)
		extended_open = 1;
}

/* Exact results keep the error that their operand has. */
static inline void
extended_set(extended_ptr y, extended_srcptr a)
{
	*y = *a;
}

static inline void
extended_set_ld(extended_ptr y, long double x)
{
	*y = (struct extended){ x, 0 };
}

static inline void
extended_neg(extended_ptr y, extended_srcptr a)
{
	*y = (struct extended){ -a->x, a->e };
}

static inline void
extended_abs(extended_ptr y, extended_srcptr a)
{
	*y = (struct extended){ fabsl(a->x), a->e };
}

/* Knuth's sum of two numbers: its rounding error is known exactly. */
static inline void
extended_add(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	long double s = a->x + b->x, t = s - a->x, lost = (a->x - (s - t)) + (b->x - t);

	extended_put(y, s, a->e + b->e + fabsl(lost));
}

static inline void
extended_sub(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	extended_t c;

	extended_neg(c, b);
	extended_add(y, a, c);
}

/* A product that starts from 1 has its first factor exactly. */
static inline void
extended_mul(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	if (a->x == 1 && a->e == 0) {
		extended_set(y, b);
		return;
	}
	long double p = a->x * b->x, low = fabsl(p) < EXTENDED_TINY && a->x != 0 && b->x != 0 ? EXTENDED_TINY : 0;

	extended_put(y, p, a->e * (fabsl(b->x) + b->e) + fabsl(a->x) * b->e + EXTENDED_UNIT * fabsl(p) + low);
}

static inline void
extended_div(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	long double q = a->x / b->x, least = fabsl(b->x) - b->e,
		    low = fabsl(q) < EXTENDED_TINY && a->x != 0 ? EXTENDED_TINY : 0;

	extended_open |= least <= 0;
	extended_put(y, q, (a->e + fabsl(q) * b->e) / least + EXTENDED_UNIT * fabsl(q) + low);
}

static inline void
extended_pow_ui(extended_ptr y, extended_srcptr a, unsigned n)
{
	extended_t p = { { 1, 0 } };

	for (; n; n--)
		extended_mul(p, p, a);
	extended_set(y, p);
}

static inline void
extended_fma(extended_ptr y, extended_srcptr a, extended_srcptr b, extended_srcptr c)
{
	extended_t p;

	extended_mul(p, a, b);
	extended_add(y, p, c);
}

static inline void
extended_fmma(extended_ptr y, extended_srcptr a, extended_srcptr b, extended_srcptr c, extended_srcptr d)
{
	extended_t p;

	extended_mul(p, a, b);
	extended_fma(y, c, d, p);
}

static inline void
extended_fmms(extended_ptr y, extended_srcptr a, extended_srcptr b, extended_srcptr c, extended_srcptr d)
{
	extended_t minus;

	extended_neg(minus, c);
	extended_fmma(y, a, b, minus, d);
}

/* -1, 0 or 1 as a is below, at or above the number b; 0 where one is no number, as MPFR has it. */
static inline int
extended_cmp_ld(extended_srcptr a, long double b)
{
	long double d = a->x - b;

	extended_open |= a->e > 0 && fabsl(d) <= a->e + EXTENDED_UNIT * fabsl(d);
	return (d > 0) - (d < 0);
}

static inline int
extended_cmp(extended_srcptr a, extended_srcptr b)
{
	extended_t wide = { { a->x, a->e + b->e } };

	return extended_cmp_ld(wide, b->x);
}

static inline int
extended_cmpabs(extended_srcptr a, extended_srcptr b)
{
	extended_t p, q;

	extended_abs(p, a);
	extended_abs(q, b);
	return extended_cmp(p, q);
}

static inline int
extended_nan_p(extended_srcptr a)
{
	return a->x != a->x;
}

static inline int
extended_ordered(extended_srcptr a, extended_srcptr b)
{
	return !extended_nan_p(a) && !extended_nan_p(b);
}

static inline void
extended_max(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	*y = (struct extended){ a->x > b->x ? a->x : b->x, a->e > b->e ? a->e : b->e };
}

static inline void
extended_min(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	*y = (struct extended){ a->x < b->x ? a->x : b->x, a->e > b->e ? a->e : b->e };
}

/* A function that is constant between whole numbers, or between their middles. */
#define EXTENDED_STEPS(name, f)                                                                                        \
	static inline void extended_##name(extended_ptr y, extended_srcptr a)                                          \
	{                                                                                                              \
		long double at = f(a->x);                                                                              \
		extended_open |= a->e > 0 && (f(a->x - 2 * a->e) != at || f(a->x + 2 * a->e) != at);                   \
		extended_set_ld(y, at);                                                                                \
	}
EXTENDED_STEPS(floor, floorl)
EXTENDED_STEPS(ceil, ceill)
EXTENDED_STEPS(roundeven, rintl)

/* exp(a), whose relative error is at most expm1(e) < 1.3 e for e up to 1/2. */
static inline void
extended_exp(extended_ptr y, extended_srcptr a)
{
	long double z = expl(a->x);

	extended_open |= a->e > 0.5L || a->x > 11000;
	extended_put(y, z, z * (1.3L * a->e + EXTENDED_ROUTINE) + EXTENDED_TINY);
}

static inline void
extended_exp2(extended_ptr y, extended_srcptr a)
{
	long double z = exp2l(a->x);

	extended_open |= a->e > 0.5L || a->x > 15000;
	extended_put(y, z, z * (a->e + EXTENDED_ROUTINE) + EXTENDED_TINY);
}

static inline void
extended_expm1(extended_ptr y, extended_srcptr a)
{
	long double z = expm1l(a->x);

	extended_open |= a->e > 0.5L || a->x > 11000;
	extended_put(y, z, (a->e > 0 ? (1 + fabsl(z)) * 1.3L * a->e : 0) + EXTENDED_ROUTINE * fabsl(z));
}

/* An operand below `pole` for certain has no value; one that reaches it leaves that open. */
static inline int
extended_undefined(extended_ptr y, extended_srcptr a, long double pole)
{
	extended_open |= a->x - a->e <= pole && a->x + a->e >= pole;
	if (!(a->x < pole))
		return 0;
	extended_set_ld(y, NAN);
	return 1;
}

static inline void
extended_log(extended_ptr y, extended_srcptr a)
{
	if (extended_undefined(y, a, 0))
		return;
	long double z = logl(a->x);
	extended_put(y, z, a->e / (a->x - a->e) + EXTENDED_ROUTINE * fabsl(z));
}

static inline void
extended_log1p(extended_ptr y, extended_srcptr a)
{
	if (extended_undefined(y, a, -1))
		return;
	long double z = log1pl(a->x);
	extended_put(y, z, a->e / ((1 + a->x) * (1 - LDBL_EPSILON) - a->e) + EXTENDED_ROUTINE * fabsl(z));
}

/* |sqrt(t) - sqrt(x)| = |t - x| / (sqrt(t) + sqrt(x)) <= e / sqrt(x). */
static inline void
extended_sqrt(extended_ptr y, extended_srcptr a)
{
	if (a->x == 0 && a->e == 0)
		extended_set_ld(y, 0);
	else if (!extended_undefined(y, a, 0)) {
		long double z = sqrtl(a->x);
		extended_put(y, z, a->e / z + EXTENDED_UNIT * z);
	}
}

/* (1 - d)^(-1/2) - 1 <= d / (1 - d) for the relative error d. */
static inline void
extended_rec_sqrt(extended_ptr y, extended_srcptr a)
{
	if (extended_undefined(y, a, 0))
		return;
	long double z = 1 / sqrtl(a->x);
	extended_put(y, z, z * (a->e / (a->x - a->e) + 3 * EXTENDED_UNIT));
}

/* Functions whose slope is at most SLOPE. */
#define EXTENDED_SMOOTH(name, f, slope)                                                                                \
	static inline void extended_##name(extended_ptr y, extended_srcptr a)                                          \
	{                                                                                                              \
		long double z = f(a->x);                                                                               \
		extended_put(y, z, slope * a->e + EXTENDED_ROUTINE * fabsl(z));                                        \
	}
EXTENDED_SMOOTH(tanh, tanhl, 1)
EXTENDED_SMOOTH(sin, sinl, 1)
EXTENDED_SMOOTH(cos, cosl, 1)
EXTENDED_SMOOTH(erf, erfl, 1.13L)

/* The slope of erfc is at most 2/sqrt(pi) exp(-t^2), t^2 >= x^2 - 2 |x| e. */
static inline void
extended_erfc(extended_ptr y, extended_srcptr a)
{
	long double z = erfcl(a->x), x = a->x, slope = x > 1 ? expl(2 * x * a->e - x * x) : 1;

	slope *= 1.13L * (1 + 4 * x * x * EXTENDED_UNIT);
	extended_put(y, z, slope * a->e + 4 * EXTENDED_ROUTINE * fabsl(z) + EXTENDED_TINY);
}

/* 1 / cosh(a), whose relative slope is below 1. */
static inline void
extended_sech(extended_ptr y, extended_srcptr a)
{
	long double z = 1 / coshl(fabsl(a->x) > 11000 ? 11000 : a->x);

	extended_open |= a->e > 0.5L || fabsl(a->x) > 11000;
	extended_put(y, z, z * (1.3L * a->e + 2 * EXTENDED_ROUTINE) + EXTENDED_TINY);
}

/* Angles whose point may lie on the cut, or at the origin, are open. */
static inline void
extended_atan2(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	long double z = atan2l(a->x, b->x), far = fmaxl(fabsl(a->x) - a->e, fabsl(b->x) - b->e);

	extended_open |= far <= 0 || (b->x <= b->e && fabsl(a->x) <= a->e);
	extended_put(y, z, (a->e + b->e) / far + EXTENDED_ROUTINE * fabsl(z));
}

/* a^b; its relative error is at most expm1(d), d the error of b log a. */
static inline void
extended_pow(extended_ptr y, extended_srcptr a, extended_srcptr b)
{
	long double z = powl(a->x, b->x), m = fabsl(a->x), most = fabsl(b->x) + b->e,
		    d = (a->e > 0 ? most * a->e / (m - a->e) : 0) + (b->e > 0 ? fabsl(logl(m)) * b->e : 0);

	extended_open |= m <= a->e || m == 0 || (a->x < 0 && b->e > 0) || d > 0.5L;
	extended_put(y, z, fabsl(z) * (1.3L * d + 4 * EXTENDED_ROUTINE) + EXTENDED_TINY);
}

/* The same with a number for an operand, whose error is none. */
#define EXTENDED_RIGHT(name)                                                                                           \
	static inline void extended_##name##_d(extended_ptr y, extended_srcptr a, double b)                            \
	{                                                                                                              \
		extended_##name(y, a, (extended_t){ { b, 0 } });                                                       \
	}
#define EXTENDED_LEFT(name)                                                                                            \
	static inline void extended_d_##name(extended_ptr y, double a, extended_srcptr b)                              \
	{                                                                                                              \
		extended_##name(y, (extended_t){ { a, 0 } }, b);                                                       \
	}
EXTENDED_RIGHT(add)
EXTENDED_RIGHT(sub)
EXTENDED_RIGHT(mul)
EXTENDED_RIGHT(div)
EXTENDED_LEFT(sub)
EXTENDED_LEFT(div)
#endif
