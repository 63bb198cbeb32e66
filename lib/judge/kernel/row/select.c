/* SPDX-License-Identifier: Apache-2.0
   Powers, limits and selections of elements. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/row/element.h"

#include <string.h>

hu_status hu_ball_row_pow(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_pow(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *a = c->roundoffs;
	hu_element_errors s = { a->u, a->tiny, a->exp, a->fn, 0 };
	hu_balls y;

	HU_TRY(hu_balls_broadcast(&y, &in[0], &in[1], c->row->name));
	HU_TRY(hu_balls_like(&out[0], &y, c->row->name));
	for (size_t i = 0; i < out[0].n; i++)
		out[0].b[i] = hu_element_pow(
			in[0].b[hu_balls_at(&in[0], &out[0], i)], in[1].b[hu_balls_at(&in[1], &out[0], i)], &s);
	return HU_OK;
}

/* x, but at least low and at most high; NaN stays NaN. */
hu_status hu_ball_row_clip(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_clip(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	double low, high;

	HU_TRY(hu_ball_real(c, "low", -INFINITY, &low));
	HU_TRY(hu_ball_real(c, "high", INFINITY, &high));
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball a = in[0].b[i];
		if (a.x + a.r <= low || a.x - a.r >= high)
			a = hu_ball_of(a.x - a.r >= high ? high : low);
		else if (a.x < low || a.x > high)
			a.x = a.x < low ? low : high;
		out[0].b[i] = a;
	}
	return HU_OK;
}

/* a where the condition is not 0, else b. Where the condition is 0 within its radius it may be either. */
hu_status hu_ball_row_where(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_where(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_balls y, z;

	HU_TRY(hu_balls_broadcast(&y, &in[1], &in[2], c->row->name));
	HU_TRY(hu_balls_broadcast(&z, &in[0], &y, c->row->name));
	HU_TRY(hu_balls_like(&out[0], &z, c->row->name));
	for (size_t i = 0; i < out[0].n; i++) {
		hu_ball k = in[0].b[hu_balls_at(&in[0], &out[0], i)];
		hu_ball a = in[1].b[hu_balls_at(&in[1], &out[0], i)], b = in[2].b[hu_balls_at(&in[2], &out[0], i)];
		hu_ball chosen = k.x != 0 ? a : b, other = k.x != 0 ? b : a;
		if (k.r > 0 && fabs(k.x) <= k.r)
			chosen.r = fmax(chosen.r, fabs(a.x - b.x) + other.r);
		out[0].b[i] = chosen;
	}
	return HU_OK;
}

/* Comparisons are 1 or 0. Where the radii leave both, the radius is 1. */
static hu_status
compare(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int if_less, int if_equal, int if_greater)
{
	hu_balls y;

	HU_TRY(hu_balls_broadcast(&y, &in[0], &in[1], c->row->name));
	HU_TRY(hu_balls_like(&out[0], &y, c->row->name));
	for (size_t i = 0; i < out[0].n; i++) {
		hu_ball a = in[0].b[hu_balls_at(&in[0], &out[0], i)], b = in[1].b[hu_balls_at(&in[1], &out[0], i)];
		out[0].b[i] = hu_element_compared(a, b, if_less, if_equal, if_greater);
	}
	return HU_OK;
}

#define COMPARISON(name, l, e, g)                                                                                      \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);                        \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out)                         \
	{                                                                                                              \
		return compare(c, in, out, l, e, g);                                                                   \
	}
COMPARISON(less, 1, 0, 0)
COMPARISON(less_equal, 1, 1, 0)
COMPARISON(equal, 0, 1, 0)
COMPARISON(greater_equal, 0, 1, 1)
COMPARISON(greater, 0, 0, 1)

/* 1 where x is 0, else 0. */
hu_status hu_ball_row_logical_not(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_logical_not(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball a = in[0].b[i];
		out[0].b[i] = hu_ball_of(a.x == 0);
		out[0].b[i].r = a.r > 0 && fabs(a.x) <= a.r ? 1 : 0;
	}
	return HU_OK;
}
