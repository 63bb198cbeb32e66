/* SPDX-License-Identifier: Apache-2.0
   The elementary functions of a float in double-double, relative error at most
   DD_ELEMENTARY_ERROR = 2^-80: the screen that every result of lib/number/elementary/elementary.h
   passes. Nothing is shared with that file. Each bound is derived beside its function,
   far below that one; t/number/elementary/u-screen.c compares with MPFR. Table entries belong to a block
   of neighbouring arguments (dd_near), so that loops over one have no look-up; where one is too wide, dd_near_… says
   so. */
#ifndef HU_T_DD_ELEMENTARY_H
#define HU_T_DD_ELEMENTARY_H

#include "lib/number/round.h"
#include "t/oracle/dd.h"

#define DD_ELEMENTARY_ERROR 0x1p-80

enum { DD_POWERS = 128, DD_FIRST = 90, DD_RECIPROCALS = 96, DD_CENTRES = 674, DD_ERF_TERMS = 22,
	DD_ERFC_TERMS = 13, DD_TURN_PARTS = 5, DD_TURNS = 129, DD_SIN_TERMS = 12, DD_COS_TERMS = 13 };

/* Constants, rounded to double-double by MPFR (relative error 2^-106) when the program starts. */
typedef struct dd_constants {
	double ln2_128[3];                       /* ln 2 / 128 in 37 + 53 + 53 bits */
	dd ln2;
	dd factorial[6], inverse[8];             /* 1 / k!, 1 / k */
	dd power[DD_POWERS];                     /* 2^(j / 128) */
	double reciprocal[DD_RECIPROCALS];       /* of (DD_FIRST + i) / 128, in 10 bits */
	dd minus_log[DD_RECIPROCALS];            /* -log of that */
	dd erf[DD_ERF_TERMS];                    /* coefficients of x^(2k+1) */
	dd half_pi, sin[DD_SIN_TERMS], cos[DD_COS_TERMS];  /* 1 / (2k + 1)!, 1 / (2k)!, with their signs */
	double turn[DD_TURNS][DD_TURN_PARTS];    /* 2^(e-24) 2 / pi modulo 4, parts of 29 bits, the least of 2^-143 */
	dd erfc[DD_CENTRES][DD_ERFC_TERMS];      /* Taylor coefficients of exp(x^2) erfc(x) at i / 64 */
} dd_constants;

extern dd_constants dd_c;

/* Fills dd_c; returns the largest remainder that the Taylor expansions of exp(x^2) erfc(x)
   leave, relative to the function. Once, before threads start. */
double dd_constants_init(void);

/* What the arguments of one block share. */
typedef struct dd_near {
	double n;                                /* exp: the nearest multiple of ln 2 / 128 */
	dd power;                                /* 2^(n / 128) */
	double k, scale, c;                      /* log: the binade, 2^-k, a reciprocal of the significand */
	dd minus_log;                            /* -log c */
	double centre;
	double whole, turn[DD_TURN_PARTS];       /* sin, cos: what makes an argument whole, and the turns of 1 */
	dd erfc[DD_ERFC_TERMS];                  /* there */
} dd_near;

/* exp(r) - 1 for |r| < 2^-6: r (1 + r/2 + r^2/6 + r^3/24 + r^4/120 + r^5 q) with q in double. Relative to r: q's
   roundings and r^5's make 12u 2^-30 / 720 < 2^-88; what follows r^11 / 11! is below 2^-66 / 12! < 2^-94; 5 products
   and sums, 75u^2. */
DD dd
dd_expm1_small(dd r)
{
	double x = r.hi, q = 1.0 / 39916800;
	dd s;

	q = q * x + 1.0 / 3628800;
	q = q * x + 1.0 / 362880;
	q = q * x + 1.0 / 40320;
	q = q * x + 1.0 / 5040;
	q = q * x + 1.0 / 720;
	s = dd_add_small(dd_c.factorial[5], dd_of(q * x));
	s = dd_add_small(dd_c.factorial[4], dd_mul(r, s));
	s = dd_add_small(dd_c.factorial[3], dd_mul(r, s));
	s = dd_add_small(dd_c.factorial[2], dd_mul(r, s));
	s = dd_add_small(dd_of(1), dd_mul(r, s));
	return dd_mul(r, s);
}

/* Sets what a block of arguments from A to B shares, of which C is the middle, |c| < 170 (2^(n / 128) is then a normal
   double); returns whether the bound on |r| holds at both ends, hence everywhere. */
