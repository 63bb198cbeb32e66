/* SPDX-License-Identifier: Apache-2.0
   Arithmetic and rounding of exact numbers, which are sums of doubles that do not overlap. */
#include "lib/exact/value.h"

#include "lib/base/status.h"
#include "lib/number/round.h"

#include <math.h>

void
hu_exact_value_set(hu_exact_value *v, double x)
{
	v->n = x != 0;
	v->part[0] = x;
}

static int
is_finite(const hu_exact_value *v)
{
	return v->n != 1 || hu_isfinite(v->part[0]);
}

/* Shewchuk's grow-expansion, leaving out zeros. */
void
hu_exact_value_add(hu_exact_value *v, double x)
{
	int n = 0;

	if (!is_finite(v) || !hu_isfinite(x)) {
		hu_exact_value_set(v, is_finite(v) ? x : v->part[0] + x);
		return;
	}
	for (int i = 0; i < v->n; i++) {
		double a = v->part[i], s = x + a, t = s - x, e = (x - (s - t)) + (a - t);
		x = s;
		if (e != 0)
			v->part[n++] = e;
	}
	if (x != 0) {
		HU_ASSERT(n < HU_EXACT_PARTS);
		v->part[n++] = x;
	}
	v->n = n;
}

void
hu_exact_value_scale(hu_exact_value *v, int e)
{
	for (int i = 0; i < v->n; i++)
		v->part[i] = ldexp(v->part[i], e);
}

int
hu_exact_value_sign(const hu_exact_value *v)
{
	double top = v->n ? v->part[v->n - 1] : 0;

	return (top > 0) - (top < 0);
}

static hu_exact_value
minus(const hu_exact_value *v, double x)
{
	hu_exact_value d = *v;

	hu_exact_value_add(&d, -x);
	return d;
}

int
hu_exact_value_compare(const hu_exact_value *v, double x)
{
	hu_exact_value d;

	if (!is_finite(v) || !hu_isfinite(x)) {
		double top = v->n ? v->part[v->n - 1] : 0;
		return (top > x) - (top < x);
	}
	d = minus(v, x);
	return hu_exact_value_sign(&d);
}

/* Returns the finite value rounded toward zero to a double. *inexact says whether that changed it. */
static double
toward_zero(const hu_exact_value *v, int *inexact)
{
	double q = 0;
	int sign = hu_exact_value_sign(v), beyond;

	for (int i = 0; i < v->n; i++)
		q += v->part[i]; /* within a few ulps */
	*inexact = 0;
	while ((beyond = sign * hu_exact_value_compare(v, q)) < 0)
		q = hu_from_bits64(hu_bits64(q) - 1);
	if (beyond == 0)
		return q;
	for (;;) {
		double next = hu_from_bits64(hu_bits64(q) + 1);
		if (!hu_isfinite(next) || sign * hu_exact_value_compare(v, next) < 0)
			break;
		q = next;
	}
	*inexact = hu_exact_value_compare(v, q) != 0;
	return q;
}

/* Rounds where a double has too few bits below the format's last one to show which way to go. */
static double
round_wide(const hu_exact_value *v, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int inexact, negative = hu_exact_value_sign(v) < 0, up = 0;
	double zero = toward_zero(v, &inexact), down = fabs(zero) < hu_smallest(f) ? 0 : hu_round(zero, f, HU_RZ, 0, 0),
	       unit = hu_pow2(hu_ulp_exponent(down, f));
	hu_exact_value rest = minus(v, down), half;

	if (rest.n == 0)
		return hu_round(down, f, mode, flags, rand);
	if (negative && !hu_has_sign(f))
		return hu_nan();
	if (negative)
		for (int i = 0; i < rest.n; i++)
			rest.part[i] = -rest.part[i];
	int odd = (int)((uint64_t)fabs(down / unit) & 1);
	half = rest;
	hu_exact_value_add(&half, -unit / 2);
	int side = hu_exact_value_sign(&half);
	if (hu_exact_value_compare(&rest, unit) >= 0) { /* v is beyond the neighbour of the largest value */
		return hu_overflow(negative, f, mode, flags);
	}
	switch (mode) {
	case HU_RNE: up = side > 0 || (side == 0 && odd); break;
	case HU_RNA: up = side >= 0; break;
	case HU_RNZ: up = side > 0; break;
	case HU_RU: up = !negative; break;
	case HU_RD: up = negative; break;
	case HU_RO: up = !odd; break;
	case HU_SR:
		hu_exact_value_scale(&rest, 52 - hu_ulp_exponent(down, f));
		up = hu_round_draw((uint64_t)toward_zero(&rest, &inexact), 52, flags, rand);
		break;
	case HU_SRE: up = rand < 0x80000000u; break;
	case HU_RZ:
	case HU_MODES: break; /* HU_MODES counts them */
	}
	double r = fabs(down) + (up ? unit : 0);
	if (r > f.max || !hu_isfinite(r))
		return hu_overflow(negative, f, mode, flags);
	return hu_round(negative ? -r : r, f, HU_RZ, flags, 0); /* r is a value of f, so only the flags act */
}

double
hu_exact_value_round(const hu_exact_value *v, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	int inexact;

	if (v->n == 0 || !is_finite(v))
		return hu_round(v->n ? v->part[0] : 0.0, f, mode, flags, rand);
	if (f.p > 51 || hu_mode_draws(mode))
		return round_wide(v, f, mode, flags, rand);
	/* Rounding to odd first does not change a later rounding to at least two bits fewer (Boldo & Melquiond
	   2008). */
	double q = toward_zero(v, &inexact);
	return hu_round(inexact ? hu_from_bits64(hu_bits64(q) | 1) : q, f, mode, flags, rand);
}

double
hu_exact_value_double(const hu_exact_value *v)
{
	return hu_exact_value_round(v, hu_format_of(HU_FP64), HU_RNE, 0, 0);
}

double
hu_exact_value_error(const hu_exact_value *v, double x)
{
	hu_exact_value d;

	if (!is_finite(v) || !hu_isfinite(x))
		return v->n && v->part[0] == x ? 0 : hu_nan();
	d = minus(v, x);
	return fabs(hu_exact_value_double(&d));
}

void
hu_exact_value_mpfr(mpfr_t r, const hu_exact_value *v)
{
	if (v->n == 0) {
		mpfr_set_prec(r, 53);
		mpfr_set_zero(r, 1);
		return;
	}
	double low = v->part[0], top = v->part[v->n - 1];
	if (!hu_isfinite(top)) {
		mpfr_set_prec(r, 53);
		mpfr_set_d(r, top, MPFR_RNDN);
		return;
	}
	mpfr_set_prec(r, hu_exponent(top) - hu_exponent(low) + 55);
	mpfr_set_d(r, top, MPFR_RNDN);
	for (int i = v->n - 1; i--;)
		mpfr_add_d(r, r, v->part[i], MPFR_RNDN);
}
