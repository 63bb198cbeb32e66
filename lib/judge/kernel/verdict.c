/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/verdict_sums.h"

#include "lib/base/mem.h"

#include <stdlib.h>

enum { LEAST_ROWS = 24, FEWEST_ROWS = 12 };

static const struct {
	const char *words, *name;
} words[HU_KERNEL_WORDS] = {
	[HU_KERNEL_RIGHT] = { "right", "right" },
	[HU_KERNEL_UNDECLARED] = { "right, but not by the declared roundings", "undeclared" },
	[HU_KERNEL_BIASED] = { "biased", "biased" },
	[HU_KERNEL_IMPROBABLE] = { "beyond the probable bound", "probable" },
	[HU_KERNEL_WRONG] = { "beyond the proven bound", "proven" },
};

const char *
hu_kernel_words(hu_kernel_word w)
{
	return words[w].words;
}
const char *
hu_kernel_word_name(hu_kernel_word w)
{
	return words[w].name;
}

double
hu_kernel_lambda(size_t n, double confidence)
{
	return sqrt(2 * log(2 * (double)(n ? n : 1) / (1 - confidence)));
}

/* Round to nearest errs by half an ulp at the larger end of the ball; beyond the largest number there is no bound. */
double
hu_kernel_bound(hu_ball x, hu_format f)
{
	double most = hu_ball_most(x), half = hu_ball_half_ulp(most, f);

	if (!(most < f.max + hu_ball_half_ulp(f.max, f)))
		return INFINITY;
	return (x.r + half) * HU_BALL_UP;
}

double
hu_kernel_probable(hu_ball x, hu_format f, double lambda)
{
	double b = lambda * (sqrt(x.v) + x.c);

	x.r = fmin(b + HU_BALL_OWN * fabs(x.x), x.r);
	return hu_kernel_bound(x, f);
}

/* An exact value that is NaN or infinite, or that must overflow, allows one answer. */
static int
is_certain(hu_ball x, hu_format f, double *want)
{
	if (x.r != 0 && !(fabs(x.x) - x.r > f.max + hu_ball_half_ulp(f.max, f)))
		return 0;
	*want = isnan(x.x) ? NAN : hu_round(x.x, f, HU_RNE, 0, 0);
	return !hu_isfinite(*want);
}

static int
beyond(double got, hu_ball x, hu_format f)
{
	double want, b = hu_kernel_bound(x, f);

	if (hu_ball_is_nothing(x))
		return !hu_ball_nothing_allows(x, got, f);
	if (is_certain(x, f, &want))
		return isnan(want) ? !isnan(got) : got != want;
	return b < INFINITY && !(fabs(got - x.x) <= b);
}

struct hu_kernel_sums {
	hu_kernel_verdict v;
	hu_format f;
	hu_bias_lines *bias;
	double mean, radius, energy; /* the energy of all */
	double known;                /* the energy that the declared roundings of these very values have */
	double *row, *column;        /* of each line of the last axis, of each column */
	size_t seen, bounded, width;
};

hu_kernel_sums *
hu_kernel_sums_begin(size_t n, size_t width, hu_format f, double confidence)
{
	hu_kernel_sums *s = hu_xcalloc(1, sizeof *s);

	s->v = (hu_kernel_verdict){ .n = n, .confidence = confidence, .lambda = hu_kernel_lambda(n, confidence) };
	s->f = f;
	s->width = width ? width : 1;
	s->row = hu_xcalloc(n / s->width + 1, sizeof *s->row);
	s->column = hu_xcalloc(s->width, sizeof *s->column);
	s->bias = hu_bias_lines_begin(n, width, f, s->v.lambda);
	return s;
}

static void
worst(hu_kernel_sums *s, size_t at, double got, hu_ball x, double ratio)
{
	hu_kernel_verdict *v = &s->v;

	v->ratio = ratio;
	v->worst = at;
	v->got = got;
	v->exact = x.x;
	v->bound = hu_kernel_bound(x, s->f);
	v->probable = hu_kernel_probable(x, s->f, v->lambda);
}

/* The mean square error of a kernel that rounds as declared, where the roundings of this value are decided. The model's
   uniform errors are those of values that differ: where all shares of a softmax are nearly one number, all have one
   error. */
static double
known_square(hu_ball x, hu_ball declared, hu_ball compute, hu_format f, double model)
{
	double e = hu_round(declared.x, f, HU_RNE, 0, 0) - x.x;

	return declared.r < INFINITY && hu_isfinite(e) ? e * e + compute.v / 3 + compute.c * compute.c : model;
}

