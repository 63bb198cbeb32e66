/* SPDX-License-Identifier: Apache-2.0
   Whether errors have mean zero, which probabilistic bounds assume. d = got - reference is added up along
   directions, over the model's variance; T is that of lib/judge/verdict/bias.h. Clusters are rows, or columns or
   elements where there are few rows. An alarm needs a bias against both the exact value rounded once and the
   emulation of the declared stores: inputs of 16 bits repeat, and so do their rounding errors, so that one
   reference alone condemns right kernels. */
#include "lib/judge/kernel/verdict.h"

#include "lib/base/mem.h"
#include "lib/judge/verdict/bias.h"

#include <stdlib.h>

enum { CONSTANT, AWAY, GAIN, DIRECTIONS, CLUSTERS = 64 /* T is at most the root of their number */ };
static const char *const names[DIRECTIONS] = { "constant", "away from zero", "in proportion" };

/* The direction's component for an element: half an ulp, towards the element's sign, or the element itself. */
static double
component(int direction, double x, double h)
{
	double sign = x > 0 ? 1 : x < 0 ? -1 : 0;

	return direction == CONSTANT ? h : direction == AWAY ? sign * h : x;
}

/* T of one direction against one reference; *sum is the weighted sum. Weights are 1 over the model's variance, so that
   elements where other stores err by much more than the last one count as little as they say. */
static double
statistic(int direction, const double *got, const hu_balls *ref, const hu_balls *x, const hu_balls *compute,
	hu_format f, double lambda, double *sum)
{
	size_t w = hu_balls_dim(ref, -1), rows = w ? ref->n / w : 0;
	double all = 0, reach = 0, by_row = 0, by_column = 0, each = 0, *column = hu_xcalloc(w + 1, sizeof *column);

	for (size_t i = 0; i < rows; i++) {
		double row = 0;
		for (size_t j = 0; j < w; j++) {
			size_t at = i * w + j;
			hu_ball b = x->b[at], c = compute ? compute->b[at] : hu_ball_of(0);
			double h = hu_ball_half_ulp(b.x, f), d = got[at] - hu_round(ref->b[at].x, f, HU_RNE, 0, 0);
			double k = component(direction, b.x, h) / ((b.v + h * h) / 3 + b.c * b.c);
			double most = fmin(c.r, lambda * (sqrt(c.v) + c.c));
			if (!hu_isfinite(d) || !hu_isfinite(k) || !(b.r < INFINITY))
				continue;
			row += d * k;
			column[j] += d * k;
			each += d * k * (d * k);
			reach += most < INFINITY ? most * fabs(k) : 0;
		}
		all += row;
		by_row += row * row;
	}
	for (size_t j = 0; j < w; j++)
		by_column += column[j] * column[j];
	free(column);
	*sum = all;
	return hu_bias_statistic(all, rows >= CLUSTERS ? by_row : w >= CLUSTERS ? by_column : each, reach);
}

hu_bias
hu_kernel_bias(const double *got, const hu_balls *x, const hu_balls *declared, const hu_balls *compute, hu_format f,
	double lambda)
{
	hu_bias b = { names[CONSTANT], 0, 0, 0, 0 };
	double mean = 0;
	size_t n = 0;

	for (int k = 0; k < DIRECTIONS; k++) {
		double p, q, s = statistic(k, got, x, x, compute, f, lambda, &p),
			     t = statistic(k, got, declared, x, compute, f, lambda, &q);
		double least = p * q > 0 ? fmin(s, t) : 0;
		if (k == 0 || least > b.t)
			b = (hu_bias){ names[k], 0, least, s, t };
	}
	for (size_t i = 0; i < x->n; i++) {
		double d = (got[i] - x->b[i].x) / (2 * hu_ball_half_ulp(x->b[i].x, f));
		if (hu_isfinite(d)) {
			mean += b.direction == names[CONSTANT] || x->b[i].x > 0 ? d : -d;
			n++;
		}
	}
	b.mean_ulps = n ? mean / (double)n : 0;
	return b;
}
