/* SPDX-License-Identifier: Apache-2.0 */
#include "t/oracle/dd-elementary.h"

#include <mpfr.h>

enum { PREC = 300 };

dd_constants dd_c;

static dd
dd_get(const mpfr_t x)
{
	mpfr_t rest;
	dd r;

	mpfr_init2(rest, PREC);
	r.hi = mpfr_get_d(x, MPFR_RNDN);
	mpfr_sub_d(rest, x, r.hi, MPFR_RNDN);
	r.lo = mpfr_get_d(rest, MPFR_RNDN);
	mpfr_clear(rest);
	return r;
}

static void
logarithms(mpfr_t x, mpfr_t y)
{
	double scale = 0x1p37 * 128; /* ln 2 / 128 is below 2^-7: 37 bits end at 2^-44 */

	mpfr_const_log2(x, MPFR_RNDN);
	dd_c.ln2 = dd_get(x);
	mpfr_div_ui(x, x, 128, MPFR_RNDN);
	mpfr_mul_d(y, x, scale, MPFR_RNDN);
	mpfr_rint(y, y, MPFR_RNDN);
	dd_c.ln2_128[0] = mpfr_get_d(y, MPFR_RNDN) / scale;
	mpfr_sub_d(x, x, dd_c.ln2_128[0], MPFR_RNDN);
	dd_c.ln2_128[1] = dd_get(x).hi;
	dd_c.ln2_128[2] = dd_get(x).lo;
	for (int j = 0; j < DD_POWERS; j++) {
		mpfr_set_ui_2exp(x, (unsigned long)j, -7, MPFR_RNDN);
		mpfr_exp2(x, x, MPFR_RNDN);
		dd_c.power[j] = dd_get(x);
	}
	for (int i = 0; i < DD_RECIPROCALS; i++) {
		double c = (double)(int)(128.0 / (i + DD_FIRST) * 512 + 0.5) / 512;
		dd_c.reciprocal[i] = c;
		mpfr_set_d(x, c, MPFR_RNDN);
		mpfr_log(x, x, MPFR_RNDN);
		mpfr_neg(x, x, MPFR_RNDN);
		dd_c.minus_log[i] = dd_get(x);
	}
}

static void
fractions(mpfr_t x)
{
	mpfr_set_ui(x, 1, MPFR_RNDN);
	for (unsigned k = 0; k < 6; k++) {
		mpfr_div_ui(x, x, k ? k : 1, MPFR_RNDN);
		dd_c.factorial[k] = dd_get(x);
	}
	for (unsigned k = 1; k < 8; k++) {
		mpfr_set_ui(x, 1, MPFR_RNDN);
		mpfr_div_ui(x, x, k, MPFR_RNDN);
		dd_c.inverse[k] = dd_get(x);
	}
}

/* 2 / sqrt pi. */
static void
two_over_root_pi(mpfr_t x)
{
	mpfr_const_pi(x, MPFR_RNDN);
	mpfr_rec_sqrt(x, x, MPFR_RNDN);
	mpfr_mul_ui(x, x, 2, MPFR_RNDN);
}

static void
erf_series(mpfr_t x, mpfr_t y)
{
	two_over_root_pi(x);
	for (unsigned k = 0; k < DD_ERF_TERMS; k++) { /* (-1)^k 2 / (sqrt pi k! (2k + 1)) */
		if (k) {
			mpfr_div_ui(x, x, k, MPFR_RNDN);
			mpfr_neg(x, x, MPFR_RNDN);
		}
		mpfr_div_ui(y, x, 2 * k + 1, MPFR_RNDN);
		dd_c.erf[k] = dd_get(y);
	}
}

/* Taylor coefficients of y = exp(x^2) erfc(x) at C from y' = 2 x y - 2 / sqrt pi: (k + 1) y_(k+1) = 2 (c y_k +
   y_(k-1)). An error grows by (2c + 2) / (k + 1) a step, 2^32 in all for c <= 10: PREC has the room. */