void
hu_kernel_sums_add(hu_kernel_sums *s, size_t at, double got, hu_ball x, hu_ball declared, hu_ball compute)
{
	hu_kernel_verdict *v = &s->v;
	hu_format f = s->f;
	double want, b = hu_kernel_bound(x, f), e = fabs(got - x.x);
	int certain = is_certain(x, f, &want), wrong = beyond(got, x, f);

	hu_bias_lines_add(s->bias, at, got, x, declared, compute);
	if (!s->seen++)
		worst(s, at, got, x, 0);
	v->unbounded += !certain && !(b < INFINITY);
	v->wrong += wrong;
	v->differ += certain ? wrong : !(got == hu_round(x.x, f, HU_RNE, 0, 0));
	if (certain || !(b < INFINITY)) {
		if (wrong && v->ratio < INFINITY)
			worst(s, at, got, x, INFINITY);
		return;
	}
	double ratio = isnan(e) ? INFINITY : e > 0 ? e / b : 0, p = hu_kernel_probable(x, f, v->lambda);
	double ulp = 2 * hu_ball_half_ulp(x.x, f), h = ulp / 2;
	v->improbable += !(e <= p);
	v->probable_ratio = fmax(v->probable_ratio, isnan(e) ? INFINITY : e > 0 ? e / p : 0);
	v->undeclared += beyond(got, declared, f);
	if (ratio > v->ratio || (!s->bounded && v->ratio < INFINITY)) /* a wrong infinity or NaN stays the worst */
		worst(s, at, got, x, ratio);
	s->bounded++;
	v->largest = fmax(v->largest, fabs(x.x));
	s->radius += b / h;
	if (!hu_isfinite(got))
		return;
	v->worst_ulps = fmax(v->worst_ulps, e / ulp);
	s->mean += (got - x.x) / ulp;
	double model = (x.v + h * h) / 3 + x.c * x.c, q = e * e / model;
	s->energy += q;
	s->known += known_square(x, declared, compute, f, model) / model;
	s->row[at / s->width] += q;
	s->column[at % s->width] += q;
}

/* The variance of the mean of n sums of `each` elements. */
static double
variance_of_mean(const double *sum, size_t n, size_t each, double mean)
{
	double var = 0;

	for (size_t i = 0; i < n; i++) {
		double d = sum[i] / (double)each - mean;
		var += d * d / (double)(n - 1);
	}
	return var / (double)n;
}

/* By how many standard errors the mean square error is above its model's, of rows that are independent of each other:
   the elements of one may share errors. Where there are few rows the columns' scatter counts where it is larger; 0
   where there are few of these too. */
static double
standard_errors(const hu_kernel_sums *s, double mean)
{
	size_t rows = s->v.n / s->width, few = rows < LEAST_ROWS;

	if (rows < FEWEST_ROWS || (few && s->width < LEAST_ROWS) || s->bounded < s->v.n)
		return 0;
	double var = variance_of_mean(s->row, rows, s->width, mean);
	if (few)
		var = fmax(var, variance_of_mean(s->column, s->width, rows, mean));
	return var > 0 ? (mean - 1) / sqrt(var) : 0;
}

void
hu_kernel_sums_end(hu_kernel_verdict *v, hu_kernel_sums *s)
{
	double n = (double)s->bounded;

	int energetic;

	*v = s->v;
	v->mean_ulps = n > 0 ? s->mean / n : 0;
	v->radius = n > 0 ? s->radius / n : 0;
	v->energy = n > 0 ? s->energy / n : 0;
	v->energy_t = standard_errors(s, v->energy);
	energetic = v->energy > HU_ENERGY && v->energy_t > HU_ENERGY_T && s->energy > HU_ENERGY * s->known;
	free(s->row);
	free(s->column);
	v->bias = hu_bias_lines_end(s->bias);
	v->word = v->wrong                      ? HU_KERNEL_WRONG
		  : v->improbable || energetic  ? HU_KERNEL_IMPROBABLE
		  : v->bias.t > HU_BIAS_T       ? HU_KERNEL_BIASED
		  : v->undeclared               ? HU_KERNEL_UNDECLARED
						: HU_KERNEL_RIGHT;
	free(s);
}

void
hu_kernel_judge(hu_kernel_verdict *v, const double *got, const hu_balls *x, const hu_balls *declared,
	const hu_balls *compute, hu_format f, double confidence)
{
	hu_kernel_sums *s = hu_kernel_sums_begin(x->n, hu_balls_dim(x, -1), f, confidence);

	for (size_t i = 0; i < x->n; i++)
		hu_kernel_sums_add(s, i, got[i], x->b[i], declared->b[i], compute ? compute->b[i] : hu_ball_of(0));
	hu_kernel_sums_end(v, s);
}
