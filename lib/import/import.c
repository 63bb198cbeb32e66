/* SPDX-License-Identifier: Apache-2.0
   The walk over the graph: inputs, constants, then each node by its code; functions and branches as if they stood
   there. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 64,       /* how deep functions may call each other */
	TENSORS = 1 << 20 /* of a program; loops within loops make more than anyone has the memory for */
};

static void walk(hu_importing *c, const hu_onnx_graph *g);

void
hu_import_body(hu_importing *c, const hu_onnx_graph *g, hu_value *const *in, size_t nin, hu_value *out, size_t nout,
	int is_function)
{
	hu_scope *outer = c->scope, inner = { .outer = is_function ? NULL : outer };
	const hu_onnx_node *x = c->node, *own = c->own;
	int calls = c->calls;
	char layer[sizeof c->layer];

	if (++c->depth > DEPTH) {
		hu_import_fail(c, HU_EFILE, "functions call each other without an end");
		return;
	}
	memcpy(layer, c->layer, sizeof layer);
	inner.caller = is_function ? x : outer->caller;
	inner.prefix = hu_xprintf("%.60s/", c->layer);
	for (size_t i = 0; i < g->nin && i < nin; i++) {
		hu_value *to =
			in[i] ? hu_import_value(c, &inner, g->in[i].name, in[i]->type, in[i]->rank, in[i]->d) : NULL;
		if (to) {
			to->plain = in[i]->plain;
			to->last = in[i]->last;
			to->raw = in[i]->raw;
			to->is_cast = in[i]->is_cast;
			to->list = in[i]->list;
		}
	}
	c->scope = &inner;
	walk(c, g);
	c->node = x;
	c->own = own;
	for (size_t i = 0; i < nout && c->st == HU_OK; i++) {
		hu_value *v = i < g->nout ? hu_import_find(c, g->out[i].name) : NULL;
		if (v)
			out[i] = is_function ? *v : *hu_typing_given(c, v);
		else
			hu_import_fail(c, HU_EFILE, "the graph in it has no output %zu", i);
	}
	c->scope = outer;
	c->calls = calls;
	memcpy(c->layer, layer, sizeof layer);
	hu_import_scope_release(&inner);
	c->depth--;
}

/* The nodes of G as if they stood in the node's place: a function's body, or a branch, which reads no inputs. */
static void
inside(hu_importing *c, const hu_onnx_graph *g, int is_function)
{
	const hu_onnx_node *x = c->node;
	hu_value **in = hu_xcalloc(x->nin + 1, sizeof *in), *out = hu_xcalloc(x->nout + 1, sizeof *out);

	for (size_t i = 0; is_function && i < x->nin; i++)
		in[i] = *x->in[i] ? hu_import_find(c, x->in[i]) : NULL;
	size_t nout = x->nout;
	while (nout > 0 && !*x->out[nout - 1])
		nout--;
	hu_import_body(c, g, in, is_function ? x->nin : 0, out, nout, is_function);
	for (size_t i = 0; i < nout && c->st == HU_OK; i++)
		hu_import_put(c, i, &out[i]);
	free(in);
	free(out);
}

/* The values of outputs of branch G, which the caller frees. */
static hu_value *
outputs_of(hu_importing *c, const hu_onnx_graph *g)
{
	size_t n = c->node->nout;
	hu_value *out = hu_xcalloc(n + 1, sizeof *out);

	hu_import_body(c, g, NULL, 0, out, n, 0);
	return out;
}

/* If by what the model computes: both branches, and for each output the value of one of them. */
static void
both(hu_importing *c, hu_value *condition, const hu_onnx_graph *then, const hu_onnx_graph *otherwise)
{
	hu_value *yes = outputs_of(c, then), *no = outputs_of(c, otherwise);

	hu_import_chooses(c);
	for (size_t i = 0; i < c->node->nout && c->st == HU_OK; i++) {
		hu_value v = hu_import_either(c, condition, &yes[i], &no[i]);
		hu_import_put(c, i, &v);
	}
	free(yes);
	free(no);
}

/* If: the branch that a constant condition chooses, or both. */
static void
branch(hu_importing *c)
{
	const hu_onnx_attr *then = hu_import_attr(c, "then_branch"), *otherwise = hu_import_attr(c, "else_branch");
	hu_value *v = hu_import_in(c, 0);

	hu_import_all_read(c);
	if (!v || !then || !otherwise || !then->ngraphs || !otherwise->ngraphs || v->n != 1) {
		hu_import_fail(c, HU_EFILE, "it needs a condition, which is one truth value, and two branches");
		return;
	}
	if (!hu_import_is_constant(c, v) && !c->asking) {
		both(c, v, then->graphs[0], otherwise->graphs[0]);
		return;
	}
	double *yes = hu_import_constant(c, v);
	if (yes)
		inside(c, yes[0] != 0 ? then->graphs[0] : otherwise->graphs[0], 0);
	free(yes);
}

