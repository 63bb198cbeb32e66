/* SPDX-License-Identifier: Apache-2.0
   Finds the calls of each pass of fusions.def, and an order in which everything is written before it is read. */
#include "cuda/fuse/plan.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Owners of a call other than a group: it is alone so far, or not in this plan. */
enum { ALONE = -1, ABSENT = -2 };

typedef struct group { const hu_fusion *fusion; int *call, n, at, ahead; } group;

typedef struct planner {
	const hu_program *p;
	const hu_slot *t;
	const hu_fusion *fusions;
	int *owner;         /* for each call, its group, ALONE or ABSENT */
	const int *stretch; /* for each call, its stretch; NULL: all are of one */
	int *cast_ahead;    /* for each call, 1 if an update makes it for the next step */
	int *copy;
	group *g;
	int n, cap;
} planner;

void
hu_plan_work(hu_work *w, const hu_call *c, const hu_slot *t, const hu_slot **all)
{
	memset(w, 0, sizeof *w);
	w->call = c;
	w->op = c->op->name;
	w->role = c->op->role;
	w->all = all;
	for (int i = 0; i < c->nin; i++) {
		all[i] = &t[c->in[i]];
		if (i < 16)
			w->in[i] = all[i];
	}
	for (int i = 0; i < c->nout; i++)
		w->out[i] = &t[c->out[i]];
}

static int
serves(const planner *y, const hu_fusion *f, const int *call, int n)
{
	size_t inputs = 1;

	for (int i = 0; i < n; i++)
		inputs += (size_t)y->p->c[call[i]].nin;
	hu_work *w = hu_xcalloc((size_t)n, sizeof *w);
	const hu_slot **all = hu_xcalloc(inputs, sizeof *all), **at = all;
	for (int i = 0; i < n; i++) {
		hu_plan_work(&w[i], &y->p->c[call[i]], y->t, at);
		at += y->p->c[call[i]].nin;
	}
	int yes = f->serves(w, n);
	free(w);
	free(all);
	return yes;
}

/* Returns 1 if word k of a pattern such as "a|b?" contains op; *optional says whether the word has a question mark.
   Returns 0 past the last word. */
static int
word_is(const char *pattern, int k, const char *op, int *optional)
{
	size_t len = strlen(op);

	for (; k && *pattern; pattern++)
		k -= *pattern == ' ';
	if (k || !*pattern)
		return -1;
	size_t all = strcspn(pattern, " ");
	*optional = pattern[all - 1] == '?';
	for (const char *s = pattern; s < pattern + all; s += strcspn(s, "|?+ ") + 1)
		if (strcspn(s, "|?+ ") == len && !strncmp(s, op, len))
			return 1;
	return 0;
}

static void
add_group(planner *y, const hu_fusion *f, const int *call, int n, int at)
{
	HU_GROW(y->g, y->n, y->cap);
	y->g[y->n] = (group){ f, hu_xmalloc((size_t)n * sizeof *call), n, at, y->cast_ahead[call[0]] };
	memcpy(y->g[y->n].call, call, (size_t)n * sizeof *call);
	for (int i = 0; i < n; i++)
		y->owner[call[i]] = y->n;
	y->n++;
}

/* Returns 1 if call j belongs to no group and may join one that begins with call i. */
static int
may_join(const planner *y, int j, int i)
{
	return y->owner[j] == ALONE && (!y->stretch || y->stretch[j] == y->stretch[i]);
}

/* Builds a chain from call first on: each next call is the first free one that reads what the last one wrote and
   matches the next word. */
static void
chain_from(planner *y, const hu_fusion *f, int first)
{
	int call[8] = { first }, n = 1, optional = 0, k = 1;

	if (y->owner[first] != ALONE || word_is(f->pattern, 0, y->p->c[first].op->name, &optional) != 1)
		return;
	while (n < 8 && word_is(f->pattern, k, "", &optional) >= 0) {
		int next = -1;
		for (int j = call[n - 1] + 1; j < y->p->nc && next < 0; j++) {
			const hu_call *c = &y->p->c[j];
			call[n] = j;
			if (may_join(y, j, first) && !y->cast_ahead[j] && c->in[0] == y->p->c[call[n - 1]].out[0] &&
				word_is(f->pattern, k, c->op->name, &optional) == 1 && serves(y, f, call, n + 1))
				next = j;
		}
		if (next < 0 && !optional)
			return;
		n += next >= 0;
		k++;
	}
	if (n > 1)
		add_group(y, f, call, n, first);
}

/* Returns 1 if call j could stand in call i's place. */
static int
could_stand(const planner *y, int j, int i)
{
	for (int k = 0; k < y->p->c[j].nin; k++)
		if (y->p->t[y->p->c[j].in[k]].producer >= i)
			return 0;
	return 1;
}

