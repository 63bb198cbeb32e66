/* SPDX-License-Identifier: Apache-2.0
   The arithmetic of optimizers' steps on balls, each result rounded as the kernel's format rounds. */
#ifndef HU_JUDGE_KERNEL_UPDATE_H
#define HU_JUDGE_KERNEL_UPDATE_H

#include "lib/judge/kernel/graph.h"

/* a k. k itself, a number of the optimizer, is rounded to the format too. */
static inline hu_ball
hu_update_times(hu_ball a, double k, const hu_roundoffs *r)
{
	return hu_ball_rounded(hu_ball_mul(a, hu_ball_of(k)), 2 * r->u, r->tiny);
}

/* a + b. */
static inline hu_ball
hu_update_plus(hu_ball a, hu_ball b, const hu_roundoffs *r)
{
	return hu_ball_rounded(hu_ball_add(a, b), r->u, 0);
}
#endif
