/* SPDX-License-Identifier: Apache-2.0
   Index maps as calls of the operator move: reshapes, transposes, broadcasts, parts. What moves nothing is no call. */
#include "lib/import/importing.h"

#include "lib/op/move/keys.h"

#include <string.h>

hu_axes
hu_axes_same(hu_shape s)
{
	hu_axes x = { .s = s };

	for (int i = 0; i < HU_RANK; i++) {
		x.from[i] = i;
		x.step[i] = 1;
	}
	return x;
}

static void
set_shape(hu_importing *c, hu_shape s)
{
	hu_import_set(c, "rank", s.rank);
	for (int i = 0; i < s.rank; i++)
		hu_import_set(c, hu_move_key[i].d, (double)s.d[i]);
}

/* Attributes that were set for the call behind a move: an argument of that call may have to be moved first. */
typedef struct waiting {
	hu_attr attr[HU_MAX_ATTR];
	int n;
} waiting;

static waiting
set_aside(hu_importing *c)
{
	waiting w = { .n = c->nattr };

	memcpy(w.attr, c->attr, sizeof *w.attr * (size_t)w.n);
	c->nattr = 0;
	return w;
}

static void
set_again(hu_importing *c, const waiting *w)
{
	memcpy(c->attr, w->attr, sizeof *w->attr * (size_t)w->n);
	c->nattr = w->n;
}

int
hu_import_flat(hu_importing *c, int a, hu_shape s)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	if (hu_same_shape(c->p->t[a].shape, s))
		return a;
	if (!hu_count(s))
		return hu_import_nothing(c, c->p->t[a].format, s);
	waiting w = set_aside(c);
	set_shape(c, s);
	hu_import_set(c, "flat", 1);
	int t = hu_import_call1(c, "move", a);
	set_again(c, &w);
	return t;
}

/* 1 where the elements keep their order: axes of one element may come and go. */
static int
keeps_order(const hu_axes *x, hu_shape in)
{
	int last = -1;

	for (int j = 0; j < x->s.rank; j++) {
		if (x->s.d[j] == 1 && (x->from[j] < 0 || (in.d[x->from[j]] == 1 && x->start[j] == 0)))
			continue;
		if (x->from[j] <= last || x->s.d[j] != in.d[x->from[j]] || x->start[j] != 0 || x->step[j] != 1)
			return 0;
		last = x->from[j];
	}
	return hu_count(in) == hu_count(x->s);
}

int
hu_import_move(hu_importing *c, int a, const hu_axes *x)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	if (!hu_count(x->s))
		return hu_import_nothing(c, c->p->t[a].format, x->s);
	if (keeps_order(x, c->p->t[a].shape))
		return hu_import_flat(c, a, x->s);
	waiting w = set_aside(c);
	set_shape(c, x->s);
	for (int j = 0; j < x->s.rank; j++) {
		if (x->from[j] < 0)
			continue;
		hu_import_set(c, hu_move_key[j].from, x->from[j]);
		if (x->start[j] != 0)
			hu_import_set(c, hu_move_key[j].start, x->start[j]);
		if (x->step[j] != 1)
			hu_import_set(c, hu_move_key[j].step, x->step[j]);
	}
	if (x->fill != 0)
		hu_import_set(c, "fill", x->fill);
	int t = hu_import_call1(c, "move", a);
	set_again(c, &w);
	return t;
}

int
hu_import_expand(hu_importing *c, int a, hu_shape s)
{
	hu_axes x = hu_axes_same(s);

	if (a < 0 || c->st != HU_OK)
		return -1;
	hu_shape in = c->p->t[a].shape;
	for (int j = 0; j < s.rank; j++) {
		int k = j - (s.rank - in.rank);
		x.from[j] = k >= 0 && in.d[k] == s.d[j] ? k : -1;
	}
	return hu_import_move(c, a, &x);
}

/* A constant that is repeated is no parameter, which policies treat otherwise, and folds where that is small. So one
   number behind a move of its own stands for what would be repeated. */
int
hu_import_every(hu_importing *c, int a, hu_shape s)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	if (hu_count(c->p->t[a].shape) != 1 || hu_count(s) <= HU_IMPORT_FOLDED)
		return hu_import_expand(c, a, s);
	if (!c->constant[a].data || (c->asking && c->asking->fill) || hu_asking_varies(c, a))
		return hu_import_flat(c, a, hu_shape0());
	waiting w = set_aside(c);
	set_shape(c, hu_shape0());
	hu_import_set(c, "flat", 1);
	c->unfolded = 1;
	int t = hu_import_call1(c, "move", a);
	c->unfolded = 0;
	set_again(c, &w);
	return t;
}

int
hu_import_part(hu_importing *c, int a, int axis, size_t from, size_t n)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	hu_axes x = hu_axes_same(c->p->t[a].shape);
	x.s.d[axis] = n;
	x.start[axis] = (double)from;
	return hu_import_move(c, a, &x);
}
