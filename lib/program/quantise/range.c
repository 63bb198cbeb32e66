/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/range.h"

#include "lib/base/bug.h"
#include "lib/base/mem.h"
#include "lib/number/arith.h"
#include "lib/number/round.h"
#include "lib/program/exec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = HU_RANGE_BINS / 2, LEVELS = 128, FRACTIONS = 100, LEAST = 20 };

/* What one call of hu_range_extend sees: the ends of the finite elements, and how many there are. */
typedef struct seen {
	double least, largest;
	uint64_t n;
} seen;

/* The ends of N floats that are finite. A zero's sign is any: no scale depends on it. */
static void
ends_of(const float *x, size_t n, float *least, float *largest)
{
	float a = *least, b = *largest;

#pragma omp simd reduction(min : a) reduction(max : b)
	for (size_t i = 0; i < n; i++) {
		a = x[i] < a ? x[i] : a;
		b = x[i] > b ? x[i] : b;
	}
	*least = a;
	*largest = b;
}

static void
see(hu_range *r, seen *s, double x)
{
	if (!hu_isfinite(x)) {
		r->nonfinite++;
		r->infinite[x > 0] |= isinf(x) != 0;
		return;
	}
	s->n++;
	s->least = x < s->least ? x : s->least;
	s->largest = x > s->largest ? x : s->largest;
}

void
hu_range_extend(hu_range *r, const hu_tensor *t)
{
	seen s = { INFINITY, -INFINITY, 0 };
	uint64_t before = r->nonfinite;

	if (!hu_is_wide(t->format) && !hu_tensor_nonfinite(t)) {
		float least = INFINITY, largest = -INFINITY;
		ends_of(t->data, t->n, &least, &largest);
		s = (seen){ (double)least, (double)largest, t->n };
	} else
		for (size_t i = 0; i < t->n; i++)
			see(r, &s, hu_get(t, i));
	double least = s.n ? s.least : 0, largest = s.n ? s.largest : 0, most = fmax(fabs(least), fabs(largest));
	r->n += s.n;
	r->low = least < r->low ? least : r->low;
	r->high = largest > r->high ? largest : r->high;
	r->amax = fmax(-r->low, r->high);
	if (r->nbatch == r->capbatch) {
		HU_GROW(r->batch, r->nbatch, r->capbatch);
		r->ends = hu_xrealloc(r->ends, 2 * r->capbatch * sizeof *r->ends);
	}
	r->ends[2 * r->nbatch] = least;
	r->ends[2 * r->nbatch + 1] = largest;
	r->batch[r->nbatch++] = r->nonfinite > before ? INFINITY : most;
	if (r->grows)
		hu_range_grow(&r->grown, t, most);
	if (r->is_cut)
		hu_range_magnitude_ends(&r->magnitude, t);
}

void
hu_range_count(hu_range *r, const hu_tensor *t)
{
	if (r->is_cut)
		hu_range_magnitude_count(&r->magnitude, t);
	if (!r->bins)
		r->bins = hu_xcalloc(HU_RANGE_BINS, sizeof *r->bins);
	if (r->amax == 0)
		return;
	for (size_t i = 0; i < t->n; i++) {
		double x = hu_get(t, i);
		if (!hu_isfinite(x))
			continue;
		double at = floor((x / r->amax + 1) * HALF);
		r->bins[at < 0 ? 0 : at >= HU_RANGE_BINS ? HU_RANGE_BINS - 1 : (size_t)at]++;
	}
}

void
hu_range_release(hu_range *r)
{
	free(r->bins);
	free(r->batch);
	free(r->ends);
	free(r->grown.count);
	free(r->grown.edge);
	free(r->magnitude.count);
	free(r->magnitude.edge);
	memset(r, 0, sizeof *r);
}

/* How many elements have magnitudes of bin I, from 0 on. */
static double
magnitudes(const hu_range *r, int i)
{
	return (double)(r->bins[HALF + i] + r->bins[HALF - 1 - i]);
}

static double
percentile(const hu_range *r, double percent)
{
	double all = 0, so_far = 0;

	for (int i = 0; i < HALF; i++)
		all += magnitudes(r, i);
	for (int i = 0; i < HALF; i++) {
		so_far += magnitudes(r, i);
		if (so_far * 100 >= all * percent)
			return r->amax * (i + 1) / HALF;
	}
	return r->amax;
}

float
hu_range_scale(double clip, hu_format_id f)
{
	float s = (float)(clip / hu_format_of(f).max);

	return s >= FLT_MIN ? s : 1;
}

hu_affine
hu_affine_of(const hu_range *r, double clip, int bits, int asymmetric)
{
	int top = (1 << bits) - 1, half = 1 << (bits - 1);
	double low = fmax(r->low, -clip), high = fmin(r->high, clip);
	hu_affine a = { (float)(asymmetric ? (high - low) / top : clip / (half - 1)), 0, asymmetric ? 0 : -half,
		asymmetric ? top : half - 1 };

	if (!(a.scale >= FLT_MIN))
		a.scale = 1;
	if (asymmetric)
		a.zero = (int)fmin(fmax(rint(-low / (double)a.scale), 0), top);
	return a;
}

