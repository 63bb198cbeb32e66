/* SPDX-License-Identifier: Apache-2.0
   Recorded tensors against the exact step, whose values come with a bound of their own error: so do
   the figures made from them. */
#include "analyzers/errors.h"

#include "lib/base/mem.h"
#include "lib/number/ulp.h"
#include "lib/op/dd.h"

#include <math.h>
#include <stdlib.h>

enum { PART = 8192 };

typedef struct part { long double error2, exact2, off2, ulps, off_ulps; double ulp_max, off_max; int infinite; size_t vanished; } part;

typedef struct sums { double error2, exact2, off2, ulps, off_ulps; } sums;

/* Exponent of the ideal's ulp in F. *vague: the value may lie on either side of a power of two. */
static int
unit(double h, double l, double e, hu_format f, int *vague)
{
	int power = (hu_bits64(h) & 0xfffffffffffff) == 0 && h != 0, below = power && (l == 0 ? 0 : (l < 0) == (h > 0));

	*vague = e != 0 && power && !(fabs(l) > e);
	if (h == 0)
		return f.emin - f.p + 1;
	int x = hu_exponent(h) - below;
	return (x < f.emin ? f.emin : x) - f.p + 1;
}

/* A value that must be called 0, where the tensor's largest, or the format's smallest if that is more, is MOST: the enclosure holds 0 and is small beside that; or, of a
   value that came without a bound, 200 bits and more cancelled down to their own roundings. The gradient of a bias before batchnorm is
   one: its exact value is 0. */
static int
vanished(double g, double h, double e, double most)
{
	if (e != 0)
		return fabs(h) <= e && fabs(h) + e <= HU_STEP_SETTLED * most;
	return h != 0 && fabs(h) < 0x1p-100 * most && (g == 0 || fabs(g) > 0x1p40 * fabs(h));
}

static double
largest(const hu_tensor *t)
{
	double most = 0;

#pragma omp parallel for schedule(static) reduction(max : most) if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++) {
		double x = fabs(hu_get(t, i));
		most = x > most && x < INFINITY ? x : most;
	}
	return most;
}

/* Elements FIRST … LAST-1. Sums are plain doubles: of at most 8192 numbers, 2^-40 of themselves. */
static void
compare(part *p, const hu_tensor *got, const double *hi, const double *lo, const double *err, size_t first, size_t last, double most)
{
	hu_format f = hu_format_of(got->format);
	sums s = { 0, 0, 0, 0, 0 };
	int wide = hu_is_wide(got->format);

	for (size_t i = first; i < last; i++) {
		double g = hu_get(got, i), h = hi[i], l = lo ? lo[i] : 0, e = err ? err[i] : 0;
		if (!hu_isfinite(g) || !hu_isfinite(h)) {
			double ulps = hu_error_ulps(g, h, f);
			p->infinite |= isinf(ulps);
			p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
			if (hu_isfinite(h) && !(e < INFINITY)) /* no value at all: not known to differ */
				p->off_max = INFINITY;
			continue;
		}
		if (vanished(g, h, e, most)) {
			s.off2 += (fabs(h) + e) * (fabs(h) + e);
			h = l = e = 0;
			p->vanished++;
		}
		double r, t = hu_dd_sum(h, -g, &r), d = fabs(t + (r + l));
		if (wide) /* whose squares, and sums of ulps of the smallest subnormal, may leave double's range */
			p->exact2 += (long double)h * h;
		else
			s.exact2 += h * h;
		if (d == 0 && e == 0)
			continue;
		int vague, u = unit(h, l, e, f, &vague);
		double ulps = hu_times_pow2(d, -u), off = e + 0x1p-50 * d, off_ulps = hu_times_pow2(off, -u) + (vague ? ulps : 0);
		if (wide) {
			p->error2 += (long double)d * d;
			p->off2 += (long double)off * off;
			p->ulps += (long double)ulps;
			p->off_ulps += (long double)off_ulps;
		} else {
			s.error2 += d * d;
			s.off2 += off * off;
			s.ulps += ulps;
			s.off_ulps += off_ulps;
		}
		p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
		p->off_max = off_ulps > p->off_max ? off_ulps : p->off_max;
	}
	p->error2 += (long double)s.error2;
	p->exact2 += (long double)s.exact2;
	p->off2 += (long double)s.off2;
	p->ulps += (long double)s.ulps;
	p->off_ulps += (long double)s.off_ulps;
}

/* Nothing to tell, or too little off to matter. */
static int
settled(double figure, double off)
{
	return off == 0 || off <= HU_STEP_SETTLED * figure;
}

void
hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const double *hi, const double *lo, const double *err)
{
	size_t parts = (got->n + PART - 1) / PART;
	part *p = hu_xcalloc(parts + 1, sizeof *p), all = { .ulp_max = 0 };
	double most = fmax(largest(got), hu_smallest(hu_format_of(got->format)));

#pragma omp parallel for schedule(dynamic, 1) if (parts > 1)
	for (size_t b = 0; b < parts; b++)
		compare(&p[b], got, hi, lo, err, b * PART, got->n - b * PART < PART ? got->n : (b + 1) * PART, most);
	for (size_t b = 0; b < parts; b++) {
		all.error2 += p[b].error2;
		all.exact2 += p[b].exact2;
		all.off2 += p[b].off2;
		all.ulps += p[b].ulps;
		all.off_ulps += p[b].off_ulps;
		all.ulp_max = p[b].ulp_max > all.ulp_max ? p[b].ulp_max : all.ulp_max;
		all.off_max = p[b].off_max > all.off_max ? p[b].off_max : all.off_max;
		all.infinite |= p[b].infinite;
		all.vanished += p[b].vanished;
	}
	free(p);
	long double n = (long double)got->n, size = sqrtl(all.exact2);
	m->ulp_max = all.ulp_max;
	m->off_max = all.off_max;
	m->ulp_mean = all.infinite ? INFINITY : (double)(all.ulps / n);
	m->off_mean = all.infinite ? 0 : (double)(all.off_ulps / n);
	m->rel_normwise = size > 0 ? (double)(sqrtl(all.error2) / size) : all.error2 > 0 ? INFINITY : 0;
	m->off_rel = all.off2 == 0 ? 0 : size > 0 ? (double)(sqrtl(all.off2) / size) * (1 + m->rel_normwise) * (1 + 0x1p-20) : 0;
	m->known = 1;
	m->vanished = all.vanished;
	m->settled = m->off_max < INFINITY && settled(m->ulp_max, m->off_max) && settled(m->ulp_mean, m->off_mean) && settled(m->rel_normwise, m->off_rel);
}

void
hu_errors_zeros(const hu_tensor *got, double *hi, const double *err)
{
	double most = fmax(largest(got), hu_smallest(hu_format_of(got->format)));

#pragma omp parallel for schedule(static) if (got->n > 16384)
	for (size_t i = 0; i < got->n; i++)
		if (hu_isfinite(hi[i]) && vanished(hu_get(got, i), hi[i], err ? err[i] : 0, most))
			hi[i] = 0;
}