static inline int
dd_near_exp(dd_near *near, double a, double c, double b)
{
	int i, j;

	near->n = (c * 0x1.71547652b82fep+7 + 0x1.8p52) - 0x1.8p52;
	if (!(near->n > -32000 && near->n < 32000))
		return 0;
	i = (int)near->n;
	j = i & (DD_POWERS - 1);
	near->power = dd_scale(dd_c.power[j], hu_pow2((i - j) / DD_POWERS));
	c = near->n * 0x1.62e42fefa39efp-8; /* ln 2 / 128 */
	return __builtin_fabs(a - c) < 0x1.ffp-7 && __builtin_fabs(b - c) < 0x1.ffp-7 &&
	       (near->n == 0 || __builtin_fabs(a) > 0x1.5fp-9);
}

/* a = n ln 2 / 128 + r, |r| < 2^-6, |n| < 2^15: the first part's product is exact (15 + 37 bits), so are the difference
   and the second product; the third's rounding is below 2^-130. r's error is 6u^2 |r| + 2^-128, and none where n = 0.
 */
DD dd
dd_exp_reduce(double a, const dd_near *near)
{
	dd r = dd_two_sum(a, -near->n * dd_c.ln2_128[0]);

	r = dd_add(r, dd_neg(dd_two_product(near->n, dd_c.ln2_128[1])));
	return dd_add(r, dd_of(-near->n * dd_c.ln2_128[2]));
}

/* T + T p with |p| < 2^-5.9: r's error 2^-128, the polynomial's 2^-87 2^-6, the operations 20u^2: below 2^-92. */
DD dd
dd_exp(double a, const dd_near *near)
{
	dd p = dd_expm1_small(dd_exp_reduce(a, near));

	return dd_add_small(near->power, dd_mul(near->power, p));
}

/* (T - 1) + T p; n = 0: p itself. Otherwise |a| > 0.99 ln 2 / 256, so that the sum is above 2^-8.6 and above 0.4 |T -
   1|; errors of 20u^2 T and 2^-92 T become at most 2^-83. */
DD dd
dd_expm1(double a, const dd_near *near)
{
	dd p = dd_expm1_small(dd_exp_reduce(a, near));

	if (near->n == 0)
		return p;
	return dd_add(dd_add(near->power, dd_of(-1)), dd_mul(near->power, p));
}

/* log(1 + r) for |r| < 2^-7: relative to r, q's roundings 12u 2^-35 / 6 < 2^-86, what follows r^12 / 12
   2^-84 / 13 < 2^-87, six products and sums 100u^2. */
DD dd
dd_log1p_small(dd r)
{
	double x = r.hi, q = -1.0 / 12;
	dd s;

	q = q * x + 1.0 / 11;
	q = q * x - 1.0 / 10;
	q = q * x + 1.0 / 9;
	q = q * x - 1.0 / 8;
	q = q * x + 1.0 / 7;
	q = q * x - 1.0 / 6;
	s = dd_add_small(dd_c.inverse[5], dd_of(q * x));
	s = dd_add_small(dd_neg(dd_c.inverse[4]), dd_mul(r, s));
	s = dd_add_small(dd_c.inverse[3], dd_mul(r, s));
	s = dd_add_small(dd_neg(dd_c.inverse[2]), dd_mul(r, s));
	s = dd_add_small(dd_of(1), dd_mul(r, s));
	return dd_mul(r, s);
}

/* The same for logarithms: u > 0, u = 2^k m, m in [0.703, 1.407). */
static inline int
dd_near_log(dd_near *near, double a, double u, double b)
{
	int k = (int)((hu_bits64(u) - 0x3fe6800000000000u + ((uint64_t)1024 << 52)) >> 52) -
		1024; /* 0.703125 = 90 / 128 */
	int i = (int)(u * hu_pow2(-k) * 128 + 0.5) - DD_FIRST;

	near->k = k;
	near->scale = hu_pow2(-k);
	near->c = dd_c.reciprocal[i];
	near->minus_log = dd_c.minus_log[i];
	return __builtin_fabs(a * near->scale * near->c - 1) < 0x1.ffp-8 &&
	       __builtin_fabs(b * near->scale * near->c - 1) < 0x1.ffp-8;
}

