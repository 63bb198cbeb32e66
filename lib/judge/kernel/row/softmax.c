/* SPDX-License-Identifier: Apache-2.0
   Softmax and what is like it. The errors of a line's denominator are shared by the line, so closed forms are used:
   with theta_j the relative error of numerator j and T = sum of p_j theta_j, a share p errs by at most p (theta (1-p) +
   (T - p theta) + g (1+T)) / (1-T), where g is the error of the sum. The exponential's argument is a difference d that
   may be multiplied by log2 e (functions.def): it errs by 2.7 u |d|. */
#include "lib/judge/kernel/row/lines.h"
#include "lib/judge/kernel/store.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/elementary/elementary.h"

#include <stdlib.h>

/* What is known of a line: its largest element, the sum of exponentials of the distances to it, the numerators'
   relative errors, proven and as variances. */
typedef struct line {
	double top, sum, mean_theta, mean_var, g, s;
	int whole;
} line;

enum { MOST = 700 }; /* exponentials below exp(-700) count as that, so that none leaves double's range */

/* Fills w (shares), theta and var, of n each. */
static line
survey(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a, double *w, double *theta, double *var)
{
	line l = { .top = -INFINITY, .whole = 1 };

	for (size_t k = 0; k < n; k++) {
		double t = x[k * stride].x;
		l.whole = l.whole && t < INFINITY; /* neither NaN nor +Inf */
		l.top = t > l.top ? t : l.top;
	}
	l.whole = l.whole && l.top > -INFINITY;
	if (!l.whole)
		return l;
	for (size_t k = 0; k < n; k++) {
		hu_ball b = x[k * stride];
		double d = l.top - b.x, arg = 2.72 * a->u * (d < INFINITY ? d : 0);
		w[k] = hu_exp(-d);
		theta[k] = d < INFINITY ? expm1(b.r + arg) * (1 + a->exp) + a->exp + HU_BALL_OWN : 0;
		if (d > MOST &&
			d < INFINITY) { /* theta of a share that has become 0 says nothing of one that need not be */
			w[k] = hu_exp(-MOST);
			theta[k] = fmax(1, hu_exp(b.r + arg + MOST - d) * (1 + a->exp)) + a->exp + HU_BALL_OWN;
		}
		var[k] = b.v + b.c * b.c + arg * arg + a->exp * a->exp;
		l.sum += k < hu_roundoffs_terms(a, n) ? w[k] : 0;
	}
	for (size_t k = 0; k < n; k++) {
		w[k] /= l.sum;
		l.mean_theta += w[k] * theta[k];
		l.mean_var += w[k] * w[k] * var[k];
	}
	hu_roundoffs_sum(a, n, &l.g, &l.s);
	l.g += ((double)n + 8) * 0x1p-52;
	l.mean_theta += (double)n * a->tiny; /* numerators that were flushed; the sum is at least 1 */
	return l;
}

/* The relative error of the sum: -log1p(-T) and its like need T < 1. */
static double
shared(const line *l)
{
	double t = l->mean_theta * (1 + l->g) + l->g;

	return t < 1 ? t / (1 - t) : INFINITY;
}

static hu_ball
share(const line *l, double w, double theta, double var, const hu_roundoffs *a)
{
	double t = l->mean_theta, rest = fmax(t - w * theta, 0), f = fmax(a->u, a->fn);
	/* a quotient, or the product with a reciprocal */
	double r = w * (theta * (1 - w) + rest + l->g * (1 + t) * (1 + theta) + a->u + f) / (1 - t) + a->tiny;
	double v = w * w * ((1 - 2 * w) * var + l->mean_var + l->s * l->s + a->u * a->u + f * f) +
		   a->tiny * a->tiny;

	return (hu_ball){ w, t < 1 ? r * HU_BALL_UP : INFINITY, fmax(v, 0), 0 };
}

/* The logarithm of the sum of exponentials of distances to the largest element. Some kernels store the sum, and then
   its logarithm, in the format of their operand. */
static hu_ball
log_sum(const line *l, const hu_roundoffs *a, hu_format f, hu_stores stores)
{
	double d = shared(l);
	hu_ball sum = { l->sum, d * l->sum, l->sum * l->sum * (l->mean_var + l->s * l->s), 0 }, y;

	sum = hu_ball_store(sum, f, stores);
	y.x = log(sum.x);
	y.r = sum.r < sum.x ? -log1p(-sum.r / sum.x) * (1 + a->fn) + (a->fn + HU_BALL_OWN) * (fabs(y.x) + 0.5)
			    : INFINITY;
	y.v = sum.v / (sum.x * sum.x) + a->fn * a->fn * y.x * y.x;
	y.c = 0;
	return hu_ball_store(y, f, stores);
}

enum { SHARE, LOG_SHARE, LOG_SUM };

static void
one_line(const hu_ball_call *c, const hu_ball *x, size_t n, size_t stride, int what, hu_format log_sum_in, double *room,
	hu_ball *y)
{
	const hu_roundoffs *a = c->roundoffs;
	double *w = room, *theta = room + n, *var = room + 2 * n;
	line l = survey(x, n, stride, a, w, theta, var);

	for (size_t k = 0; !l.whole && k < (what == LOG_SUM ? 1 : n); k++) /* an infinity, NaN, or -Inf alone */
		y[k * stride] = (hu_ball){ NAN, INFINITY, 0, 0 };
	if (!l.whole)
		return;
	for (size_t k = 0; what == SHARE && k < n; k++)
		y[k * stride] = share(&l, w[k], theta[k], var[k], a);
	if (what == SHARE)
		return;
	hu_ball s = log_sum(&l, a, log_sum_in, c->stores);
	if (what == LOG_SUM) {
		s.x += l.top;
		s.r += 2 * a->u * (fabs(l.top) + fabs(s.x));
		s.v += a->u * a->u * s.x * s.x;
		y[0] = s;
		return;
	}
	for (size_t k = 0; k < n; k++) {
		hu_ball b = x[k * stride];
		double d = b.x - l.top, z = d - s.x;
		y[k * stride] = (hu_ball){ z, b.r + s.r + 2 * a->u * (fabs(d) + fabs(s.x) + fabs(z) + fabs(l.top)),
			b.v + s.v + a->u * a->u * (d * d + z * z + l.top * l.top), b.c };
	}
}

static hu_status
along(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int what)
{
	hu_lines l;
	int axis;
	hu_format_id inner;

	HU_TRY(hu_ball_format(c, "log_sum", &inner));
	hu_format f = hu_format_of(inner);
	HU_TRY(hu_reduce_lines_of(c, &in[0], &l, &axis));
	HU_TRY(what == LOG_SUM ? hu_reduce_lines(c, &in[0], axis, &out[0])
			       : hu_balls_like(&out[0], &in[0], c->row->name));
#pragma omp parallel num_threads(hu_threads()) if (in[0].n > 4096)
	{
		double *room = hu_xmalloc((3 * l.n + 1) * sizeof *room);
#pragma omp for schedule(static)
		for (size_t i = 0; i < l.count; i++)
			one_line(c, in[0].b + hu_lines_first(&l, i), l.n, l.stride, what, f, room,
				out[0].b + (what == LOG_SUM ? i : hu_lines_first(&l, i)));
		free(room);
	}
	return HU_OK;
}

#define ALONG(name, what)                                                                                              \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return along(c, in, out, what);                                                                        \
	}
ALONG(softmax, SHARE)
ALONG(log_softmax, LOG_SHARE)
ALONG(logsumexp, LOG_SUM)
