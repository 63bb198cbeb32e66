/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/lists.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	GROWTH = 48, /* so many times a list may grow from what is not finite, */
	TYPES = 6    /* and by so many operators */
};

static int
is_half(const hu_scheme *s)
{
	return s->kind == HU_SCHEME_FLOAT && s->format == HU_FP16;
}

static int
is_int8(const hu_scheme *s)
{
	return s->kind == HU_SCHEME_INTEGER && s->bits == 8 && s->activations == HU_ACTIVATIONS_STATIC;
}

void
hu_lists_ask(hu_lists *l, const hu_search *s)
{
	*l = (hu_lists){ .block = { .name = "block_list", .tool = "occ-fp16" },
		.quantised = { .name = "nodes", .tool = "ort-static" } };
	for (size_t k = 0; k < s->nscheme; k++) {
		l->block.asked |= is_half(&s->scheme[k]);
		l->quantised.asked |= is_int8(&s->scheme[k]);
	}
}

static int
has(const hu_tool_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return 1;
	return 0;
}

/* Returns 1 where NAME was not in the list yet. */
static int
add(hu_tool_list *l, const char *name)
{
	if (!*name || has(l, name))
		return 0;
	HU_GROW(l->name, l->n, l->cap);
	l->name[l->n++] = hu_xstrdup(name);
	return 1;
}

static void
truncate_to(hu_tool_list *l, size_t n)
{
	while (l->n > n)
		free(l->name[--l->n]);
}

typedef struct proving {
	hu_network *net;
	hu_search *s;
	hu_proven_list *l;
} proving;

/* What the tool's file does with this list on half H, node by node or FUSED, as onnxruntime runs it on this processor
   by default: *E, and in *WORST, which the caller frees, the node of the first result that is not finite. */
static hu_status
apply(const proving *p, int h, int fused, hu_effect *e, char **worst)
{
	hu_tool tool;
	hu_variant v = { .tool = &tool };

	*worst = NULL;
	HU_TRY(hu_tool_parse(&tool, p->l->tool));
	if (p->l->asked && !strcmp(p->l->name, "nodes"))
		tool.nodes = p->l->nodes;
	else
		tool.blocked = p->l->nodes;
	tool.optimised = fused;
	tool.pairs16 = fused && p->s->pairs16;
	HU_TRY(hu_trials_run(e, worst, &p->s->trials, p->net, &v, h));
	p->l->runs++;
	return HU_OK;
}

/* Adds the nodes that make (PRODUCE) or read the value. Returns 1 where one is new. */
static int
add_around(hu_tool_list *l, const hu_onnx_graph *g, const char *value, size_t n, int produce)
{
	int new = 0;

	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		size_t all = produce ? x->nout : x->nin;
		for (size_t k = 0; k < all; k++) {
			const char *name = produce ? x->out[k] : x->in[k];
			if (strlen(name) == n && !strncmp(name, value, n) && strcmp(x->op, "Constant"))
				new |= add(l, x->name);
		}
	}
	return new;
}

/* Adds the readers of constants that nodes of the list and others read: the converter would leave these float32 for all
   of them, and onnxruntime refuses such a file. */
static void
close_constants(const proving *p)
{
	const hu_onnx_graph *g = p->net->onnx.graph;

	for (int new = 1; new && p->l->nodes.n;) {
		new = 0;
		for (size_t c = 0; c < g->ninit; c++) {
			int blocked = 0;
			for (size_t i = 0; i < g->nnode; i++)
				for (size_t k = 0; k < g->node[i].nin && has(&p->l->nodes, g->node[i].name); k++)
					blocked |= !strcmp(g->node[i].in[k], g->init[c].name);
			if (blocked && !strcmp(g->init[c].dtype, "F32"))
				new |= add_around(&p->l->nodes, g, g->init[c].name, strlen(g->init[c].name), 0);
		}
	}
}

