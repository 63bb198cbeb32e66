/* SPDX-License-Identifier: Apache-2.0
   A rounding to a format of the graph. */
#ifndef HU_JUDGE_STORE_H
#define HU_JUDGE_STORE_H

#include "lib/judge/kernel/graph.h"

/* Rounds a to f by round to nearest even. Where stores are decided the value becomes the stored one: its radius is 0 if
   both ends of the ball round to the same number, else the distance to the farther of the two. Otherwise the radius
   grows by half an ulp at |x| + r. A value that may overflow has no bound; one that must is an infinity where stores
   are decided, and else has no bound either, since a kernel that keeps it in a wider format does not overflow. */
static inline hu_ball
hu_ball_store(hu_ball a, hu_format f, hu_stores how)
{
	double most = hu_ball_most(a), half = hu_ball_half_ulp(most, f), near;

	if (how == HU_STORES_NONE || f.id == HU_NO_FORMAT)
		return a;
	if (most >= f.max + hu_ball_half_ulp(f.max, f) || !(most < INFINITY)) {
		int decided = how == HU_STORES_DECIDE,
		    sure = hu_isfinite(a.x) ? decided && fabs(a.x) - a.r > f.max + hu_ball_half_ulp(f.max, f)
					    : a.r == 0;
		return (hu_ball){ decided ? hu_round(a.x, f, HU_RNE, 0, 0) : a.x, sure ? 0 : INFINITY, 0, 0 };
	}
	if (how == HU_STORES_DECIDE) {
		double x = hu_round(a.x, f, HU_RNE, 0, 0), low = hu_round(a.x - a.r, f, HU_RNE, 0, 0),
		       high = hu_round(a.x + a.r, f, HU_RNE, 0, 0), r = fmax(high - x, x - low);
		return (hu_ball){ x, r, r * r, 0 };
	}
	near = hu_ball_half_ulp(a.x, f);
	return (hu_ball){ a.x, (a.r + half) * HU_BALL_UP, a.v + near * near, a.c };
}
#endif
