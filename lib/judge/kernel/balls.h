/* SPDX-License-Identifier: Apache-2.0
   Arrays of balls (ball.h): shapes, memory, and the strides by which one broadcasts to another's shape. */
#ifndef HU_JUDGE_BALLS_H
#define HU_JUDGE_BALLS_H

#include "lib/base/status.h"
#include "lib/judge/kernel/ball.h"

#include <stddef.h>

enum { HU_BALLS_RANK = 8 };

typedef struct hu_balls {
	int rank;
	size_t d[HU_BALLS_RANK], n;
	hu_ball *b; /* row-major; NULL: the array is absent */
} hu_balls;

/* Allocates an array of zeros. HU_ENOMEM names what it was for. */
hu_status hu_balls_make(hu_balls *a, int rank, const size_t *d, const char *what);
hu_status hu_balls_like(hu_balls *a, const hu_balls *shape, const char *what);
void hu_balls_release(hu_balls *a);

/* The length of an axis counted from the first, or, where negative, from behind the last. 1 where there is none. */
size_t hu_balls_dim(const hu_balls *a, int axis);
/* The number of elements before the last `axes` axes, and of these. */
size_t hu_balls_outer(const hu_balls *a, int axes);
size_t hu_balls_inner(const hu_balls *a, int axes);
/* "2x3x4", in text, for messages; returns text. */
enum { HU_BALLS_WORDS = 128 };
const char *hu_balls_shape(const hu_balls *a, char text[HU_BALLS_WORDS]);

/* The shape that a and b broadcast to by NumPy's rules, without memory. HU_EFILE says which lengths disagree. */
hu_status hu_balls_broadcast(hu_balls *y, const hu_balls *a, const hu_balls *b, const char *what);
/* The index in a of element i of the larger shape y, to which a broadcasts. */
size_t hu_balls_at(const hu_balls *a, const hu_balls *y, size_t i);
/* 1 if no element has an error. */
int hu_balls_exact(const hu_balls *a);
/* An operand as a format computes with it whose largest number is max (0: no limit): a number that may be larger has no
   bound, since it may have overflowed. *x becomes *own, which the caller releases, where it has one. */
hu_status hu_balls_limit(hu_balls *x, double max, hu_balls *own);
#endif
