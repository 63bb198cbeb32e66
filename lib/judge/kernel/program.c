/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/program.h"
#include "lib/judge/kernel/program_image.h"

#include "lib/base/mem.h"
#include "lib/judge/kernel/formula_balls.h"
#include "lib/judge/kernel/store.h"
#include "lib/op/element/formulas.h"
#include "lib/op/move/moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *op, *row, *keys;
} table[] = {
#define CALL(op, row, keys) { #op, #row, keys },
#include "lib/judge/kernel/program.def"
#undef CALL
};

/* Reductions over axes: the call's attributes are those of lib/op/axis/axes.h. */
static const struct {
	const char *op, *row;
} reductions[] = { { "reduce_sum", "sum" }, { "reduce_mean", "mean" }, { "reduce_max", "reduce_max" },
	{ "reduce_min", "reduce_min" }, { "reduce_squares", "sum_squares" }, { "reduce_norm", "norm2" },
	{ "reduce_prod", "prod" }, { "logsumexp", "logsumexp" } };

typedef struct run {
	const hu_program *p;
	const hu_facts *facts;
	hu_roundoffs a;
	hu_stores stores;
} run;

static void
key(hu_ball_call *c, const char *name, const char *value)
{
	c->key[c->nkey].key = hu_xstrdup(name);
	c->key[c->nkey++].value = hu_xstrdup(value);
}

static void
number(hu_ball_call *c, const char *name, double x)
{
	char text[40];

	snprintf(text, sizeof text, "%.17g", x);
	key(c, name, text);
}

/* Calls a row, and frees the keys. */
static hu_status
call_row(const run *r, const char *name, hu_ball_call *c, const hu_balls *in, int nin, hu_balls *y)
{
	hu_balls out[HU_GRAPH_OUT];

	memset(out, 0, sizeof out);
	c->row = hu_ball_row_find(name);
	c->nin = nin;
	c->nout = 1;
	c->facts = r->facts;
	c->roundoffs = &r->a;
	c->stores = r->stores;
	hu_status st = c->row->run(c, in, out);
	for (int k = 1; k < HU_GRAPH_OUT; k++)
		hu_balls_release(&out[k]);
	for (int k = 0; k < c->nkey; k++) {
		free(c->key[k].key);
		free(c->key[k].value);
	}
	c->nkey = 0;
	*y = out[0];
	return st;
}

/* The keys of a row from a call's attributes, such as "ta=ta tb=tb"; attributes that the call does not have are left
   out. */
static void
keys_of(hu_ball_call *c, const char *keys, const hu_call *of)
{
	char name[32], attr[32];
	int n;

	while (sscanf(keys, " %31[a-z_]=%31[a-z_]%n", name, attr, &n) == 2) {
		double x = hu_attr_num(of, attr, NAN);
		if (!isnan(x))
			number(c, name, x);
		keys += n;
	}
}

/* Elements that only change places: the call's own map, on arrays of which nothing but the shape and, for indexes, the
   values are read. */
static hu_status
move(const run *r, const hu_call *c, const hu_balls *in, hu_balls *y)
{
	hu_tensor *t = hu_xcalloc((size_t)c->nin + 1, sizeof *t), **list = hu_xcalloc((size_t)c->nin + 1, sizeof *list);
	hu_moves x;
	size_t d[HU_RANK];
	const hu_info *out = &r->p->t[c->out[0]];

	for (int k = 0; k < c->nin; k++) {
		double *data = hu_xmalloc((in[k].n + 1) * sizeof *data);
		for (size_t i = 0; i < in[k].n; i++)
			data[i] = in[k].b[i].x;
		t[k] = (hu_tensor){ .format = HU_FP64, .shape = r->p->t[c->in[k]].shape, .n = in[k].n, .data = data };
		list[k] = &t[k];
	}
	for (int i = 0; i < out->shape.rank; i++)
		d[i] = out->shape.d[i];
	hu_status st = hu_moves_of(&x, c, list);
	if (st == HU_OK)
		st = hu_balls_make(y, out->shape.rank, d, c->op->name);
	for (size_t i = 0; st == HU_OK && i < y->n; i++) {
		hu_moved m = c->op->moves->from(&x, i);
		y->b[i] = m.operand < 0 ? hu_ball_of(m.fill) : in[m.operand].b[m.at];
	}
	for (int k = 0; k < c->nin; k++)
		free(t[k].data);
	free(t);
	free(list);
	return st;
}