static void
together_from(planner *y, const hu_fusion *f, int first)
{
	int *call, n = 0, optional, pair[2] = { first };

	if (y->owner[first] != ALONE || word_is(f->pattern, 0, y->p->c[first].op->name, &optional) != 1 ||
		!serves(y, f, pair, 1))
		return;
	call = hu_xmalloc((size_t)y->p->nc * sizeof *call);
	call[n++] = first;
	for (int j = first + 1; j < y->p->nc; j++) {
		pair[1] = j;
		if (may_join(y, j, first) && y->cast_ahead[j] == y->cast_ahead[first] &&
			y->p->c[j].op == y->p->c[first].op && could_stand(y, j, first) &&
			serves(y, f, pair, 2))
			call[n++] = j;
	}
	if (n > 1)
		add_group(y, f, call, n, first);
	free(call);
}

static int
find_call(const hu_program *p, hu_role role)
{
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].op->role == role)
			return i;
	return -1;
}

/* Lists, for each gradient that the check reads, its cast (if wide is set) and its unscale; then the check and the
   norm. */
static int
list_gradients(const planner *y, int wide, int *call)
{
	const hu_program *p = y->p;
	int check = find_call(p, HU_ROLE_CHECK), norm = find_call(p, HU_ROLE_NORM), n = 0;

	if (check < 0 || norm < 0)
		return 0;
	for (int k = 0; k < p->c[norm].nin; k++) {
		int unscale = p->t[p->c[norm].in[k]].producer;
		if (unscale < 0 || p->c[unscale].op->role != HU_ROLE_UNSCALE)
			return 0;
		int cast = p->t[p->c[unscale].in[0]].producer;
		if (wide && cast >= 0 && p->c[cast].op->role == HU_ROLE_CAST &&
			p->t[p->c[unscale].in[0]].format != p->t[p->c[cast].in[0]].format)
			call[n++] = cast;
		call[n++] = unscale;
	}
	call[n++] = check;
	call[n++] = norm;
	return n;
}

static int
may_be_together(const planner *y, const int *call, int n)
{
	for (int i = 0; i < n; i++)
		if (!may_join(y, call[i], call[0]))
			return 0;
	return 1;
}

static void
gradients(planner *y, const hu_fusion *f)
{
	int *call = hu_xmalloc(((size_t)y->p->nc + 2) * 2 * sizeof *call);

	for (int wide = 1; wide >= 0; wide--) {
		int n = list_gradients(y, wide, call);
		if (n && may_be_together(y, call, n) && serves(y, f, call, n)) {
			add_group(y, f, call, n, call[n - 2]);
			break;
		}
	}
	free(call);
}

/* Finds the cast of each updated weight that the update can make for the next step. */
static void
find_ahead(planner *y, const hu_fusion *cast)
{
	const hu_program *p = y->p;
	int like = -1;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *u = &p->c[i];
		if (y->owner[i] < 0 || y->g[y->owner[i]].fusion->kind != HU_FUSE_UPDATES ||
			p->t[u->in[0]].next != u->out[0])
			continue;
		for (int j = 0; j < p->nc && y->copy[i] < 0; j++) {
			const hu_call *c = &p->c[j];
			if (c->op->role != HU_ROLE_CAST || c->in[0] != u->in[0] || y->owner[j] != ALONE ||
				p->t[c->in[0]].format == HU_FP64 || c->fmt.compute != u->fmt.compute ||
				!serves(y, cast, &j, 1))
				continue;
			if (like >= 0 && (c->fmt.out != p->c[like].fmt.out || c->flags != p->c[like].flags))
				continue;
			like = j;
			y->copy[i] = c->out[0];
			y->cast_ahead[j] = 1;
		}
	}
}

static int
earlier(const void *a, const void *b)
{
	const group *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The first group, in order, that reads what is written later; -1: there is none. */
static int
first_too_early(const hu_program *p, const group *g, int n, int *writer)
{
	int *place = hu_xmalloc(((size_t)p->nc + 1) * sizeof *place), bad = -1;

	memset(place, 0xff, (size_t)p->nc * sizeof *place); /* what is not in the plan was written before it */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < g[i].n; k++)
			place[g[i].call[k]] = i;
	for (int i = 0; i < n && bad < 0; i++)
		for (int k = 0; k < g[i].n && bad < 0; k++)
			for (int j = 0; j < p->c[g[i].call[k]].nin; j++) {
				int from = p->t[p->c[g[i].call[k]].in[j]].producer;
				if (from >= 0 && place[from] > i) {
					bad = i;
					*writer = place[from];
				}
			}
	free(place);
	return bad;
}

