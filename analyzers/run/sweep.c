/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/sweep.h"

#include "lib/base/inline.h"
#include "lib/number/round.h"

#include <math.h>

double
hu_sweep_threshold(hu_format f)
{
	return f.max + ldexp(1.0, f.emax - f.p);
}

static int
bin(int k)
{
	return (k < HU_SWEEP_LOW ? HU_SWEEP_LOW : k > HU_SWEEP_HIGH ? HU_SWEEP_HIGH : k) - HU_SWEEP_LOW;
}

/* The significand of a positive number, from 1 on and below 2; e is its exponent. */
static double
fraction_of(double a, int e)
{
	return e < -1022 ? ldexp(a, -e)
			 : hu_from_bits64((hu_bits64(a) & 0xfffffffffffff) | (uint64_t)1023 << 52);
}

/* What all elements share: the threshold's exponent and significand, and whether a tie at it stays below (FN formats),
   because the largest finite value has an even significand there. */
typedef struct limits { hu_format f; int exponent, even; double significand; } limits;

static limits
limits_of(hu_format f)
{
	double threshold = hu_sweep_threshold(f);
	int e = hu_exponent(threshold);

	return (limits){ f, e, !hu_has_inf(f), fraction_of(threshold, e) };
}

/* What is counted of all bins, in registers. */
typedef struct totals {
	size_t nonzeros;
	long double norm2;
	double amax;
} totals;

/* Adds x, which is finite and not 0. */
HU_INLINE void
add(hu_scale_sweep *s, totals *all, double x, const limits *l)
{
	double a = fabs(x);
	int e = hu_exponent(a);
	double m = fraction_of(a, e);
	/* Half the smallest subnormal, 2^(emin-p), still rounds to zero: the tie goes to even. */
	int need = l->f.emin - l->f.p - e + (m == 1);
	int over = l->exponent - e + (l->even ? m <= l->significand : m < l->significand);

	long double square = (long double)a * a;
	all->nonzeros++;
	s->need[bin(need)]++;
	s->need2[bin(need)] += square;
	all->norm2 += square;
	s->over[bin(over)]++;
	all->amax = a > all->amax ? a : all->amax;
}

void
hu_sweep_add(hu_scale_sweep *s, double x, hu_format f)
{
	hu_sweep_add_all(s, &x, 1, 1, f);
}

size_t
hu_sweep_add_all(hu_scale_sweep *s, const double *x, size_t n, double by, hu_format f)
{
	limits l = limits_of(f);
	totals all = { s->nonzeros, s->norm2, s->amax };
	size_t bad = 0;

	for (size_t i = 0; i < n; i++) {
		double v = x[i] / by;
		if (!hu_isfinite(v))
			bad++;
		else if (v != 0)
			add(s, &all, v, &l);
	}
	s->nonzeros = all.nonzeros;
	s->norm2 = all.norm2;
	s->amax = all.amax;
	return bad;
}

void
hu_sweep_merge(hu_scale_sweep *s, const hu_scale_sweep *other)
{
	for (int i = 0; i < HU_SWEEP_BINS; i++) {
		s->need[i] += other->need[i];
		s->need2[i] += other->need2[i];
		s->over[i] += other->over[i];
	}
	s->nonzeros += other->nonzeros;
	s->norm2 += other->norm2;
	if (other->amax > s->amax)
		s->amax = other->amax;
}

void
hu_sweep_at(const hu_scale_sweep *s, int k, size_t *lost, size_t *overflow, double *l2_share)
{
	long double lost2 = 0;

	*lost = *overflow = 0;
	for (int i = 0; i < HU_SWEEP_BINS; i++) {
		if (HU_SWEEP_LOW + i > k) {
			*lost += s->need[i];
			lost2 += s->need2[i];
		} else
			*overflow += s->over[i];
	}
	*l2_share = s->norm2 > 0 ? (double)sqrtl(lost2 / s->norm2) : 0;
}

int
hu_sweep_safe(const hu_scale_sweep *s, double share, double u, int *min, int *max)
{
	size_t lost = 0;
	long double lost2 = 0;
	int i = HU_SWEEP_BINS - 1;

	*min = *max = 0;
	if (!s->nonzeros)
		return 0;
	for (; i > 0; i--) {
		/* is scale 2^(k-1), which loses the elements that need k, still enough? */
		lost += s->need[i];
		lost2 += s->need2[i];
		if ((double)lost > share * (double)s->nonzeros || (double)sqrtl(lost2 / s->norm2) > u)
			break;
	}
	*min = HU_SWEEP_LOW + i;
	for (i = 0; i < HU_SWEEP_BINS && !s->over[i]; i++)
		;
	*max = HU_SWEEP_LOW + i - 1;
	return *min <= *max;
}