/* log u: r = c m - 1. The product's parts and the difference are exact, c lo is rounded (u^2); where c = 1 there is
   neither. k ln 2 - log c + log(1 + r): k = 0 and c = 1 leave the last alone; k = 0 leaves a result of at least 2^-8.1
   with errors of 10u^2 |log c| and u^2; otherwise it is at least 0.34 with errors of 10u^2 k ln 2. All below 2^-85. */
DD dd
dd_log_dd(dd u, const dd_near *near)
{
	dd m = dd_scale(u, near->scale), p = dd_two_product(m.hi, near->c), r, s;

	r = dd_two_sum(p.hi - 1, __builtin_fma(m.lo, near->c, p.lo));
	s = dd_add(dd_mul_d(dd_c.ln2, near->k), near->minus_log);
	return dd_add(s, dd_log1p_small(r));
}

DD dd dd_log(double x, const dd_near *near) { return dd_log_dd(dd_of(x), near); }
DD dd dd_log1p(double x, const dd_near *near) { return dd_log_dd(dd_two_sum(1, x), near); } /* 1 + x is exact */

/* E / (E + 2), E = exp(2|x|) - 1: the sum no smaller than E, so twice E's error and 20u^2. */
DD dd
dd_tanh(double x, const dd_near *near)
{
	dd e = dd_expm1(2 * __builtin_fabs(x), near);

	return dd_mul_d(dd_div(e, dd_add(e, dd_of(2))), __builtin_copysign(1, x));
}

/* e = exp(-|x|): 1 / (1 + e) or e / (1 + e), twice e's error and 20u^2. */
DD dd
dd_sigmoid(double x, const dd_near *near)
{
	dd e = dd_exp(-__builtin_fabs(x), near), n;

	n.hi = x < 0 ? e.hi : 1;
	n.lo = x < 0 ? e.lo : 0;
	return dd_div(n, dd_add(dd_of(1), e));
}

/* y = fl(1 / fl(sqrt x)) has error d, |d| <= 2.1u; y + y (1 - x y^2) / 2 leaves 3/2 d^2 and the rounding of the
   correction, both below 10u^2; x y^2 is taken with all its bits but the last product's. */
DD dd
dd_rsqrt(double x, const dd_near *near)
{
	double y = 1 / __builtin_sqrt(x), rest;
	dd s = dd_two_product(y, y), p = dd_two_product(x, s.hi);

	(void)near;
	rest = ((1 - p.hi) - p.lo) - x * s.lo;
	return dd_fast_sum(y, y * rest * 0.5);
}

/* |x| <= 1/2: the alternating series in z = x^2 (exact: 48 bits). Terms from the eighth on in double: relative to the
   first below 2^-35, so 12u 2^-35 < 2^-84; what follows the 22nd is below 2^-44 / 22! / 45. Each sum's second part is
   below 0.09 of its first; 8 products and sums 120u^2. */
DD dd
dd_erf_small(double x, const dd_near *near)
{
	double z = x * x, q = dd_c.erf[21].hi;
	dd s;

	(void)near;
	q = q * z + dd_c.erf[20].hi;
	q = q * z + dd_c.erf[19].hi;
	q = q * z + dd_c.erf[18].hi;
	q = q * z + dd_c.erf[17].hi;
	q = q * z + dd_c.erf[16].hi;
	q = q * z + dd_c.erf[15].hi;
	q = q * z + dd_c.erf[14].hi;
	q = q * z + dd_c.erf[13].hi;
	q = q * z + dd_c.erf[12].hi;
	q = q * z + dd_c.erf[11].hi;
	q = q * z + dd_c.erf[10].hi;
	q = q * z + dd_c.erf[9].hi;
	q = q * z + dd_c.erf[8].hi;
	s = dd_add_small(dd_c.erf[7], dd_of(q * z));
	s = dd_add_small(dd_c.erf[6], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[5], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[4], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[3], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[2], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[1], dd_mul_d(s, z));
	s = dd_add_small(dd_c.erf[0], dd_mul_d(s, z));
	return dd_mul_d(s, x);
}

/* And for erfc, 0.5 <= a. */
static inline int
dd_near_erfc(dd_near *near, double a, double c, double b)
{
	int i = c < 10.5 ? (int)(c * 64 + 0.5) : DD_CENTRES - 1;

	near->centre = i * 0.015625;
	for (int k = 0; k < DD_ERFC_TERMS; k++)
		near->erfc[k] = dd_c.erfc[i][k];
	return dd_near_exp(near, -(a * a), -(c * c), -(b * b)) && __builtin_fabs(a - near->centre) < 0x1.5p-7 &&
	       __builtin_fabs(b - near->centre) < 0x1.5p-7;
}