static void
taylor(mpfr_t *y, double c, int n)
{
	mpfr_t t;

	mpfr_init2(t, PREC);
	mpfr_set_d(t, c, MPFR_RNDN);
	mpfr_erfc(y[0], t, MPFR_RNDN);
	mpfr_sqr(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_mul(y[0], y[0], t, MPFR_RNDN);
	for (int k = 0; k + 1 < n; k++) {
		mpfr_mul_d(y[k + 1], y[k], 2 * c, MPFR_RNDN);
		if (k == 0) {
			two_over_root_pi(t);
			mpfr_sub(y[1], y[1], t, MPFR_RNDN);
		} else {
			mpfr_mul_ui(t, y[k - 1], 2, MPFR_RNDN);
			mpfr_add(y[k + 1], y[k + 1], t, MPFR_RNDN);
		}
		mpfr_div_ui(y[k + 1], y[k + 1], (unsigned)k + 1, MPFR_RNDN);
	}
	mpfr_clear(t);
}

/* The remainder at |t| <= 2^-6.6 from C is below the next coefficient at the interval's
   left end, where a completely monotone function has its largest derivatives. */
static double
remainder_at(mpfr_t *y, double c)
{
	double next, t = 0.0104, first; /* 2^-6.6 */

	taylor(y, c, 1);
	first = mpfr_get_d(y[0], MPFR_RNDZ);
	taylor(y, c - t, DD_ERFC_TERMS + 1);
	next = __builtin_fabs(mpfr_get_d(y[DD_ERFC_TERMS], MPFR_RNDA));
	for (int k = 0; k < DD_ERFC_TERMS; k++)
		next *= t;
	return next / (0.98 * first);
}

/* Entry e + 1 is 2^(e - 23) 2 / pi modulo 4: what a quarter turn is to one unit of a float's last place in binade e. */
static void
turns(void)
{
	mpfr_t x, y, part;

	mpfr_inits2(600, x, y, part, (mpfr_ptr)0);
	mpfr_const_pi(x, MPFR_RNDN);
	mpfr_div_ui(y, x, 2, MPFR_RNDN);
	dd_c.half_pi = dd_get(y);
	mpfr_ui_div(y, 2, x, MPFR_RNDN);
	for (int e = -1; e < DD_TURNS - 1; e++) {
		mpfr_mul_2si(x, y, e - 23 - 2, MPFR_RNDN);
		mpfr_frac(x, x, MPFR_RNDN);
		mpfr_mul_2si(x, x, 2, MPFR_RNDN);
		for (int k = 0; k < DD_TURN_PARTS; k++) {
			mpfr_mul_2si(part, x, 27 + 29 * k, MPFR_RNDN);
			mpfr_floor(part, part);
			mpfr_mul_2si(part, part, -27 - 29 * k, MPFR_RNDN);
			dd_c.turn[e + 1][k] = mpfr_get_d(part, MPFR_RNDN);
			mpfr_sub(x, x, part, MPFR_RNDN);
		}
	}
	mpfr_set_ui(x, 1, MPFR_RNDN);
	for (unsigned k = 0; k < 2 * DD_COS_TERMS - 1; k++) {
		mpfr_div_ui(x, x, k ? k : 1, MPFR_RNDN);
		dd *to = k % 2 ? &dd_c.sin[k / 2] : &dd_c.cos[k / 2];
		*to = k / 2 % 2 ? dd_neg(dd_get(x)) : dd_get(x);
	}
	mpfr_clears(x, y, part, (mpfr_ptr)0);
}

double
dd_constants_init(void)
{
	mpfr_t x, y, a[DD_ERFC_TERMS + 1];
	double worst = 0;

	mpfr_inits2(PREC, x, y, (mpfr_ptr)0);
	for (int k = 0; k <= DD_ERFC_TERMS; k++)
		mpfr_init2(a[k], PREC);
	logarithms(x, y);
	fractions(x);
	erf_series(x, y);
	turns();
	for (int i = 32; i < DD_CENTRES; i++) {
		double left = remainder_at(a, i / 64.0);
		worst = left > worst ? left : worst;
		taylor(a, i / 64.0, DD_ERFC_TERMS);
		for (int k = 0; k < DD_ERFC_TERMS; k++)
			dd_c.erfc[i][k] = dd_get(a[k]);
		for (int k = 1; k < DD_ERFC_TERMS; k++)
			if (!(__builtin_fabs(dd_c.erfc[i][k].hi) <= 1.2 * __builtin_fabs(dd_c.erfc[i][k - 1].hi)))
				worst = 1;
	}
	for (int k = 0; k <= DD_ERFC_TERMS; k++)
		mpfr_clear(a[k]);
	mpfr_clears(x, y, (mpfr_ptr)0);
	return worst;
}