static hu_status
reduction(const run *r, const hu_call *c, const char *row, const hu_balls *in, hu_balls *y)
{
	hu_ball_call b = { .row = NULL };
	double axis = hu_attr_num(c, "axis", NAN), axes = hu_attr_num(c, "axes", 1);
	char text[24];

	if (isnan(axis)) {
		key(&b, "axis", "all");
	} else if (axes == 1) {
		number(&b, "axis", axis);
	} else if (axis + axes == in[0].rank) {
		snprintf(text, sizeof text, "last:%g", axes);
		key(&b, "axis", text);
	} else {
		return hu_fail(HU_EUNABLE,
			"the program: %s over axes %g to %g has no radius here: only one axis, the last ones, "
			"or all",
			c->op->name, axis, axis + axes - 1);
	}
	return call_row(r, row, &b, in, 1, y);
}

/* A row on an image: hu_program_row. */
static hu_status
image_row(const void *run_of, const char *row, const char *window, size_t groups, const size_t step[4],
	const hu_balls *in, int nin, hu_balls *y)
{
	hu_ball_call b = { .row = NULL };
	char text[64];

	snprintf(text, sizeof text, "%zux%zu", step[0], step[1]);
	key(&b, "stride", text);
	snprintf(text, sizeof text, "%zux%zu", step[2], step[3]);
	key(&b, "dilation", text);
	if (*window)
		key(&b, "window", window);
	else
		number(&b, "groups", (double)groups);
	return call_row(run_of, row, &b, in, nin, y);
}

/* a where m is not 0, else 0; both where neither a nor b is 0. */
static hu_status
chosen(const run *r, int both, const hu_balls *in, hu_balls *y)
{
	hu_ball zero = { 0 }, one = { 1, 0, 0, 0 };
	hu_balls of[3] = { in[0], in[1], { .n = 1, .b = &zero } }, set = { .b = NULL }, ones = { .n = 1, .b = &one };
	hu_ball_call b = { .row = NULL };

	if (both) { /* 1 where b is not 0 */
		hu_balls alone[3] = { in[1], ones, of[2] };
		HU_TRY(call_row(r, "where", &b, alone, 3, &set));
		of[1] = set;
	}
	hu_status st = call_row(r, "where", &b, of, 3, y);
	hu_balls_release(&set);
	return st;
}

static hu_status
unable(const hu_call *c)
{
	return hu_fail(HU_EUNABLE,
		"the program: operator %s has no radius here, so that it cannot be judged as a kernel", c->op->name);
}

/* A product with a matrix of cosines and sines, which kernels compute by fast transforms. In those every operand passes
   at most log2 n stages, each a multiplication by a complex root and an addition, so that a result errs by at most
   gamma(8 log2 n + 8) times the sum of the operands' magnitudes (as in Higham, Accuracy and Stability of Numerical
   Algorithms, 2nd ed., 24.1), where the direct sum's bound has the magnitudes of its products. */
static void
widen_transform(const run *r, const hu_balls *x, const hu_balls *w, hu_balls *y)
{
	size_t n = hu_balls_dim(x, -1), m = hu_balls_dim(w, -1);
	double most = 0, gamma = hu_ball_gamma(r->a.u, 8 * ceil(log2((double)n + 1)) + 8);

	for (size_t i = 0; i < w->n; i++)
		most = fmax(most, fabs(w->b[i].x));
	for (size_t i = 0; i < y->n; i++) {
		double all = 0;
		for (size_t k = 0; k < n; k++)
			all += hu_ball_most(x->b[i / m * n + k]);
		y->b[i] = hu_ball_widened(y->b[i], gamma * most * all, r->a.u * most * all);
	}
}

/* A cast stores, which its reader or its judge does; what saturates stays among the format's finite numbers. One that
   scales by the largest magnitude has no radius. */
static hu_status
cast(const run *r, const hu_call *c, const hu_balls *in, hu_balls *y)
{
	hu_ball_call b = { .row = NULL };
	double max = hu_format_of(r->p->t[c->out[0]].format).max;

	if (hu_attr_num(c, "scaled", 0) != 0)
		return unable(c);
	if (c->flags & HU_SATURATE) {
		number(&b, "low", -max);
		number(&b, "high", max);
		return call_row(r, "clip", &b, in, 1, y);
	}
	HU_TRY(hu_balls_like(y, &in[0], c->op->name));
	memcpy(y->b, in[0].b, in[0].n * sizeof *y->b);
	return HU_OK;
}

