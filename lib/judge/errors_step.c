/* SPDX-License-Identifier: Apache-2.0
   Compares recorded tensors with the exact step. Its values have error bounds, so the figures computed from them have
   bounds too. */
#include "lib/judge/errors.h"

#include "lib/base/mem.h"
#include "lib/number/ulp.h"
#include "lib/exact/dd/dd.h"
#include "lib/judge/verdict/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 8192 };

typedef struct part {
	long double error2, exact2, off2, ulps, off_ulps;
	double ulp_max, off_max;
	int infinite;
	size_t finite, vanished, unknown, doubtful, nonfinite;
} part;

typedef struct sums { double error2, exact2, off2, ulps, off_ulps; } sums;

/* The exponent of an ulp of size + t, a sum of two doubles, in f; the smallest one if the sum is not positive. */
static int
unit_of(double size, double t, hu_format f)
{
	double r, x = hu_dd_sum(size, t, &r);
	int e = x > 0 ? hu_exponent(x) : f.emin;

	e -= x >= 0x1p-1022 && r < 0 && (hu_bits64(x) & 0xfffffffffffff) == 0;
	return (e < f.emin ? f.emin : e) - f.p + 1;
}

/* The exponent of the ideal value's ulp in f. *least gets the smallest one that the enclosure permits; returns 1 if it
   permits another one too, whether the value itself lies on this side of the power of two or on that. */
static int
units(double h, double l, double e, hu_format f, int *u, int *least)
{
	double size = fabs(h), t = h < 0 ? -l : l, slack = (fabs(t) + e) * 0x1p-51;

	*u = *least = unit_of(size, t, f);
	if (e != 0)
		*least = unit_of(size, t - e - slack, f);
	return e != 0 && *least != unit_of(size, t + e + slack, f);
}

/* A value with a bound is taken for 0 if its enclosure contains 0 and lies entirely below this fraction of the tensor's
   largest recorded value (or of the format's smallest number, if that is larger). The gradient of a bias before
   batchnorm is such a value: it is exactly 0. In ordinary trainings the bounds of such values are below 2^-20 of the
   recorded values; values with wider bounds go to MPFR. */
#define SHARE 0x1p-16

/* The same operations with errors of 2^-212 instead of double-double's 2^-106 err by at most 2^-106 of its bound. A
   value below this fraction of the bound therefore has no correct digit. */
#define DIGITLESS 0x1p-80

/* The mark of a value with a bound, in a tensor whose largest value is most. */
static short
mark_by_bound(double h, double l, double e, double most)
{
	if (hu_dd_endless((hu_dd){ h, l, e }))
		return HU_STEP_DIGITS;
	if (!hu_isfinite(h) || !(fabs(l) < INFINITY) || !(e < INFINITY))
		return HU_STEP_UNKNOWN;
	if (e == 0 || fabs(h) > e)
		return HU_STEP_DIGITS;
	return (short)(hu_exponent(e) + 1 + (fabs(h) + e <= SHARE * most ? HU_STEP_ZERO : 0));
}

/* Returns 1 for an MPFR value, of which double-double said nothing, that is 100 bits or more below the recorded values:
   it may be the rounding error left by terms that cancel. */
static int
doubtful(double g, double h, double most)
{
	return h != 0 && fabs(h) < 0x1p-100 * most && (g == 0 || fabs(g) > 0x1p40 * fabs(h));
}