/* Makes a group's calls single again. */
static void
dissolve(group **g, int *n, int i)
{
	group old = (*g)[i];

	*g = hu_xrealloc(*g, ((size_t)*n + (size_t)old.n) * sizeof **g);
	for (int k = 0; k < old.n; k++) {
		group *to = k ? &(*g)[(*n)++] : &(*g)[i];
		*to = (group){ NULL, hu_xmalloc(sizeof(int)), 1, old.call[k], old.ahead };
		to->call[0] = old.call[k];
	}
	free(old.call);
}

static void
put_in_order(planner *y)
{
	int bad, writer = 0;

	for (;;) {
		qsort(y->g, (size_t)y->n, sizeof *y->g, earlier);
		if ((bad = first_too_early(y->p, y->g, y->n, &writer)) < 0)
			return;
		dissolve(&y->g, &y->n, y->g[bad].fusion ? bad : writer);
	}
}

/* Cancels the next step's casts whose fused update was dissolved. */
static void
check_ahead(planner *y)
{
	for (int i = 0; i < y->n; i++)
		if (!y->g[i].fusion)
			y->copy[y->g[i].call[0]] = -1;
	for (int i = 0; i < y->n; i++)
		for (int k = 0; k < y->g[i].n && y->g[i].ahead; k++) {
			int made = 0;
			for (int j = 0; j < y->p->nc && !made; j++)
				made = y->copy[j] == y->p->c[y->g[i].call[k]].out[0];
			y->g[i].ahead = made;
		}
	for (int i = 0; i < y->p->nc; i++) {
		int kept = 0;
		for (int k = 0; k < y->n && y->copy[i] >= 0; k++)
			for (int j = 0; j < y->g[k].n; j++)
				kept |= y->g[k].ahead && y->p->c[y->g[k].call[j]].out[0] == y->copy[i];
		if (!kept)
			y->copy[i] = -1;
	}
}

void
hu_plan_init(hu_plan *plan, const hu_program *p, const hu_side *side, const hu_slot *t, int fuse)
{
	hu_plan_init_stretches(plan, p, side, t, fuse, NULL);
}

void
hu_plan_init_stretches(
	hu_plan *plan, const hu_program *p, const hu_side *side, const hu_slot *t, int fuse, const int *stretch)
{
	size_t nc = (size_t)p->nc + 1;
	planner y = { .p = p,
		.t = t,
		.fusions = side->fusions,
		.stretch = stretch,
		.owner = hu_xmalloc(nc * sizeof(int)),
		.cast_ahead = hu_xcalloc(nc, sizeof(int)),
		.copy = hu_xmalloc(nc * sizeof(int)) };
	int at = 0;

	for (int i = 0; i < p->nc; i++)
		y.owner[i] = stretch && stretch[i] < 0 ? ABSENT : ALONE;
	memset(y.copy, 0xff, nc * sizeof(int));
	for (const hu_fusion *f = y.fusions; fuse && f->name; f++) {
		if (f->kind == HU_FUSE_GRADIENTS)
			gradients(&y, f);
		for (int i = 0; i < p->nc && f->kind == HU_FUSE_CHAIN; i++)
			chain_from(&y, f, i);
		for (int i = 0; i < p->nc && hu_fuses_together(f); i++)
			together_from(&y, f, i);
		if (f->kind == HU_FUSE_UPDATES)
			for (const hu_fusion *c = f; c->name; c++)
				if (c->kind == HU_FUSE_CASTS)
					find_ahead(&y, c);
	}
	for (int i = 0; i < p->nc; i++)
		if (y.owner[i] == ALONE)
			add_group(&y, NULL, &i, 1, i);
	put_in_order(&y);
	check_ahead(&y);
	memset(plan, 0, sizeof *plan);
	plan->stage = hu_xcalloc((size_t)y.n + 1, sizeof *plan->stage);
	plan->call = hu_xmalloc(nc * sizeof *plan->call);
	plan->nstage = y.n;
	plan->copy = y.copy;
	for (int i = 0; i < y.n; i++) {
		plan->stage[i] = (hu_stage){ y.g[i].fusion, at, y.g[i].n, y.g[i].ahead };
		memcpy(plan->call + at, y.g[i].call, (size_t)y.g[i].n * sizeof *plan->call);
		at += y.g[i].n;
		plan->fused += y.g[i].fusion ? y.g[i].n : 0;
		free(y.g[i].call);
	}
	free(y.g);
	free(y.owner);
	free(y.cast_ahead);
}

void
hu_plan_release(hu_plan *plan)
{
	free(plan->stage);
	free(plan->call);
	free(plan->copy);
	memset(plan, 0, sizeof *plan);
}