/* Σ of squared errors of the bins' centres. */
static double
squared_error(const hu_range *r, const hu_scheme *s, double clip)
{
	hu_affine a = hu_affine_of(r, clip, s->bits, s->asymmetric);
	hu_format f = hu_format_of(s->kind == HU_SCHEME_FLOAT8 ? s->format : HU_FP32);
	double scale = s->kind == HU_SCHEME_FLOAT8 ? (double)hu_range_scale(clip, s->format) : (double)a.scale, sum = 0;

	for (int i = 0; i < HU_RANGE_BINS; i++) {
		if (!r->bins[i])
			continue;
		double x = r->amax * (i + 0.5 - HALF) / HALF, q = x / scale;
		if (s->kind == HU_SCHEME_FLOAT8)
			q = hu_round(fmin(fmax(q, -f.max), f.max), f, HU_RNE, 0, 0);
		else
			q = fmin(fmax(rint(q) + a.zero, a.low), a.high) - a.zero;
		sum += (double)r->bins[i] * (x - q * scale) * (x - q * scale);
	}
	return sum;
}

static double
least_squares(const hu_range *r, const hu_scheme *s)
{
	double best = r->amax, least = INFINITY;

	for (int i = FRACTIONS; i >= LEAST; i--) {
		double clip = r->amax * i / FRACTIONS, e = squared_error(r, s, clip);
		if (e < least) {
			least = e;
			best = clip;
		}
	}
	return best;
}

/* The divergence of the first N bins, what lies beyond added to the last of them, from the same bins told apart by
   LEVELS levels alone. Bins that the levels leave empty count as TINY. */
static double
divergence(const double *count, int n, double beyond)
{
	const double TINY = 1e-4;
	double p[HALF], q[HALF], ps = 0, qs = 0, kl = 0;

	memcpy(p, count, (size_t)n * sizeof *p);
	p[n - 1] += beyond;
	memset(q, 0, (size_t)n * sizeof *q);
	for (int level = 0, each = n / LEVELS; level < LEVELS; level++) {
		int from = level * each, to = level == LEVELS - 1 ? n : from + each, filled = 0;
		double sum = 0;
		for (int i = from; i < to; i++) {
			sum += count[i];
			filled += p[i] != 0;
		}
		for (int i = from; i < to; i++)
			q[i] = p[i] != 0 ? sum / filled : 0;
	}
	for (int i = 0; i < n; i++) {
		ps += p[i];
		qs += q[i];
	}
	for (int i = 0; i < n; i++)
		if (p[i] > 0)
			kl += p[i] / ps * log(p[i] / ps / (q[i] > 0 ? q[i] / qs : TINY));
	return kl;
}

static double
least_divergence(const hu_range *r)
{
	double count[HALF], beyond = 0, best = r->amax, least = INFINITY;

	for (int i = 0; i < HALF; i++)
		count[i] = magnitudes(r, i);
	for (int n = HALF; n >= LEVELS; beyond += count[--n]) {
		double kl = divergence(count, n, beyond);
		if (kl < least) {
			least = kl;
			best = r->amax * n / HALF;
		}
	}
	return best;
}

/* The clip after all batches; each moves it unless the window's maximum is 0 or not finite. */
static double
delayed(const hu_range *r, const hu_scheme *s)
{
	double clip = hu_format_of(s->format).max;

	for (size_t i = 0; i < r->nbatch; i++) {
		double most = 0;
		for (size_t k = i + 1 > s->history ? i + 1 - s->history : 0; k <= i; k++)
			most = fmax(most, r->batch[k]);
		if (most > 0 && hu_isfinite(most))
			clip = ldexp(most, (int)s->margin);
	}
	return clip;
}

int
hu_range_counts(const hu_scheme *s)
{
	return s->calibration != HU_CALIBRATION_MAX && s->calibration != HU_CALIBRATION_HISTORY;
}

double
hu_range_clip(const hu_range *r, const hu_scheme *s)
{
	if (s->calibration == HU_CALIBRATION_HISTORY)
		return delayed(r, s);
	if (r->amax == 0 || !hu_range_counts(s))
		return r->amax;
	HU_ASSERT(r->bins); /* values were counted for every method that reads them */
	switch (s->calibration) {
	case HU_CALIBRATION_PERCENTILE: return percentile(r, s->percent);
	case HU_CALIBRATION_MSE: return least_squares(r, s);
	case HU_CALIBRATION_ENTROPY: return least_divergence(r);
	case HU_CALIBRATION_MAX:
	case HU_CALIBRATION_HISTORY: break;
	}
	return r->amax;
}
