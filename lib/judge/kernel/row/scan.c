/* SPDX-License-Identifier: Apache-2.0
   Scans along an axis: running sums and products, and the recurrence h = a h + b of linear attention and state spaces.
   Under order=sequential an addition errs by u times its result, S_i and the error so far; in any order S_i errs by
   what a sum of i terms may err. */
#include "lib/judge/kernel/row/lines.h"

#include "lib/base/thread.h"

#include <string.h>

/* exclusive: element i does not count itself; reverse: from the last element to the first. */
typedef struct scan {
	size_t exclusive, reverse;
} scan;

static void
sums(const hu_roundoffs *a, const scan *s, const hu_ball *x, hu_ball *y, size_t n, size_t stride)
{
	hu_ball_sum sum = { .n = 0 };
	double walk = 0, spread = 0; /* of sequential sums: what they err so far, and the proxy of their roundings */
	double u = a->acc;
	int chain = a->order == HU_ORDER_SEQUENTIAL && !a->run;

	for (size_t i = 0; i < n; i++) {
		size_t at = (s->reverse ? n - 1 - i : i) * stride;
		if (s->exclusive) {
			y[at] = i ? hu_ball_sum_end(&sum, a) : hu_ball_of(0);
			if (i && chain)
				y[at].r = fmin(y[at].r, (sum.r + walk) * HU_BALL_UP), y[at].v = sum.v + spread;
		}
		hu_ball_sum_add(&sum, x[at]);
		if (i)
			walk = (walk * (1 + u) + u * (fabs(sum.x) + sum.r)) * HU_BALL_UP + 0x1p-52 * fabs(sum.x);
		spread += i ? u * u * sum.x * sum.x : 0;
		if (s->exclusive)
			continue;
		y[at] = hu_ball_sum_end(&sum, a);
		if (chain) {
			y[at].r = fmin(y[at].r, (sum.r + walk) * HU_BALL_UP);
			y[at].v = sum.v + spread;
		}
	}
}

static void
products(const hu_roundoffs *a, const scan *s, const hu_ball *x, hu_ball *y, size_t n, size_t stride)
{
	hu_ball p = hu_ball_of(1);

	for (size_t i = 0; i < n; i++) {
		size_t at = (s->reverse ? n - 1 - i : i) * stride;
		if (s->exclusive)
			y[at] = p;
		p = i ? hu_ball_rounded(hu_ball_mul(p, x[at]), a->acc, a->sum_tiny) : x[at];
		if (!s->exclusive)
			y[at] = p;
	}
}

static hu_status
along(const hu_ball_call *c, const hu_balls *in, hu_balls *out,
	void (*f)(const hu_roundoffs *, const scan *, const hu_ball *, hu_ball *, size_t, size_t))
{
	hu_lines l;
	int axis;
	scan s;

	HU_TRY(hu_ball_count(c, "exclusive", 0, &s.exclusive));
	HU_TRY(hu_ball_count(c, "reverse", 0, &s.reverse));
	HU_TRY(hu_reduce_lines_of(c, &in[0], &l, &axis));
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < l.count; i++)
		f(c->roundoffs, &s, in[0].b + hu_lines_first(&l, i), out[0].b + hu_lines_first(&l, i), l.n, l.stride);
	return HU_OK;
}

hu_status hu_ball_row_cumsum(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_cumsum(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return along(c, in, out, sums);
}

hu_status hu_ball_row_cumprod(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_cumprod(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return along(c, in, out, products);
}

/* h_t = a_t h_(t-1) + b_t along an axis, from h = 0. A kernel may join steps in any tree: then term b_i times the a's
   behind it meets at most 2 log2 roundings a level and never more than 2 t, so that h errs by at most gamma_2t times
   the recurrence of magnitudes, besides the operands' own errors. What is flushed is multiplied by the later a's. */
hu_status hu_ball_row_recurrence(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_recurrence(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *a = c->roundoffs;
	hu_lines l;
	int axis;

	if (in[0].n != in[1].n || in[0].rank != in[1].rank)
		return hu_ball_misfit(c, "a and b need one shape");
	HU_TRY(hu_reduce_lines_of(c, &in[1], &l, &axis));
	HU_TRY(hu_balls_like(&out[0], &in[1], c->row->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[1].n > 4096)
	for (size_t i = 0; i < l.count; i++) {
		size_t at = hu_lines_first(&l, i);
		hu_ball h = hu_ball_of(0);
		double size = 0, most = 0, lost = 0;
		for (size_t t = 0; t < l.n; t++, at += l.stride) {
			hu_ball d = in[0].b[at], b = in[1].b[at];
			/* x and the operands' errors: exact steps; most bounds the magnitudes with radii */
			h = hu_ball_add(hu_ball_mul(d, h), b);
			h.r = (h.r + 0x1p-51 * (fabs(h.x) + fabs(b.x))) * HU_BALL_UP;
			size = fabs(d.x) * size + fabs(b.x);
			most = hu_ball_most(d) * most + hu_ball_most(b);
			double g = hu_ball_gamma(a->acc, 2 * (double)t + 1), s = sqrt(2 * (double)t + 1) * a->acc;
			hu_ball y = h;
			lost = lost * hu_ball_most(d) + (t ? 2 : 1) * a->sum_tiny;
			y.r = (y.r + g * most + lost * (1 + g)) * HU_BALL_UP;
			y.v += s * s * size * size + lost * lost;
			out[0].b[at] = y;
		}
	}
	return HU_OK;
}
