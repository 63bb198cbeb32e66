/* SPDX-License-Identifier: Apache-2.0
   The names of a graph: each is made once, each that is read is made, and nodes come after those they read from. A
   graph inside a node sees the names around it; what it reads there, its node waits for. */
#include "lib/store/onnx/parts.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GIVEN = -1 }; /* made by no node: an input or an initialiser */

typedef struct maker {
	const char *name;
	ptrdiff_t node;
} maker;
typedef struct edge {
	size_t reader, made;
} edge;

/* A graph while it is looked at; CURRENT is the node whose names, or whose graphs' names, are looked up. */
typedef struct scope {
	const hu_onnx *m;
	hu_onnx_graph *g;
	const struct scope *outer;
	maker *name;
	edge *edge;
	size_t n, current, nedge, cap;
} scope;

static int
by_name(const void *a, const void *b)
{
	const maker *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->node > y->node) - (x->node < y->node);
}

static int
by_reader(const void *a, const void *b)
{
	const edge *x = a, *y = b;

	if (x->reader != y->reader)
		return x->reader < y->reader ? -1 : 1;
	return (x->made > y->made) - (x->made < y->made);
}

static const maker *
find(const scope *s, const char *name)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(s->name[mid].name, name);
		if (!c)
			return &s->name[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* An initialiser may be an input too; any other name stands for one thing. */
static hu_status
define(scope *s)
{
	const hu_onnx_graph *g = s->g;
	size_t n = g->nin + g->ninit;

	for (size_t i = 0; i < g->nnode; i++)
		n += g->node[i].nout;
	s->name = hu_xcalloc(n + 1, sizeof *s->name);
	for (size_t i = 0; i < g->nin; i++)
		s->name[s->n++] = (maker){ g->in[i].name, GIVEN };
	qsort(s->name, s->n, sizeof *s->name, by_name);
	for (size_t i = 1; i < s->n; i++)
		if (!strcmp(s->name[i].name, s->name[i - 1].name))
			return hu_fail(HU_EFILE, "%s: two inputs are named '%.200s'", s->m->path, s->name[i].name);
	size_t inputs = s->n;
	for (size_t i = 0; i < g->ninit; i++)
		s->name[s->n++] = (maker){ g->init[i].name, GIVEN };
	qsort(s->name + inputs, s->n - inputs, sizeof *s->name, by_name);
	for (size_t i = inputs + 1; i < s->n; i++)
		if (!strcmp(s->name[i].name, s->name[i - 1].name))
			return hu_fail(
				HU_EFILE, "%s: two initialisers are named '%.200s'", s->m->path, s->name[i].name);
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nout; k++)
			if (*g->node[i].out[k])
				s->name[s->n++] = (maker){ g->node[i].out[k], (ptrdiff_t)i };
	qsort(s->name, s->n, sizeof *s->name, by_name);
	for (size_t i = 1; i < s->n; i++)
		if (s->name[i].node != GIVEN && !strcmp(s->name[i].name, s->name[i - 1].name))
			return hu_fail(HU_EFILE, "%s: '%.200s', an output of node '%.200s' (%.60s), is made twice",
				s->m->path, s->name[i].name, g->node[s->name[i].node].name,
				g->node[s->name[i].node].op);
	return HU_OK;
}

/* NAME is read by S's current node; where another graph around makes it, that graph's node waits. */
static int
reads(scope *s, const char *name)
{
	for (; s; s = (scope *)s->outer) {
		const maker *d = find(s, name);
		if (!d)
			continue;
		if (d->node == GIVEN)
			return 1;
		HU_GROW(s->edge, s->nedge, s->cap);
		s->edge[s->nedge++] = (edge){ s->current, (size_t)d->node };
		return 1;
	}
	return 0;
}

/* FROM[e] to FROM[e + 1]: the edges of reader e. State: 0 not met, 1 on the way, 2 placed. */
static hu_status
sort(scope *s)
{
	hu_onnx_graph *g = s->g;
	size_t n = g->nnode, *from = hu_xcalloc(n + 2, sizeof *from), *next = hu_xcalloc(n + 1, sizeof *next),
	       *stack = hu_xcalloc(n + 1, sizeof *stack), placed = 0;
	unsigned char *state = hu_xcalloc(n + 1, 1);
	hu_onnx_node *to = hu_xcalloc(n + 1, sizeof *to);
	hu_status st = HU_OK;

	if (s->nedge)
		qsort(s->edge, s->nedge, sizeof *s->edge, by_reader);
	for (size_t e = 0; e < s->nedge; e++)
		from[s->edge[e].reader + 1]++;
	for (size_t i = 0; i < n; i++)
		from[i + 1] += from[i];
	for (size_t i = 0; i < n; i++)
		next[i] = from[i];
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		size_t depth = 0;
		if (state[i])
			continue;
		state[stack[depth++] = i] = 1;
		while (depth && st == HU_OK) {
			size_t x = stack[depth - 1];
			if (next[x] == from[x + 1]) {
				state[x] = 2;
				to[placed++] = g->node[x];
				depth--;
				continue;
			}
			size_t y = s->edge[next[x]++].made;
			if (state[y] == 1)
				st = hu_fail(HU_EFILE,
					"%s: node '%.200s' (%.60s) needs its own output: the graph has a cycle",
					s->m->path, g->node[y].name, g->node[y].op);
			else if (!state[y])
				state[stack[depth++] = y] = 1;
		}
	}
	if (st == HU_OK && n)
		memcpy(g->node, to, n * sizeof *to);
	free(from);
	free(next);
	free(stack);
	free(state);
	free(to);
	return st;
}

static hu_status order(const hu_onnx *m, hu_onnx_graph *g, const scope *outer);

static hu_status
resolve(scope *s)
{
	for (s->current = 0; s->current < s->g->nnode; s->current++) {
		const hu_onnx_node *x = &s->g->node[s->current];
		for (size_t k = 0; k < x->nin; k++)
			if (*x->in[k] && !reads(s, x->in[k]))
				return hu_fail(HU_EFILE,
					"%s: node '%.200s' (%.60s) reads '%.200s', which no node, input or initialiser "
					"makes",
					s->m->path, x->name, x->op, x->in[k]);
		for (size_t k = 0; k < x->nattr; k++)
			for (size_t j = 0; j < x->attr[k].ngraphs; j++)
				HU_TRY(order(s->m, x->attr[k].graphs[j], s));
	}
	for (size_t k = 0; k < s->g->nout; k++)
		if (!find(s, s->g->out[k].name)) {
			const scope *o = s->outer;
			while (o && !find(o, s->g->out[k].name))
				o = o->outer;
			if (!o)
				return hu_fail(HU_EFILE, "%s: the output '%.200s' is made by no node", s->m->path,
					s->g->out[k].name);
			reads((scope *)s->outer, s->g->out[k].name);
		}
	return HU_OK;
}

static hu_status
order(const hu_onnx *m, hu_onnx_graph *g, const scope *outer)
{
	scope s = { .m = m, .g = g, .outer = outer };
	hu_status st = define(&s);

	if (st == HU_OK)
		st = resolve(&s);
	if (st == HU_OK)
		st = sort(&s);
	free(s.name);
	free(s.edge);
	return st;
}

hu_status
hu_onnx_order(const hu_onnx *m, hu_onnx_graph *g)
{
	return order(m, g, NULL);
}