/* Sets *keeps to whether the file keeps the budget on both parts as the runtime runs it, too. A file that it would not
   run so is not judged. */
static hu_status
try_fused(const proving *p, int *keeps)
{
	for (int h = 0; h < 2 && *keeps && p->s->fused; h++) {
		hu_effect e;
		char *worst;
		hu_status st = apply(p, h, 1, &e, &worst);
		free(worst);
		if (st == HU_EUNABLE)
			return HU_OK;
		HU_TRY(st);
		*keeps = hu_search_keeps(p->s, &e, h);
		hu_effect_release(&e);
	}
	return HU_OK;
}

/* Applies the list to the first part, and to the other one where that keeps the budget. *WORST as apply has it. */
static hu_status
try(const proving *p, char **worst)
{
	char *other = NULL;

	for (int h = 0; h < 2 && p->l->tried; h++)
		hu_effect_release(&p->l->effect[h]);
	p->l->tried = p->l->keeps = 0;
	if (!strcmp(p->l->name, "block_list"))
		close_constants(p);
	hu_status st = apply(p, 0, 0, &p->l->effect[0], worst);
	if (st == HU_EUNABLE)
		p->l->refused = hu_xstrdup(hu_reason());
	if (st != HU_OK)
		return st;
	st = apply(p, 1, 0, &p->l->effect[1], &other);
	if (st != HU_OK) {
		hu_effect_release(&p->l->effect[0]);
		free(*worst);
		*worst = NULL;
		return st;
	}
	p->l->tried = 1;
	p->l->keeps = hu_search_keeps(p->s, &p->l->effect[0], 0) && hu_search_keeps(p->s, &p->l->effect[1], 1);
	if (!*worst)
		*worst = other;
	else
		free(other);
	return strcmp(p->l->name, "nodes") ? HU_OK : try_fused(p, &p->l->keeps);
}

/* Adds what a result that is not finite calls for: its node; behind the Cast of a blocked node's result, the nodes that
   read it; of a blocked node itself, those that it reads from. Returns 0 where nothing is left to add. */
static int
grow(const proving *p, const char *worst)
{
	static const char end[] = "_as_float16";
	const hu_onnx_graph *g = p->net->onnx.graph;
	size_t n = strlen(worst), m = sizeof end - 1;

	if (n > m && !strcmp(worst + n - m, end))
		return add_around(&p->l->nodes, g, worst, n - m, 1) || add_around(&p->l->nodes, g, worst, n - m, 0);
	if (add(&p->l->nodes, worst))
		return 1;
	int new = 0;
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; !strcmp(g->node[i].name, worst) && k < g->node[i].nin; k++)
			new |= add_around(&p->l->nodes, g, g->node[i].in[k], strlen(g->node[i].in[k]), 1);
	return new;
}

/* Adds all nodes of the graph of one operator. */
static int
add_type(hu_tool_list *l, const hu_onnx_graph *g, const char *op)
{
	int new = 0;

	for (size_t i = 0; i < g->nnode; i++)
		if (!strcmp(g->node[i].op, op))
			new |= add(l, g->node[i].name);
	return new;
}

/* 1 where a node before NODE has its operator. */
static int
is_repeated(const hu_onnx_graph *g, size_t node)
{
	for (size_t i = 0; i < node; i++)
		if (!strcmp(g->node[i].op, g->node[node].op))
			return 1;
	return 0;
}

