/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/verdict/ziv.h"

#include "lib/number/ulp.h"

#include <math.h>

static double
sum(double a, double b, double *t)
{
	double s = a + b, z = s - a;

	*t = (a - (s - z)) + (b - z);
	return s;
}

/* x is what truncation left; returns it with the last bit set to say that something was cut off (rounding to odd). */
static double
odd(double x)
{
	return hu_from_bits64(hu_bits64(x) | 1);
}

/* The double next to x in the direction of lo's sign. */
static double
beside(double x, double lo)
{
	return hu_from_bits64(hu_bits64(x) + ((x < 0) == (lo < 0) ? 1 : (uint64_t)-1));
}

/* The size and rounding of the exact value; *e = floor(log2|value|). Returns 0 if the enclosure cannot tell. */
static int
place(hu_ziv *v, double hi, double lo, double err, int *e, hu_format f)
{
	if (hi == 0) {
		v->exact = v->rounded = 0;
		*e = f.emin;
		return lo == 0 && err == 0;
	}
	v->rounded = hi < 0 ? -hi : hi;
	*e = hu_exponent(hi);
	if (lo == 0 && err == 0) {
		v->exact = hi;
		return 1;
	}
	double next = beside(hi, lo), gap = fabs(next - hi), off = (fabs(lo) + err) * (1 + 0x1p-50);
	if (!(fabs(lo) > err) || !(err == 0 || off < gap / 2))
		return 0;
	int inward = (hi < 0) != (lo < 0);
	v->exact = odd(inward ? next : hi);
	*e -= inward && hu_bits64(hi) << 12 == 0 && v->rounded >= 0x1p-1022;
	return 1;
}

/* Whether d + l, off by at most e, is above bound: 1, 0, or -1 if in doubt. */
static int
above(double d, double l, double e, double bound)
{
	double s = d - bound; /* its sign is right, and near zero it is exact (Sterbenz) */

	if (!(bound < INFINITY))
		return 0;
	if (s != 0) {
		double slack = (fabs(l) + e) * (1 + 0x1p-50);
		return fabs(s) * (1 - 0x1p-50) > slack ? s > 0 : e == 0 && s * l >= 0 ? s > 0 : -1;
	}
	return l - e > 0 ? 1 : l + e <= 0 ? 0 : -1;
}

/* Sets *d + *l = |hi - got + lo|, off by at most the returned error. */
static double
distance(double hi, double lo, double err, double got, double *d, double *l)
{
	double t, u, w, e;

	/* The sum is exact in three doubles, the last of which joins the error. */
	*d = sum(hi, -got, &t);
	u = sum(t, lo, &w);
	*d = sum(*d, u, &t);
	*l = sum(t, w, &e);
	*d = sum(*d, *l, l);
	if (*d < 0) {
		*d = -*d;
		*l = -*l;
	}
	e = err + fabs(e);
	return e != 0 ? e * (1 + 0x1p-40) + fabs(*l) * 0x1p-50 + 0x1p-1074 : 0;
}

int
hu_ziv_rounded(double *x, double hi, double lo, double err)
{
	/* The next doubles on lo's side of hi and on the other; the value is nearest to hi while it is less than
	   half-way to either. */
	double side = lo != 0 ? lo : hi, gap = fabs(beside(hi, side) - hi), back = fabs(beside(hi, -side) - hi);

	*x = hi + 0.0;
	if (!hu_isfinite(hi) || !(err < INFINITY))
		return 0;
	return err == 0 || (hi != 0 && gap < INFINITY && (fabs(lo) + err) * (1 + 0x1p-50) < gap / 2 &&
				   (err - fabs(lo)) * (1 + 0x1p-50) < back / 2);
}

