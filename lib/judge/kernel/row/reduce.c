/* SPDX-License-Identifier: Apache-2.0
   Reductions along an axis: sums, means, norms, extremes, products. */
#include "lib/judge/kernel/row/lines.h"

#include "lib/base/thread.h"

#include <string.h>

hu_status
hu_reduce_lines_of(const hu_ball_call *c, const hu_balls *a, hu_lines *l, int *at)
{
	const char *word = hu_ball_text(c, "axis", "-1");
	double axis;

	*at = -1;
	if (!strcmp(word, "all") || !strncmp(word, "last:", 5)) {
		int axes = !strcmp(word, "all") ? a->rank : word[5] - '0';
		*l = (hu_lines){ hu_balls_outer(a, axes), hu_balls_inner(a, axes), 1 };
		*at = -axes;
		return axes >= 0 && axes <= a->rank ? HU_OK : hu_ball_misfit(c, "the array has too few axes");
	}
	HU_TRY(hu_ball_real(c, "axis", -1, &axis));
	if (axis != floor(axis) || axis >= a->rank || axis < -a->rank)
		return hu_ball_misfit(c, "axis=%s: the array has %d axes", word, a->rank);
	*at = (int)axis < 0 ? a->rank + (int)axis : (int)axis;
	*l = (hu_lines){ 0, a->d[*at], 1 };
	for (int i = *at + 1; i < a->rank; i++)
		l->stride *= a->d[i];
	l->count = l->n ? a->n / l->n : 0;
	return l->n ? HU_OK : hu_ball_misfit(c, "the axis has no element");
}

hu_status
hu_reduce_lines(const hu_ball_call *c, const hu_balls *a, int axis, hu_balls *out)
{
	size_t d[HU_BALLS_RANK], keep;
	int rank = 0, first = axis < 0 ? a->rank + axis : axis, last = axis < 0 ? a->rank : axis + 1;

	HU_TRY(hu_ball_count(c, "keep", 0, &keep));
	for (int i = 0; i < a->rank; i++)
		if (i < first || i >= last)
			d[rank++] = a->d[i];
		else if (keep)
			d[rank++] = 1;
	return hu_balls_make(out, rank, d, c->row->name);
}

typedef hu_ball (*reduction)(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a);

static hu_status
reduce(const hu_ball_call *c, const hu_balls *in, hu_balls *out, reduction f)
{
	hu_lines l;
	int axis;

	HU_TRY(hu_reduce_lines_of(c, &in[0], &l, &axis));
	HU_TRY(hu_reduce_lines(c, &in[0], axis, &out[0]));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < l.count; i++)
		out[0].b[i] = f(in[0].b + hu_lines_first(&l, i), l.n, l.stride, c->roundoffs);
	return HU_OK;
}

static hu_ball
sum(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball_sum s = { .n = 0 };

	for (size_t k = 0; k < hu_roundoffs_terms(a, n); k++)
		hu_ball_sum_add(&s, x[k * stride]);
	return hu_ball_sum_end(&s, a);
}

static hu_ball
mean(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	return hu_ball_rounded(hu_ball_div(sum(x, n, stride, a), hu_ball_of((double)n)), 2 * a->u, a->tiny);
}

static hu_ball
absolute(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball_sum s = { .n = 0 };

	for (size_t k = 0; k < hu_roundoffs_terms(a, n); k++) {
		hu_ball b = x[k * stride];
		b.x = fabs(b.x);
		hu_ball_sum_add(&s, b);
	}
	return hu_ball_sum_end(&s, a);
}

/* A square is a product; what underflows in it is counted. */
static hu_ball
squares(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball_sum s = { .n = 0 };

	for (size_t k = 0; k < hu_roundoffs_terms(a, n); k++)
		hu_ball_sum_add(&s, hu_ball_rounded(hu_ball_smooth(x[k * stride], x[k * stride].x * x[k * stride].x,
							    2 * x[k * stride].x, 2),
					    a->u, a->tiny));
	return hu_ball_sum_end(&s, a);
}

static hu_ball
root(hu_ball s, const hu_roundoffs *a)
{
	double y = sqrt(s.x), low = s.x - s.r;

	if (!(s.x > 0) || !(low > 0)) /* sqrt(x + r) is the largest that it can be */
		return (hu_ball){ y, s.r > 0 ? sqrt(s.x + s.r) : 0, s.v, s.c };
	return hu_ball_rounded(hu_ball_smooth(s, y, 0.5 / y, 0.25 * pow(low, -1.5)), 2 * a->u, 0);
}

static hu_ball
norm(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	return root(squares(x, n, stride, a), a);
}

/* The largest of values within radii r is within the largest r of the largest value; a tighter radius looks only at
   those that can be the largest. */
static hu_ball
largest(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball y = x[0];
	double floor = -INFINITY;

	(void)a;
	for (size_t k = 0; k < n; k++) {
		hu_ball b = x[k * stride];
		if (isnan(b.x))
			return (hu_ball){ NAN, 0, 0, 0 };
		y.x = fmax(y.x, b.x);
		floor = fmax(floor, b.x - b.r);
	}
	y.r = y.v = y.c = 0;
	for (size_t k = 0; k < n; k++) {
		hu_ball b = x[k * stride];
		if (b.x + b.r < floor)
			continue;
		y.r = fmax(y.r, b.r);
		y.v = fmax(y.v, b.v);
		y.c = fmax(y.c, b.c);
	}
	return y;
}

static hu_ball
smallest(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball y = hu_ball_of(INFINITY);

	(void)a;
	for (size_t k = 0; k < n; k++) {
		hu_ball b = x[k * stride];
		if (isnan(b.x))
			return (hu_ball){ NAN, 0, 0, 0 };
		y = (hu_ball){ fmin(y.x, b.x), fmax(y.r, b.r), fmax(y.v, b.v), fmax(y.c, b.c) };
	}
	return y;
}

static hu_ball
product(const hu_ball *x, size_t n, size_t stride, const hu_roundoffs *a)
{
	hu_ball y = x[0];

	for (size_t k = 1; k < n; k++)
		y = hu_ball_rounded(hu_ball_mul(y, x[k * stride]), a->acc, a->sum_tiny);
	return y;
}

#define REDUCE(name, f)                                                                                                \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return reduce(c, in, out, f);                                                                          \
	}
REDUCE(sum, sum)
REDUCE(mean, mean)
REDUCE(sum_abs, absolute)
REDUCE(sum_squares, squares)
REDUCE(norm2, norm)
REDUCE(reduce_max, largest)
REDUCE(reduce_min, smallest)
REDUCE(prod, product)
