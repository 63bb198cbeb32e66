/* SPDX-License-Identifier: Apache-2.0
   The graph's text: values, calls and their keys. graph_run.c runs it. */
#include "lib/judge/kernel/graph.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/judge/kernel/formula_balls.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name, least, most, nout, keys, summary)                                                                    \
	hu_status hu_ball_row_##name(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
#include "lib/judge/kernel/rows.def"
#undef ROW

static const hu_ball_row rows[] = {
#define ROW(name, least, most, nout, keys, summary) { #name, least, most, nout, keys, hu_ball_row_##name, summary },
#include "lib/judge/kernel/rows.def"
#undef ROW
};

static const hu_ball_row *
listed(const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const hu_ball_row *
hu_ball_row_at(int i)
{
	const hu_op *op;

	if (i >= 0 && (size_t)i < sizeof rows / sizeof *rows)
		return &rows[i];
	i -= (int)(sizeof rows / sizeof *rows);
	for (int k = 0; i >= 0 && (op = hu_op_at(k)); k++) {
		const hu_ball_row *row = listed(op->name) ? NULL : hu_formula_balls_row(op->name);
		if (row && i-- == 0)
			return row;
	}
	return NULL;
}

const hu_ball_row *
hu_ball_row_find(const char *name)
{
	const hu_ball_row *row = listed(name);

	return row ? row : hu_formula_balls_row(name);
}

int
hu_graph_value(const hu_graph *g, const char *name)
{
	for (int i = 0; i < g->n; i++)
		if (!strcmp(g->name[i], name))
			return i;
	return -1;
}

/* The value of this name, which is new where the graph has none. */
static int
value_of(hu_graph *g, const char *name)
{
	int i = hu_graph_value(g, name);

	if (i >= 0)
		return i;
	HU_GROW(g->name, g->n, g->cap);
	g->name[g->n] = hu_xstrdup(name);
	return g->n++;
}

typedef struct reader {
	const char *s, *start;
} reader;

static void
skip(reader *r)
{
	while (isspace((unsigned char)*r->s))
		r->s++;
}

static int
take(reader *r, char c)
{
	skip(r);
	if (*r->s != c)
		return 0;
	r->s++;
	return 1;
}

/* Reads a word of letters, digits and what values of facts have; returns its length, 0 where there is none. */
static size_t
word(reader *r, const char *more, char *to, size_t size)
{
	size_t n = 0;

	skip(r);
	while (isalnum((unsigned char)*r->s) || *r->s == '_' || (*r->s && strchr(more, *r->s))) {
		if (n + 1 < size)
			to[n++] = *r->s;
		r->s++;
	}
	to[n] = 0;
	return n;
}

static hu_status
wrong(const reader *r, const char *what)
{
	return hu_fail(HU_EINVAL, "the graph, at character %td (\"%.20s\"): %s", r->s - r->start + 1, r->s, what);
}

static hu_status
unknown_row(const reader *r, const char *name)
{
	const char *names[sizeof rows / sizeof *rows], *near;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		names[i] = rows[i].name;
	near = hu_nearest(name, names, sizeof rows / sizeof *rows);
	return hu_fail(HU_EINVAL,
		"the graph, before character %td: there is no operator '%s'%s%s; `halfulp judge list` has all",
		r->s - r->start + 1, name, near ? "; did you mean " : "", near ? near : "");
}

static int
takes_key(const hu_ball_row *row, const char *key)
{
	const char *s = row->keys;
	size_t n = strlen(key);

	while (s && (s = strstr(s, key))) {
		if ((s == row->keys || s[-1] == ' ') && (s[n] == ' ' || !s[n]))
			return 1;
		s += n;
	}
	return 0;
}

/* One operand or KEY=VALUE. */
static hu_status
argument(hu_graph *g, hu_ball_call *c, reader *r)
{
	char name[64], text[96];

	if (!word(r, "", name, sizeof name))
		return wrong(r, "a value's name or KEY=VALUE is needed");
	if (!take(r, '=')) {
		if (c->nin == HU_GRAPH_IN || (c->row->most >= 0 && c->nin == c->row->most))
			return wrong(r, "the operator takes fewer operands");
		c->in[c->nin++] = value_of(g, name);
		return HU_OK;
	}
	if (!takes_key(c->row, name) || c->nkey == HU_GRAPH_KEYS)
		return hu_fail(HU_EINVAL, "the graph: %s has no key '%s'; it has: %s", c->row->name, name,
			*c->row->keys ? c->row->keys : "none");
	if (!word(r, "$.:^-+@", text, sizeof text))
		return wrong(r, "a key's value is needed");
	c->key[c->nkey].key = hu_xstrdup(name);
	c->key[c->nkey++].value = hu_xstrdup(text);
	return HU_OK;
}

static hu_status
statement(hu_graph *g, reader *r)
{
	char name[64];
	hu_ball_call call = { .row = NULL }, *c;

	do {
		if (!word(r, "", name, sizeof name))
			return wrong(r, "the name of a result is needed");
		if (call.nout == HU_GRAPH_OUT)
			return wrong(r, "too many results");
		if (hu_graph_value(g, name) >= 0)
			for (int i = 0; i < g->nc; i++)
				for (int k = 0; k < g->call[i].nout; k++)
					if (!strcmp(g->name[g->call[i].out[k]], name))
						return wrong(r, "a value is computed twice");
		call.out[call.nout++] = value_of(g, name);
	} while (take(r, ','));
	if (!take(r, '='))
		return wrong(r, "an = is needed behind the results");
	if (!word(r, "", name, sizeof name))
		return wrong(r, "an operator is needed");
	call.row = hu_ball_row_find(name);
	if (!call.row)
		return unknown_row(r, name);
	if (call.nout > call.row->nout)
		return hu_fail(HU_EINVAL, "the graph: %s has %d results", name, call.row->nout);
	call.maybe = take(r, '?');
	HU_GROW(g->call, g->nc, g->cap_calls);
	c = &g->call[g->nc++];
	*c = call;
	if (!take(r, '('))
		return wrong(r, "a ( is needed behind the operator");
	if (!take(r, ')')) {
		do
			HU_TRY(argument(g, c, r));
		while (take(r, ','));
		if (!take(r, ')'))
			return wrong(r, "a , or ) is needed");
	}
	if (c->nin < c->row->least)
		return hu_fail(HU_EINVAL, "the graph: %s takes %d operands or more", name, c->row->least);
	return HU_OK;
}

hu_status
hu_graph_parse(hu_graph *g, const char *text)
{
	reader r = { text, text };

	*g = (hu_graph){ 0, 0, 0, 0, NULL, NULL };
	do {
		skip(&r);
		if (!*r.s)
			break;
		HU_TRY(statement(g, &r));
	} while (take(&r, ';'));
	skip(&r);
	if (*r.s)
		return wrong(&r, "a ; is needed between statements");
	return g->nc ? HU_OK : hu_fail(HU_EINVAL, "the graph has no statement, such as y = matmul(x, w)");
}

void
hu_graph_release(hu_graph *g)
{
	for (int i = 0; i < g->n; i++)
		free(g->name[i]);
	for (int i = 0; i < g->nc; i++)
		for (int k = 0; k < g->call[i].nkey; k++) {
			free(g->call[i].key[k].key);
			free(g->call[i].key[k].value);
		}
	free(g->name);
	free(g->call);
	*g = (hu_graph){ 0, 0, 0, 0, NULL, NULL };
}
