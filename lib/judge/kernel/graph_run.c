/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/graph.h"

#include "lib/base/console/opt.h"
#include "lib/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_ball_text(const hu_ball_call *c, const char *key, const char *preset)
{
	for (int i = 0; i < c->nkey; i++)
		if (!strcmp(c->key[i].key, key)) {
			const char *v = c->key[i].value;
			if (*v != '$')
				return v;
			v = hu_facts_text(c->facts, v + 1);
			return v && *v ? v : preset;
		}
	return preset;
}

hu_status
hu_ball_real(const hu_ball_call *c, const char *key, double preset, double *x)
{
	const char *s = hu_ball_text(c, key, NULL);

	*x = preset;
	if (!s || hu_parse_real(s, x))
		return HU_OK;
	return hu_fail(HU_EINVAL, "%s: %s=%s is no number", c->row->name, key, s);
}

hu_status
hu_ball_count(const hu_ball_call *c, const char *key, size_t preset, size_t *n)
{
	double x;

	HU_TRY(hu_ball_real(c, key, (double)preset, &x));
	if (!(x >= 0 && x < 0x1p53) || x != floor(x))
		return hu_fail(HU_EINVAL, "%s: %s=%g: a whole number is needed, 0 or more", c->row->name, key, x);
	*n = (size_t)x;
	return HU_OK;
}

hu_status
hu_ball_format(const hu_ball_call *c, const char *key, hu_format_id *id)
{
	return hu_facts_format_of(c->facts, key, hu_ball_text(c, key, "none"), id);
}

hu_status
hu_ball_misfit(const hu_ball_call *c, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return hu_fail(HU_EFILE, "%s: %s", c->row->name, text);
}

static hu_status
pass_on(const hu_balls *from, hu_balls *to)
{
	HU_TRY(hu_balls_like(to, from, "the graph's values"));
	memcpy(to->b, from->b, from->n * sizeof *from->b);
	return HU_OK;
}

/* What overflowed has no bound for those who compute with it; a store says of each number what becomes of it. */
static hu_status
run_row(const hu_ball_call *c, hu_balls *in, hu_balls *out)
{
	hu_balls own[HU_GRAPH_IN];
	double max = strcmp(c->row->name, "store") ? c->roundoffs->max : 0;
	hu_status st = HU_OK;

	memset(own, 0, sizeof own);
	for (int k = 0; k < c->nin && st == HU_OK; k++)
		st = hu_balls_limit(&in[k], max, &own[k]);
	if (st == HU_OK)
		st = c->row->run(c, in, out);
	for (int k = 0; k < c->nin; k++)
		hu_balls_release(&own[k]);
	return st;
}

static hu_status
run_call(const hu_graph *g, hu_ball_call *c, hu_balls *value, const hu_balls *given)
{
	hu_balls in[HU_GRAPH_IN], out[HU_GRAPH_OUT];
	int absent = 0;

	memset(in, 0, sizeof in);
	memset(out, 0, sizeof out);
	for (int k = 0; k < c->nin; k++) {
		in[k] = given && given[c->in[k]].b ? given[c->in[k]] : value[c->in[k]];
		absent += !in[k].b && (k < c->row->least || c->maybe);
		if (!in[k].b && k < c->row->least && (!c->maybe || k == 0))
			return hu_fail(HU_EINVAL, "%s needs the array '%s': give --in %s=FILE", c->row->name,
				g->name[c->in[k]], g->name[c->in[k]]);
	}
	hu_status st = absent ? pass_on(&in[0], &out[0]) : run_row(c, in, out);
	for (int k = 0; k < HU_GRAPH_OUT; k++)
		if (k < c->nout)
			value[c->out[k]] = out[k];
		else
			hu_balls_release(&out[k]);
	return st;
}

/* A call whose results were all handed in is needed only where one of them is judged. */
static int
is_needed(const hu_ball_call *c, const char *keep, const hu_balls *given)
{
	for (int k = 0; k < c->nout; k++)
		if (!given || !given[c->out[k]].b || (keep && keep[c->out[k]]))
			return 1;
	return 0;
}

hu_status
hu_graph_run(const hu_graph *g, const hu_facts *facts, hu_stores stores, hu_balls *value, const char *keep,
	const hu_balls *given)
{
	hu_roundoffs a;
	int *last = hu_xcalloc((size_t)g->n + 1, sizeof *last);
	hu_status st = hu_facts_arithmetic(facts, &a);

	for (int i = 0; i < g->n; i++)
		last[i] = -1;
	for (int i = 0; i < g->nc; i++) {
		for (int k = 0; k < g->call[i].nin; k++)
			last[g->call[i].in[k]] = i;
		for (int k = 0; k < g->call[i].nout; k++)
			last[g->call[i].out[k]] = i;
	}
	for (int i = 0; i < g->nc && st == HU_OK; i++) {
		hu_ball_call *c = &g->call[i];
		c->facts = facts;
		c->roundoffs = &a;
		c->stores = stores;
		if (is_needed(c, keep, given))
			st = run_call(g, c, value, given);
		for (int k = 0; keep && k < g->n; k++)
			if (last[k] == i && !keep[k])
				hu_balls_release(&value[k]);
	}
	free(last);
	return st;
}
