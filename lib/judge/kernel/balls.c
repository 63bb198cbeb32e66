/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/balls.h"

#include "lib/base/mem.h"
#include "lib/base/memory/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_balls_make(hu_balls *a, int rank, const size_t *d, const char *what)
{
	void *room;

	a->rank = rank;
	a->n = 1;
	for (int i = 0; i < HU_BALLS_RANK; i++)
		a->d[i] = i < rank ? d[i] : 1;
	for (int i = 0; i < rank; i++) {
		if (d[i] && a->n > (size_t)-1 / 64 / d[i])
			return hu_fail(HU_ENOMEM, "%s: the array has more elements than memory can address", what);
		a->n *= d[i];
	}
	HU_TRY(hu_room_get(&room, (a->n + 1) * sizeof *a->b, what));
	a->b = room;
	memset(a->b, 0, (a->n + 1) * sizeof *a->b);
	return HU_OK;
}

hu_status
hu_balls_like(hu_balls *a, const hu_balls *shape, const char *what)
{
	return hu_balls_make(a, shape->rank, shape->d, what);
}

void
hu_balls_release(hu_balls *a)
{
	if (a->b)
		hu_room_free(a->b);
	*a = (hu_balls){ .b = NULL };
}

size_t
hu_balls_dim(const hu_balls *a, int axis)
{
	int i = axis < 0 ? a->rank + axis : axis;

	return i < 0 || i >= a->rank ? 1 : a->d[i];
}

size_t
hu_balls_inner(const hu_balls *a, int axes)
{
	size_t n = 1;

	for (int i = 1; i <= axes; i++)
		n *= hu_balls_dim(a, -i);
	return n;
}

size_t
hu_balls_outer(const hu_balls *a, int axes)
{
	size_t n = 1;

	for (int i = 0; i < a->rank - axes; i++)
		n *= a->d[i];
	return n;
}

const char *
hu_balls_shape(const hu_balls *a, char text[HU_BALLS_WORDS])
{
	size_t at = 0;

	strcpy(text, "scalar");
	for (int i = 0; i < a->rank && at < HU_BALLS_WORDS; i++)
		at += (size_t)snprintf(text + at, HU_BALLS_WORDS - at, i ? "x%zu" : "%zu", a->d[i]);
	return text;
}

hu_status
hu_balls_broadcast(hu_balls *y, const hu_balls *a, const hu_balls *b, const char *what)
{
	char s[HU_BALLS_WORDS], t[HU_BALLS_WORDS];

	*y = (hu_balls){ .rank = a->rank > b->rank ? a->rank : b->rank, .n = 1 };
	for (int i = 0; i < HU_BALLS_RANK; i++)
		y->d[i] = 1;
	for (int i = 1; i <= y->rank; i++) {
		size_t p = hu_balls_dim(a, -i), q = hu_balls_dim(b, -i);
		if (p != q && p != 1 && q != 1)
			return hu_fail(HU_EFILE, "%s: shapes %s and %s do not fit each other", what,
				hu_balls_shape(a, s), hu_balls_shape(b, t));
		y->d[y->rank - i] = p == 1 ? q : p;
		y->n *= p == 1 ? q : p;
	}
	return HU_OK;
}

size_t
hu_balls_at(const hu_balls *a, const hu_balls *y, size_t i)
{
	size_t at = 0, stride = 1;

	if (a->n == y->n)
		return i;
	if (a->n == 1)
		return 0;
	for (int k = 1; k <= y->rank; k++) {
		size_t d = y->d[y->rank - k], j = i % d, mine = hu_balls_dim(a, -k);
		at += mine == 1 ? 0 : j * stride;
		stride *= mine;
		i /= d;
	}
	return at;
}

int
hu_balls_exact(const hu_balls *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->b[i].r != 0 || a->b[i].v != 0 || a->b[i].c != 0)
			return 0;
	return 1;
}

static int
overflows(hu_ball a, double max)
{
	return hu_isfinite(a.x) && a.r < INFINITY && hu_ball_most(a) > max;
}

hu_status
hu_balls_limit(hu_balls *x, double max, hu_balls *own)
{
	size_t first = 0;

	*own = (hu_balls){ .b = NULL };
	while (first < x->n && max > 0 && x->b && !overflows(x->b[first], max))
		first++;
	if (!(max > 0) || !x->b || first == x->n)
		return HU_OK;
	HU_TRY(hu_balls_like(own, x, "the graph's values"));
	for (size_t i = 0; i < x->n; i++)
		own->b[i] = overflows(x->b[i], max) ? (hu_ball){ x->b[i].x, INFINITY, 0, 0 } : x->b[i];
	*x = *own;
	return HU_OK;
}