/* Returns 1 if the values of two precisions have no digit in common, as rounding errors do. */
static int
differ(double h, double other)
{
	return !(fabs(h - other) <= 0x1p-20 * fabs(h));
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

typedef struct view { const hu_tensor *got; const hu_step_values *v; hu_format f; double most; } view;

/* The mark of MPFR's value h if double-double had no digit of it. */
static short
mark_by_mpfr(const view *w, part *p, size_t i, short mark, double g, double h)
{
	if (mark == HU_STEP_UNKNOWN) {
		if (!doubtful(g, h, w->most))
			return mark;
		p->doubtful++;
		return w->v->before && differ(h, w->v->before[i]) ? HU_STEP_ZERO : mark;
	}
	int e = hu_step_is_zero(mark) ? mark - HU_STEP_ZERO : mark;
	return (short)(e + (fabs(h) <= hu_times_pow2(DIGITLESS, e) ? HU_STEP_ZERO : 0));
}

/* Returns 1 if element i of the ideal step, h + l within e, is taken for 0. */
static int
is_zero(const view *w, part *p, size_t i, double g, double h, double l, double e)
{
	short *all = w->v->mark, mark = HU_STEP_DIGITS;

	if (w->v->err)
		mark = mark_by_bound(h, l, e, w->most);
	else if (all && hu_isfinite(h) && all[i] != HU_STEP_DIGITS)
		mark = mark_by_mpfr(w, p, i, all[i], g, h);
	else
		return 0;
	if (all)
		all[i] = mark;
	return hu_step_is_zero(mark);
}

/* Handles an element whose recorded or ideal value is not finite. */
static void
special(part *p, double g, double h, hu_format f)
{
	double ulps = hu_error_ulps(g, h, f);

	p->infinite |= isinf(ulps);
	p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
}

/* Returns 1 if x is a power of two, just below which ulps are half as large and there are twice as many. */
static int
at_power(double x)
{
	return x != 0 && (hu_bits64(x) & 0xfffffffffffff) == 0;
}

/* As many errors in ulps as a part has can be added within double's range if they are below this. */
#define HUGE_ULPS 0x1p1000

/* Returns 1 if the square of x stays within double's range. */
static int
ordinary(double x)
{
	return x == 0 || (x > 0x1p-480 && x < 0x1p480);
}

/* Adds what is known of a value to the sums, which are plain doubles of at most 8192 numbers, with errors of 2^-40 of
   themselves. Its size, error and off are within the range of ordinary(), and its errors in ulps below HUGE_ULPS. */
static void
count(part *p, sums *s, double size, double d, double off, double ulps, double off_ulps)
{
	s->exact2 += size * size;
	s->error2 += d * d;
	s->off2 += off * off;
	s->ulps += ulps;
	s->off_ulps += off_ulps;
	p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
	p->off_max = off_ulps > p->off_max ? off_ulps : p->off_max;
}

/* Compares element i. */
static void
compare_one(part *p, sums *s, const view *w, size_t i)
{
	const hu_step_values *v = w->v;
	double g = hu_get(w->got, i), h = v->hi[i], l = v->lo ? v->lo[i] : 0, e = v->err ? v->err[i] : 0;
	int zero = is_zero(w, p, i, g, h, l, e);

	if (v->err && !hu_dd_endless((hu_dd){ h, l, e }) && !hu_dd_finite((hu_dd){ h, l, e })) {
		p->off_max = INFINITY; /* there is no value at all */
		p->unknown++;
		return;
	}
	if (!hu_isfinite(g) || !hu_isfinite(h)) {
		if (!zero && e != 0 && fabs(h) <= e) { /* the figures are settled, but not whether this gradient is 0 */
			p->off_max = INFINITY;
			p->unknown++;
		}
		special(p, g, h, w->f);
		p->nonfinite += !hu_isfinite(h);
		return;
	}
	double left = 0;
	p->finite++;
	if (zero) {
		left = fabs(h) + e;
		h = l = e = 0;
		p->vanished++;
	}
	double r, t = hu_dd_sum(h, -g, &r), d = fabs(t + (r + l)), size = fabs(h), off = e + 0x1p-50 * d;
	int least, u, apart = units(h, l, e, w->f, &u, &least);
	double ulps = hu_times_pow2(d, -u),
	       off_ulps = apart ? hu_times_pow2(d + off, -least) : hu_times_pow2(off, -u);
	if (!v->err && l == 0 && at_power(size)) /* a value just below may have been rounded up to it */
		off_ulps += ulps;
	if (ordinary(size) && ordinary(d) && ordinary(off) && ordinary(left)) {
		s->exact2 += size * size;
		s->error2 += d * d;
		s->off2 += off * off + left * left;
	} else {
		p->exact2 += (long double)size * size;
		p->error2 += (long double)d * d;
		p->off2 += (long double)off * off + (long double)left * left;
	}
	if (ulps < HUGE_ULPS && off_ulps < HUGE_ULPS) {
		s->ulps += ulps;
		s->off_ulps += off_ulps;
	/* for fp64, where the ulps of the smallest subnormal may be as many as a double can represent */
	} else {
		p->ulps += (long double)ulps;
		p->off_ulps += (long double)off_ulps;
	}
	p->ulp_max = ulps > p->ulp_max ? ulps : p->ulp_max;
	p->off_max = off_ulps > p->off_max ? off_ulps : p->off_max;
}

/* Compares the block of elements from first on. */
static void
compare_block(part *p, sums *s, const view *w, size_t first)
{
	enum { N = HU_VERDICT_BLOCK };
	const hu_step_values *v = w->v;
	hu_verdict_steps b;

	memcpy(b.hi, v->hi + first, sizeof b.hi);
	memcpy(b.err, v->err + first, sizeof b.err);
	if (v->lo)
		memcpy(b.lo, v->lo + first, sizeof b.lo);
	else
		memset(b.lo, 0, sizeof b.lo);
	if (hu_is_wide(w->got->format))
		memcpy(b.got, (const double *)w->got->data + first, sizeof b.got);
	else
		for (int i = 0; i < N; i++)
			b.got[i] = (double)((const float *)w->got->data)[first + (size_t)i];
	hu_verdicts_get()->step(&b, w->f.emin, w->f.p);
	uint64_t all = 1;
	for (int i = 0; i < N; i++)
		all &= b.plain[i];
	if (all) { /* as in most blocks: the sums stay in registers */
		sums some = *s;
		part most = { .ulp_max = p->ulp_max, .off_max = p->off_max };
		for (int i = 0; i < N; i++)
			count(&most, &some, b.size[i], b.error[i], b.off[i], b.ulps[i], b.off_ulps[i]);
		for (int i = 0; v->mark && i < N; i++)
			v->mark[first + (size_t)i] = HU_STEP_DIGITS;
		p->ulp_max = most.ulp_max;
		p->off_max = most.off_max;
		p->finite += N;
		*s = some;
		return;
	}
	for (int i = 0; i < N; i++) {
		if (!b.plain[i]) {
			compare_one(p, s, w, first + (size_t)i);
			continue;
		}
		if (v->mark)
			v->mark[first + (size_t)i] = HU_STEP_DIGITS;
		p->finite++;
		count(p, s, b.size[i], b.error[i], b.off[i], b.ulps[i], b.off_ulps[i]);
	}
}

/* Compares elements first … last-1 in their order. */
static void
compare(part *p, const view *w, size_t first, size_t last)
{
	sums s = { 0, 0, 0, 0, 0 };

	for (size_t i = first; i < last;)
		if (w->v->err && last - i >= HU_VERDICT_BLOCK) {
			compare_block(p, &s, w, i);
			i += HU_VERDICT_BLOCK;
		} else
			compare_one(p, &s, w, i++);
	p->error2 += (long double)s.error2;
	p->exact2 += (long double)s.exact2;
	p->off2 += (long double)s.off2;
	p->ulps += (long double)s.ulps;
	p->off_ulps += (long double)s.off_ulps;
}

/* Returns 1 if there is nothing to report, or if the figure is off by too little to matter. */
static int
settled(double figure, double off)
{
	return off == 0 || off <= HU_STEP_SETTLED * figure;
}

void
hu_errors_propagated(hu_errors_step *m, const hu_tensor *got, const hu_step_values *v)
{
	size_t parts = (got->n + PART - 1) / PART;
	part *p = hu_xcalloc(parts + 1, sizeof *p), all = { .ulp_max = 0 };
	hu_format f = hu_format_of(got->format);
	view w = { got, v, f, fmax(largest(got), hu_smallest(f)) };

#pragma omp parallel for schedule(dynamic, 1) if (parts > 1)
	for (size_t b = 0; b < parts; b++)
		compare(&p[b], &w, b * PART, got->n - b * PART < PART ? got->n : (b + 1) * PART);
	for (size_t b = 0; b < parts; b++) {
		all.error2 += p[b].error2;
		all.exact2 += p[b].exact2;
		all.off2 += p[b].off2;
		all.ulps += p[b].ulps;
		all.off_ulps += p[b].off_ulps;
		all.ulp_max = p[b].ulp_max > all.ulp_max ? p[b].ulp_max : all.ulp_max;
		all.off_max = p[b].off_max > all.off_max ? p[b].off_max : all.off_max;
		all.infinite |= p[b].infinite;
		all.finite += p[b].finite;
		all.vanished += p[b].vanished;
		all.unknown += p[b].unknown;
		all.doubtful += p[b].doubtful;
		all.nonfinite += p[b].nonfinite;
	}
	free(p);
	long double n = (long double)got->n, size = sqrtl(all.exact2);
	m->ulp_max = all.ulp_max;
	m->off_max = all.infinite && !all.unknown ? 0 : all.off_max;
	m->ulp_mean = all.infinite ? INFINITY : (double)(all.ulps / n);
	m->off_mean = all.infinite ? 0 : (double)(all.off_ulps / n);
	m->rel_normwise = size > 0 ? (double)(sqrtl(all.error2) / size) : all.error2 > 0 || !all.finite ? INFINITY : 0;
	m->off_rel = all.off2 == 0 ? 0
		     : size > 0    ? (double)(sqrtl(all.off2) / size) * (1 + m->rel_normwise) * (1 + 0x1p-20)
				   : 0;
	m->known = 1;
	m->vanished = all.vanished;
	m->unknown = all.unknown;
	m->doubtful = all.doubtful;
	m->nonfinite = all.nonfinite;
	m->settled = !all.unknown && settled(m->ulp_max, m->off_max) && settled(m->ulp_mean, m->off_mean) &&
		     settled(m->rel_normwise, m->off_rel);
}

void
hu_errors_zeros(const hu_tensor *got, double *hi, const short *mark)
{
	for (size_t i = 0; mark && i < got->n; i++)
		if (hu_step_is_zero(mark[i]))
			hi[i] = 0;
}