static hu_status
compute(const run *r, const hu_call *c, const hu_balls *in, hu_balls *y)
{
	hu_ball_call b = { .row = NULL };
	const char *name = c->op->name;

	if (c->op->moves && !c->op->moves->forward)
		return move(r, c, in, y);
	if (c->op->role == HU_ROLE_CAST) {
		return cast(r, c, in, y);
	}
	if (hu_program_is_image(name))
		return hu_program_image(c, r->p->t[c->in[0]].shape, in, y, image_row, r);
	if (!strcmp(name, "mask") || !strcmp(name, "logical_and"))
		return chosen(r, name[0] == 'l', in, y);
	if (!strcmp(name, "gelu"))
		return call_row(r, !strcmp(hu_attr_text(c, "approx", ""), "tanh") ? "gelu_tanh" : "gelu", &b, in, 1, y);
	if (!strcmp(name, "scale")) {
		hu_balls z = in[0];
		if (c->nin > 1)
			HU_TRY(call_row(r, "mul", &b, in, 2, &z));
		number(&b, "k", hu_attr_num(c, "factor", 1));
		hu_status st = call_row(r, "scale", &b, &z, 1, y);
		if (c->nin > 1)
			hu_balls_release(&z);
		return st;
	}
	for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
		if (!strcmp(name, reductions[i].op))
			return reduction(r, c, reductions[i].row, in, y);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (strcmp(name, table[i].op))
			continue;
		const hu_ball_row *row = hu_ball_row_find(table[i].row);
		if (c->nin > row->most)
			return unable(c);
		keys_of(&b, table[i].keys, c);
		HU_TRY(call_row(r, table[i].row, &b, in, c->nin, y));
		if (hu_attr_num(c, "transform", 0) != 0)
			widen_transform(r, &in[0], &in[1], y);
		return HU_OK;
	}
	return hu_pointwise_is_formula(c->op) ? hu_formula_balls(c, &r->a, in, y) : unable(c);
}

/* One call: its operands, its first result in the tensor's shape and format. */
static hu_status
step(const run *r, const hu_call *c, hu_balls *value, const hu_balls *given, int stored)
{
	hu_balls *in = hu_xcalloc(2 * (size_t)c->nin + 1, sizeof *in), *own = in + c->nin, y = { .b = NULL };
	const hu_info *t = &r->p->t[c->out[0]];
	hu_status st = HU_OK;

	for (int k = 0; k < c->nin && st == HU_OK; k++) {
		in[k] = given && given[c->in[k]].b ? given[c->in[k]] : value[c->in[k]];
		if (!in[k].b)
			st = hu_fail(HU_EINVAL, "the program: %s reads '%s', which is not there: hand it in",
				c->op->name, r->p->t[c->in[k]].name);
		else
			st = hu_balls_limit(&in[k], c->op->role == HU_ROLE_CAST ? 0 : r->a.max, &own[k]);
	}
	if (st == HU_OK)
		st = compute(r, c, in, &y);
	hu_format f = hu_format_of(t->format);
	for (size_t i = 0; i < y.n && st == HU_OK && stored && f.p < 24; i++)
		y.b[i] = hu_ball_store(y.b[i], f, r->stores);
	if (st == HU_OK && y.n == hu_count(t->shape)) {
		y.rank = t->shape.rank;
		for (int i = 0; i < HU_BALLS_RANK; i++)
			y.d[i] = i < y.rank ? t->shape.d[i] : 1;
	}
	value[c->out[0]] = y;
	for (int k = 0; k < c->nin; k++)
		hu_balls_release(&own[k]);
	free(in);
	return st;
}

hu_status
hu_program_balls(const hu_program *p, const hu_facts *facts, hu_stores stores, hu_balls *value, const char *keep,
	const hu_balls *given)
{
	run r = { .p = p, .facts = facts, .stores = stores };
	int *last = hu_xcalloc((size_t)p->nt + 1, sizeof *last);
	hu_status st = hu_facts_arithmetic(facts, &r.a);

	for (int i = 0; i < p->nt; i++)
		last[i] = -1;
	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++)
			last[p->c[i].in[k]] = i;
	for (int i = 0; i < p->nc && st == HU_OK; i++) {
		const hu_call *c = &p->c[i];
		/* a result that nothing reads is stored by its judge */
		st = step(&r, c, value, given, !keep || !keep[c->out[0]] || last[c->out[0]] >= 0);
		for (int k = 0; keep && k < c->nin; k++)
			if (last[c->in[k]] == i && !keep[c->in[k]])
				hu_balls_release(&value[c->in[k]]);
	}
	free(last);
	return st;
}
