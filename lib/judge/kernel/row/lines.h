/* SPDX-License-Identifier: Apache-2.0
   The lines of an array along one axis, each n elements with a stride. */
#ifndef HU_JUDGE_LINES_H
#define HU_JUDGE_LINES_H

#include "lib/judge/kernel/graph.h"

typedef struct hu_lines {
	size_t count, n, stride;
} hu_lines;

/* The lines of a along the call's key axis (preset -1, the last), or one line of all elements for axis=all, or of the
   last N axes together for axis=last:N. *at is the axis. */
hu_status hu_reduce_lines_of(const hu_ball_call *c, const hu_balls *a, hu_lines *l, int *at);
/* The first element of line i. */
static inline size_t
hu_lines_first(const hu_lines *l, size_t i)
{
	return i / l->stride * l->n * l->stride + i % l->stride;
}
/* Makes out an array with one element for each line: the axis is dropped, or has length 1 with the key keep=1. */
hu_status hu_reduce_lines(const hu_ball_call *c, const hu_balls *a, int axis, hu_balls *out);

/* The sum of a line, or of terms: Σx with radii, in the declared order of n terms. */
typedef struct hu_ball_sum {
	double x, r, most, v, c, magnitude;
	size_t n;
} hu_ball_sum;
static inline void
hu_ball_sum_add(hu_ball_sum *s, hu_ball a)
{
	s->x += a.x;
	s->r += a.r;
	s->most += hu_ball_most(a);
	s->magnitude += fabs(a.x);
	s->v += a.v;
	s->c += a.c;
	s->n++;
}
static inline hu_ball
hu_ball_sum_end(const hu_ball_sum *s, const hu_roundoffs *a)
{
	double g, p, own = ((double)s->n + 4) * 0x1p-52;

	hu_roundoffs_plain(a, s->n, &g, &p);
	return (hu_ball){ s->x, (s->r + (g + own) * s->most) * HU_BALL_UP, s->v + p * p * s->magnitude * s->magnitude,
		s->c };
}
#endif
