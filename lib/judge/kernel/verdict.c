/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/verdict.h"

#include "lib/base/mem.h"

#include <stdlib.h>

enum { LEAST_ROWS = 24 };

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

	if (is_certain(x, f, &want))
		return isnan(want) ? !isnan(got) : got != want;
	return b < INFINITY && !(fabs(got - x.x) <= b);
}

typedef struct sums {
	double ratio, ulps, mean, radius, energy, *row; /* row: the energy of each line of the last axis */
	size_t bounded, width;
} sums;

static void
one(hu_kernel_verdict *v, sums *s, size_t i, double got, hu_ball x, hu_ball declared, hu_format f)
{
	double want, b = hu_kernel_bound(x, f), p = hu_kernel_probable(x, f, v->lambda), e = fabs(got - x.x);
	int certain = is_certain(x, f, &want), wrong = beyond(got, x, f);
	double ulp = 2 * hu_ball_half_ulp(x.x, f), h = ulp / 2;

	v->unbounded += !certain && !(b < INFINITY);
	v->wrong += wrong;
	v->differ += certain ? wrong : !(got == hu_round(x.x, f, HU_RNE, 0, 0));
	if (certain || !(b < INFINITY)) {
		if (wrong && v->ratio < INFINITY) {
			v->ratio = INFINITY;
			v->worst = i;
		}
		return;
	}
	double ratio = isnan(e) ? INFINITY : e > 0 ? e / b : 0;
	v->improbable += !(e <= p);
	v->probable_ratio = fmax(v->probable_ratio, isnan(e) ? INFINITY : e > 0 ? e / p : 0);
	v->undeclared += beyond(got, declared, f);
	if (ratio > v->ratio || (!s->bounded && v->ratio < INFINITY)) { /* a wrong infinity or NaN stays the worst */
		v->ratio = ratio;
		v->worst = i;
	}
	s->bounded++;
	v->largest = fmax(v->largest, fabs(x.x));
	s->radius += b / h;
	if (!hu_isfinite(got))
		return;
	v->worst_ulps = fmax(v->worst_ulps, e / ulp);
	s->mean += (got - x.x) / ulp;
	double model = (x.v + h * h) / 3 + x.c * x.c, q = e * e / model;
	s->energy += q;
	s->row[i / s->width] += q;
}

/* By how many standard errors the mean square error is above its model's, of rows that are independent of each other:
   the elements of one may share errors. 0 where there are few rows. */
static double
standard_errors(const sums *s, const hu_balls *x, double mean)
{
	size_t rows = x->n / s->width;
	double var = 0;

	if (rows < LEAST_ROWS || s->bounded < x->n)
		return 0;
	for (size_t i = 0; i < rows; i++) {
		double d = s->row[i] / (double)s->width - mean;
		var += d * d / (double)(rows - 1);
	}
	return var > 0 ? (mean - 1) / sqrt(var / (double)rows) : 0;
}

void
hu_kernel_judge(hu_kernel_verdict *v, const double *got, const hu_balls *x, const hu_balls *declared,
	const hu_balls *compute, hu_format f, double confidence)
{
	sums s = { .width = hu_balls_dim(x, -1) ? hu_balls_dim(x, -1) : 1 };

	s.row = hu_xcalloc(x->n / s.width + 1, sizeof *s.row);

	*v = (hu_kernel_verdict){ .n = x->n, .confidence = confidence, .lambda = hu_kernel_lambda(x->n, confidence) };
	for (size_t i = 0; i < x->n; i++)
		one(v, &s, i, got[i], x->b[i], declared->b[i], f);
	double n = (double)s.bounded;
	v->mean_ulps = n > 0 ? s.mean / n : 0;
	v->radius = n > 0 ? s.radius / n : 0;
	v->energy = n > 0 ? s.energy / n : 0;
	v->energy_t = standard_errors(&s, x, v->energy);
	free(s.row);
	if (x->n) {
		hu_ball w = x->b[v->worst];
		v->got = got[v->worst];
		v->exact = w.x;
		v->bound = hu_kernel_bound(w, f);
		v->probable = hu_kernel_probable(w, f, v->lambda);
	}
	v->bias = hu_kernel_bias(got, x, declared, compute, f, v->lambda);
	v->word = v->wrong                                                                ? HU_KERNEL_WRONG
		  : v->improbable || (v->energy > HU_ENERGY && v->energy_t > HU_ENERGY_T) ? HU_KERNEL_IMPROBABLE
		  : v->bias.t > HU_BIAS_T                                                 ? HU_KERNEL_BIASED
		  : v->undeclared                                                         ? HU_KERNEL_UNDECLARED
											  : HU_KERNEL_RIGHT;
}