int
hu_ziv_difference(double *d, double hi, double lo, double err, double w)
{
	double l, e = distance(hi, lo, err, w, d, &l);
	double sign = hi < w || (hi == w && lo < 0) ? -1 : 1; /* distance() gives the magnitude only */

	if (!hu_isfinite(*d) || !(fabs(l) < INFINITY) || !(e < INFINITY) || (*d == 0 && (l != 0 || e != 0)) ||
		(e != 0 && !(fabs(l) > e)))
		return 0;
	if (l > 0)
		*d = hu_from_bits64(hu_bits64(*d) + 1);
	*d *= sign;
	return 1;
}

int
hu_ziv_enclosed(hu_ziv *v, double hi, double lo, double err, double got, double bound, hu_format f)
{
	double d, l, e;
	int log2;

	if (got == hi && lo == 0 && err == 0 &&
		hu_isfinite(hi)) { /* half of a step's values: copies, zeros, exact products */
		*v = (hu_ziv){ hi + 0.0, fabs(hi), 0, 0, bound < 0 };
		return 1;
	}
	if (!hu_isfinite(hi) || !hu_isfinite(got) || !(fabs(lo) < INFINITY) || !(err < INFINITY) ||
		!place(v, hi, lo, err, &log2, f))
		return 0;
	e = distance(hi, lo, err, got, &d, &l);
	if (!hu_isfinite(d) || (d == 0 && (l != 0 || e != 0)) || (e != 0 && (d + (l - e) != d || d + (l + e) != d)))
		return 0;
	v->error = d;
	int unit = (log2 < f.emin ? f.emin : log2) - f.p + 1;
	v->ulps = d == 0 ? 0 : hu_times_pow2(d, -unit);
	/* it may be rounded twice, or out of range */
	if (d != 0 && !(d > 0x1p-960 && v->ulps > 0x1p-960 && v->ulps < INFINITY))
		return 0;
	v->over = above(d, l, e, isnan(bound) ? INFINITY : bound);
	return v->over >= 0;
}

static double
to_odd(mpfr_srcptr x)
{
	double d = mpfr_get_d(x, MPFR_RNDZ);

	if (hu_isfinite(d) && mpfr_regular_p(x) && mpfr_cmp_d(x, d))
		d = d == 0 ? copysign(0x1p-1074, mpfr_sgn(x)) : odd(d);
	return d + 0.0;
}

/* Sets diff = |got - exact|. Returns 0 if there is no such number; *special is then the error. */
static int
difference(mpfr_ptr diff, double got, mpfr_srcptr exact, double *special)
{
	if (mpfr_number_p(exact) && hu_isfinite(got)) {
		mpfr_sub_d(diff, exact, got, MPFR_RNDN);
		mpfr_abs(diff, diff, MPFR_RNDN);
		return 1;
	}
	int same = (mpfr_nan_p(exact) && hu_isnan(got)) ||
		   (mpfr_inf_p(exact) && !hu_isnan(got) && !hu_isfinite(got) && (mpfr_sgn(exact) < 0) == (got < 0));
	*special = same ? 0 : INFINITY;
	return 0;
}

void
hu_ziv_mpfr(hu_ziv *v, mpfr_srcptr exact, double got, double bound, hu_format f)
{
	enum { PRECISION = 256 };
	mpfr_t diff;
	double special;

	mpfr_init2(diff, PRECISION);
	bound = isnan(bound) ? INFINITY : bound;
	v->exact = to_odd(exact);
	v->rounded = fabs(mpfr_get_d(exact, MPFR_RNDN));
	if (difference(diff, got, exact, &special)) {
		long e = mpfr_zero_p(exact) ? f.emin : (long)mpfr_get_exp(exact) - 1;
		v->error = mpfr_get_d(diff, MPFR_RNDN);
		v->over = mpfr_cmp_d(diff, bound) > 0;
		mpfr_mul_2si(diff, diff, -((e < f.emin ? f.emin : e) - f.p + 1), MPFR_RNDN);
		v->ulps = mpfr_get_d(diff, MPFR_RNDN);
	} else {
		v->error = v->ulps = special;
		v->over = !(special <= bound);
	}
	mpfr_clear(diff);
}