/* erfc(a) = exp(-a^2) (the square is exact) times Taylor's polynomial at the centre, |t| <= 2^-6.6. The second factor
   is completely monotone: its coefficients alternate, and |y_(k+1)| <= 1.2 |y_k| here (dd_constants_init looks at
   that and at the remainder). Terms from the sixth on in double: 12u 2^-39 1.2^6 < 2^-84. */
DD dd
dd_erfc_large(double a, const dd_near *near)
{
	double t = a - near->centre, q = near->erfc[12].hi;
	const dd *c = near->erfc;
	dd s;

	q = q * t + c[11].hi;
	q = q * t + c[10].hi;
	q = q * t + c[9].hi;
	q = q * t + c[8].hi;
	q = q * t + c[7].hi;
	q = q * t + c[6].hi;
	s = dd_add_small(c[5], dd_of(q * t));
	s = dd_add_small(c[4], dd_mul_d(s, t));
	s = dd_add_small(c[3], dd_mul_d(s, t));
	s = dd_add_small(c[2], dd_mul_d(s, t));
	s = dd_add_small(c[1], dd_mul_d(s, t));
	s = dd_add_small(c[0], dd_mul_d(s, t));
	return dd_mul(dd_exp(-(a * a), near), s);
}

/* 1 - erfc >= 0.52 where erfc <= 0.48: no more than its error again. */
DD dd
dd_erf_large(double x, const dd_near *near)
{
	return dd_mul_d(dd_add(dd_of(1), dd_neg(dd_erfc_large(__builtin_fabs(x), near))), __builtin_copysign(1, x));
}

DD dd
dd_erfc_small(double x, const dd_near *near)
{
	return dd_add(dd_of(1), dd_neg(dd_erf_small(x, near)));
} /* |erf| <= 0.53 */
DD dd dd_erfc_negative(double x, const dd_near *near) { return dd_add(dd_of(2), dd_neg(dd_erfc_large(-x, near))); }

#include "t/oracle/dd-turns.inc"

/* The block from A to B around C, for each function. */
static inline int
dd_near_none(dd_near *near, double a, double c, double b)
{
	(void)near;
	(void)a;
	(void)c;
	(void)b;
	return 1;
}
static inline int
dd_near_log1p(dd_near *near, double a, double c, double b)
{
	return dd_near_log(near, 1 + a, 1 + c, 1 + b);
}

static inline int
dd_near_tanh(dd_near *near, double a, double c, double b)
{
	return dd_near_exp(near, 2 * __builtin_fabs(a), 2 * __builtin_fabs(c), 2 * __builtin_fabs(b));
}

static inline int
dd_near_sigmoid(dd_near *near, double a, double c, double b)
{
	return dd_near_exp(near, -__builtin_fabs(a), -__builtin_fabs(c), -__builtin_fabs(b));
}

static inline int
dd_near_erf(dd_near *near, double a, double c, double b)
{
	return dd_near_erfc(near, __builtin_fabs(a), __builtin_fabs(c), __builtin_fabs(b));
}

/* DD_FUNCTION(function and domain, what its blocks share, from, to): beyond, fp32 results are constant. */
#define DD_FUNCTIONS \
	DD_FUNCTION(exp, exp, -110, 90) DD_FUNCTION(expm1, exp, -110, 90) DD_FUNCTION(log, log, 0, 0x1p128) \
		DD_FUNCTION(log1p, log1p, -1, 0x1p128) \
	DD_FUNCTION(tanh, tanh, -16, 16) DD_FUNCTION(sigmoid, sigmoid, -110, 40) DD_FUNCTION(rsqrt, none, 0, 0x1p128) \
	DD_FUNCTION(erf_small, none, -0.5, 0.5) DD_FUNCTION(erf_large, erf, -10.5, 10.5) DD_FUNCTION(erfc_small, \
		none, -0.5, 0.5) \
	DD_FUNCTION(erfc_large, erf, 0.5, 10.5) DD_FUNCTION(erfc_negative, erf, -10.5, -0.5) \
	DD_FUNCTION(sin_small, none, -0.5, 0.5) DD_FUNCTION(sin_large, turns, -0x1p128, 0x1p128) \
	DD_FUNCTION(cos_small, none, -0.5, 0.5) DD_FUNCTION(cos_large, turns, -0x1p128, 0x1p128)
#endif