/* Adds the operator that brings the outputs nearest to float32's. */
static hu_status
add_best_type(const proving *p, int *more)
{
	const hu_onnx_graph *g = p->net->onnx.graph;
	double least = INFINITY;
	const char *best = NULL;
	size_t kept = p->l->nodes.n;

	for (size_t i = 0; i < g->nnode; i++) {
		const char *op = g->node[i].op;
		hu_effect e;
		char *worst;
		if (!strcmp(op, "Constant") || is_repeated(g, i) || !add_type(&p->l->nodes, g, op))
			continue;
		hu_status st = apply(p, 0, 0, &e, &worst);
		truncate_to(&p->l->nodes, kept);
		free(worst);
		if (st == HU_EUNABLE) /* the tool's file would not run */
			continue;
		HU_TRY(st);
		double rel = e.rel_l2 >= 0 ? e.rel_l2 : INFINITY;
		if (!best || rel < least) {
			least = rel;
			best = op;
		}
		hu_effect_release(&e);
	}
	*more = best && add_type(&p->l->nodes, g, best);
	return HU_OK;
}

static hu_status
prove_block(const proving *p, const hu_assignment *best)
{
	char *worst;
	int more = 1;

	for (size_t i = 0; i < p->s->n; i++)
		for (size_t k = 0; k < p->s->decision[i].n && !best->choice[i]; k++)
			add(&p->l->nodes, p->s->decision[i].nodes[k]);
	HU_TRY(try(p, &worst));
	for (int k = 0; k < GROWTH && !p->l->keeps && worst && more; k++) {
		more = grow(p, worst);
		free(worst);
		worst = NULL;
		if (more)
			HU_TRY(try(p, &worst));
	}
	free(worst);
	more = 1;
	for (int k = 0; k < TYPES && !p->l->keeps && more; k++) {
		HU_TRY(add_best_type(p, &more));
		if (!more)
			break;
		HU_TRY(try(p, &worst));
		free(worst);
	}
	return HU_OK;
}

/* The node of the list that does most damage alone; the list's length where it is empty. */
static size_t
most_harmful(const proving *p, const hu_assignment *best)
{
	double most = -1;
	size_t which = p->l->nodes.n;

	for (size_t i = 0; i < p->l->nodes.n; i++)
		for (size_t k = 0; k < p->s->n; k++) {
			const hu_decision *d = &p->s->decision[k];
			int is = 0;
			for (size_t m = 0; m < d->n; m++)
				is |= !strcmp(d->nodes[m], p->l->nodes.name[i]);
			if (!is || !(d->damage[best->choice[k]] > most))
				continue;
			most = d->damage[best->choice[k]];
			which = i;
		}
	return which;
}

static hu_status
prove_quantised(const proving *p, const hu_assignment *best)
{
	char *worst;

	for (size_t i = 0; i < p->s->n; i++)
		for (size_t k = 0; k < p->s->decision[i].n; k++)
			if (best->choice[i] && is_int8(&p->s->scheme[best->choice[i] - 1]))
				add(&p->l->nodes, p->s->decision[i].nodes[k]);
	while (p->l->nodes.n) {
		HU_TRY(try(p, &worst));
		free(worst);
		if (p->l->keeps)
			return HU_OK;
		size_t which = most_harmful(p, best);
		if (which == p->l->nodes.n)
			which--;
		free(p->l->nodes.name[which]);
		p->l->nodes.name[which] = p->l->nodes.name[--p->l->nodes.n];
	}
	return HU_OK;
}

hu_status
hu_lists_prove(hu_lists *l, hu_network *n, hu_search *s, const hu_assignment *best)
{
	proving block = { n, s, &l->block }, quantised = { n, s, &l->quantised };

	hu_status st = l->block.asked ? prove_block(&block, best) : HU_OK;
	if (st == HU_OK || l->block.refused)
		st = l->quantised.asked ? prove_quantised(&quantised, best) : HU_OK;
	return l->quantised.refused ? HU_OK : st;
}

static void
release(hu_proven_list *l)
{
	truncate_to(&l->nodes, 0);
	free(l->refused);
	free(l->nodes.name);
	for (int h = 0; h < 2 && l->tried; h++)
		hu_effect_release(&l->effect[h]);
	memset(l, 0, sizeof *l);
}

void
hu_lists_release(hu_lists *l)
{
	release(&l->block);
	release(&l->quantised);
}