static void
one(hu_importing *c, const hu_onnx_node *x)
{
	const hu_onnx_function *f = hu_onnx_function_of(c->m, x);
	hu_node_import *code = hu_import_of(c->m, x);
	char *outer = c->asked;

	c->asked = hu_xcalloc(x->nattr + 1, 1);
	c->node = c->own = x;
	c->calls = 0;
	c->nattr = 0;
	hu_import_name_layer(c, x->name);
	if (c->p->nt > TENSORS)
		hu_import_fail(c, HU_EUNABLE,
			"up to here the model becomes more than %d tensors, its loops step by step", TENSORS);
	else if (f)
		inside(c, f->body, 1);
	else if (!strcmp(x->op, "If") && !*x->domain)
		branch(c);
	else if (code && !hu_import_empty(c)) {
		code(c);
		hu_import_all_read(c);
		hu_typing_outputs(c, hu_onnx_arithmetic(c->m, x));
	} else if (code)
		;
	else
		hu_import_fail(c, HU_EUNABLE, "its operator is not known (halfulp validate --list lists all)");
	for (size_t i = 0; i < x->nout && c->st == HU_OK; i++)
		if (*x->out[i]) {
			hu_value *v = hu_import_find(c, x->out[i]);
			if (!i && (!v || (v->plain < 0 && v->last < 0 && !v->list)))
				hu_import_fail(c, HU_EUNABLE, "nothing computes its output '%.120s'", x->out[i]);
		}
	free(c->asked);
	c->asked = outer;
}

static void
walk(hu_importing *c, const hu_onnx_graph *g)
{
	const hu_onnx_graph *outer = c->graph;

	c->node = c->own = NULL;
	for (size_t i = 0; i < g->ninit && c->st == HU_OK; i++) {
		const hu_stensor *t = &g->init[i];
		*c->layer = 0;
		if (hu_import_format(c, hu_onnx_type_of(t->dtype)) == HU_NO_FORMAT)
			continue; /* of no use to a call; whoever reads it is named */
		int id = hu_import_stored(c, t->name, t);
		hu_value *v =
			id < 0 ? NULL
			       : hu_import_value(c, c->scope, t->name, hu_onnx_type_of(t->dtype), t->rank, t->shape);
		if (v)
			v->plain = id;
	}
	c->graph = g;
	for (size_t i = 0; i < g->nnode && c->st == HU_OK; i++)
		one(c, &g->node[i]);
	c->graph = outer;
	c->node = c->own = NULL;
}

static void
finish(hu_importing *c, hu_imported *m)
{
	hu_import_prune(c, m);
	m->narrow = c->narrow;
	m->chooses = c->chooses;
	c->chooses = NULL;
	m->p = c->p;
	m->constant = c->constant;
	c->p = NULL;
	c->constant = NULL;
	c->nconstant = 0;
	m->node = hu_xcalloc((size_t)m->p->nc + 1, sizeof *m->node);
	m->op = hu_xcalloc((size_t)m->p->nc + 1, sizeof *m->op);
	for (int i = 0; i < m->p->nc; i++) {
		m->node[i] = hu_xstrdup(c->made[i] ? c->made[i]->name : "");
		m->op[i] = c->made[i] ? c->made[i]->op : "";
		m->nodes += !i || c->made[i] != c->made[i - 1];
	}
}

static hu_status
import(hu_imported *m, const hu_onnx *onnx, const hu_given *given, size_t ngiven, hu_typing typing, hu_asking *asking)
{
	hu_scope top = { .outer = NULL };
	hu_importing c = {
		.m = onnx, .scope = &top, .given = given, .ngiven = ngiven, .typing = typing, .asking = asking
	};

	memset(m, 0, sizeof *m);
	HU_TRY(hu_import_all_known(onnx));
	HU_TRY(hu_import_all_asked(onnx, given, ngiven));
	c.p = hu_program_new("eval");
	c.layers = json_object();
	c.namesakes = json_object();
	c.version = hu_onnx_version(onnx, "");
	hu_import_inputs(&c, m, onnx->graph);
	if (c.st == HU_OK)
		walk(&c, onnx->graph);
	if (asking && asking->stopped)
		c.st = HU_OK;
	else if (c.st == HU_OK)
		hu_import_outputs(&c, m, onnx->graph);
	if (asking && c.st == HU_OK)
		hu_answers_outputs(&c, m);
	if (c.st == HU_OK)
		hu_import_named(&c, m);
	if (c.st == HU_OK) {
		finish(&c, m);
		hu_imported_bytes(m, onnx->graph);
	}
	if (c.st == HU_OK)
		c.st = hu_program_validate(m->p);
	for (size_t i = 0; i < c.nconstant; i++)
		free(c.constant[i].data);
	free(c.constant);
	free(c.made);
	free(c.half);
	free(c.varies);
	hu_asking_release(asking);
	free(c.chooses);
	for (hu_sequence *next, *l = c.sequences; l; l = next) {
		next = l->next;
		free(l);
	}
	json_decref(c.layers);
	json_decref(c.namesakes);
	hu_program_free(c.p);
	hu_import_scope_release(&top);
	hu_onnx_rest(onnx);
	if (c.st != HU_OK)
		hu_imported_release(m);
	return c.st;
}

hu_status
hu_import(hu_imported *m, const hu_onnx *onnx, const hu_given *given, size_t ngiven, hu_typing typing)
{
	return import(m, onnx, given, ngiven, typing, NULL);
}

hu_status
hu_import_computed(hu_imported *m, hu_answers *a, const hu_onnx *onnx, const hu_given *given, size_t ngiven,
	hu_typing typing, void (*fill)(void *of, const char *input, hu_tensor *t), void *of)
{
	hu_asking asking = { .fill = fill, .of = of, .to = a };

	*a = (hu_answers){ .n = 0 };
	return import(m, onnx, given, ngiven, typing, &asking);
}

hu_status
hu_import_answered(hu_imported *m, const hu_answers *a, const hu_onnx *onnx, const hu_given *given, size_t ngiven,
	hu_typing typing)
{
	hu_asking asking = { .from = a };

	return import(m, onnx, given, ngiven, typing, &asking);
}
