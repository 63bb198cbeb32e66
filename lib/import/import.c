/* SPDX-License-Identifier: Apache-2.0
   The walk over the graph: inputs, constants, then each node by its code; functions and branches as if they stood
   there. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 64,       /* how deep functions may call each other */
	TENSORS = 1 << 20 /* of a program; loops within loops make more than anyone has the memory for */
};

static void walk(hu_importing *c, const hu_onnx_graph *g);

/* Enters the layers of tensors that are new. */
static void
enter_layers(hu_importing *c)
{
	for (; c->named < c->p->nt; c->named++)
		if (!json_object_get(c->layers, c->p->t[c->named].layer))
			json_object_set_new_nocheck(c->layers, c->p->t[c->named].layer, json_integer(2));
}

/* The names of layers: letters as the model has them, but for those that have a meaning in a program. */
static void
name_layer(hu_importing *c, const char *name)
{
	char text[200];
	size_t n, at = 0;

	snprintf(text, sizeof text, "%s%.150s", c->scope->prefix ? c->scope->prefix : "", name);
	n = strlen(text);
	for (const char *s = n > 80 ? text + n - 80 : text; *s; s++)
		c->layer[at++] = strchr(".@,=*?[]", *s) || *s < '!' || *s > '~' ? '_' : *s;
	c->layer[at] = 0;
	if (!at)
		snprintf(c->layer, sizeof c->layer, "%.40s", c->node ? c->node->op : "input");
	/* Two nodes of one name are told apart, so that a policy can speak of either. */
	enter_layers(c);
	json_t *next = c->node ? json_object_get(c->layers, c->layer) : NULL;
	for (json_int_t i = json_integer_value(next); next && json_object_get(c->layers, c->layer); i++) {
		snprintf(c->layer + at, sizeof c->layer - at, "_%d", (int)i);
		json_integer_set(next, i); /* which stays free where the node's outputs are constants */
	}
}

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
		}
	}
	c->scope = &inner;
	walk(c, g);
	c->node = x;
	c->own = own;
	for (size_t i = 0; i < nout && c->st == HU_OK; i++) {
		hu_value *v = i < g->nout ? hu_import_find(c, g->out[i].name) : NULL;
		if (v)
			out[i] = *v;
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

/* If: the branch that a constant condition chooses. */
static void
branch(hu_importing *c)
{
	const hu_onnx_attr *then = hu_import_attr(c, "then_branch"), *otherwise = hu_import_attr(c, "else_branch");
	hu_value *v = hu_import_in(c, 0);

	if (!v || !then || !otherwise || !then->ngraphs || !otherwise->ngraphs) {
		hu_import_fail(c, HU_EFILE, "it needs a condition and two branches");
		return;
	}
	double *yes = hu_import_constant(c, v);
	if (yes && v->n)
		inside(c, yes[0] != 0 ? then->graphs[0] : otherwise->graphs[0], 0);
	free(yes);
}

static void
one(hu_importing *c, const hu_onnx_node *x)
{
	const hu_onnx_function *f = hu_onnx_function_of(c->m, x);
	hu_node_import *code = hu_import_of(c->m, x);

	c->node = c->own = x;
	c->calls = 0;
	c->nattr = 0;
	name_layer(c, x->name);
	if (c->p->nt > TENSORS)
		hu_import_fail(c, HU_EUNABLE,
			"up to here the model becomes more than %d tensors, its loops step by step", TENSORS);
	else if (f)
		inside(c, f->body, 1);
	else if (!strcmp(x->op, "If") && !*x->domain)
		branch(c);
	else if (code)
		code(c);
	else
		hu_import_fail(c, HU_EUNABLE, "its operator is not known (halfulp validate --list-ops lists all)");
	for (size_t i = 0; i < x->nout && c->st == HU_OK; i++)
		if (*x->out[i]) {
			hu_value *v = hu_import_find(c, x->out[i]);
			if (!i && (!v || (v->plain < 0 && v->last < 0)))
				hu_import_fail(c, HU_EUNABLE, "nothing computes its output '%.120s'", x->out[i]);
		}
}

static void
walk(hu_importing *c, const hu_onnx_graph *g)
{
	c->node = c->own = NULL;
	for (size_t i = 0; i < g->ninit && c->st == HU_OK; i++) {
		const hu_stensor *t = &g->init[i];
		*c->layer = 0;
		if (hu_import_format(hu_onnx_type_of(t->dtype)) == HU_NO_FORMAT)
			continue; /* of no use to a call; whoever reads it is named */
		int id = hu_import_stored(c, t->name, t);
		hu_value *v =
			id < 0 ? NULL
			       : hu_import_value(c, c->scope, t->name, hu_onnx_type_of(t->dtype), t->rank, t->shape);
		if (v)
			v->plain = id;
	}
	for (size_t i = 0; i < g->nnode && c->st == HU_OK; i++)
		one(c, &g->node[i]);
	c->node = c->own = NULL;
}

/* The shape of input V: what the user gives, else the model's. */
static int
input_shape(hu_importing *c, const hu_onnx_value *v, size_t *d)
{
	const hu_given *whole = NULL;
	int rank = v->rank;

	for (size_t i = 0; i < c->ngiven; i++)
		if (c->given[i].rank && !strcmp(c->given[i].name, v->name))
			whole = &c->given[i];
	if (rank < 0 && !whole)
		return hu_import_fail(c, HU_EINVAL,
			"input '%.120s' has no shape in the model; give it: --shape %.120s=2x3", v->name, v->name);
	if (whole && rank >= 0 && whole->rank != rank)
		return hu_import_fail(
			c, HU_EINVAL, "input '%.120s' has %d dimensions, and %d are given", v->name, rank, whole->rank);
	rank = whole ? whole->rank : rank;
	if (rank > HU_RANK)
		return hu_import_fail(c, HU_EUNABLE, "input '%.120s' has %d dimensions; at most %d are possible",
			v->name, rank, HU_RANK);
	for (int i = 0; i < rank; i++) {
		int64_t n = v->rank < 0 ? -1 : v->dim[i].n;
		const char *param = v->rank < 0 ? "" : v->dim[i].param;
		d[i] = whole ? whole->d[i] : n > 0 ? (size_t)n : 0;
		for (size_t k = 0; k < c->ngiven && !d[i]; k++)
			if (!c->given[k].rank && !c->given[k].value && *param && !strcmp(c->given[k].name, param))
				d[i] = c->given[k].d[0];
		if (!d[i])
			return hu_import_fail(c, HU_EINVAL,
				"dimension %d%s%.60s%s of input '%.120s' is open; give it: --shape %.120s=…", i,
				*param ? " (" : "", param, *param ? ")" : "", v->name, *param ? param : v->name);
		if (whole && n > 0 && (size_t)n != whole->d[i])
			return hu_import_fail(c, HU_EINVAL,
				"dimension %d of input '%.120s' is %lld in the model, and %zu is given", i, v->name,
				(long long)n, whole->d[i]);
	}
	return rank;
}

static int
is_constant_input(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninit; i++)
		if (!strcmp(g->init[i].name, name))
			return 1;
	return 0;
}

/* Input V of this shape as a constant where the user's data have a single number for it, as *tensor. */
static int
fixed(hu_importing *c, const hu_onnx_value *v, int rank, const size_t *d, int *tensor)
{
	const double *is = NULL;
	size_t n = rank ? d[0] : 1;

	for (size_t i = 0; i < c->ngiven && rank < 2; i++)
		if (c->given[i].value && !strcmp(c->given[i].name, v->name))
			is = c->given[i].value;
	double *x = is ? hu_import_room(c, n) : NULL;
	for (size_t i = 0; x && i < n; i++)
		x[i] = *is;
	*tensor = x ? hu_import_numbers(c, v->type, rank, d, x) : -1;
	free(x);
	return is != NULL;
}

/* The tensor of an input. */
static int
variable(hu_importing *c, const hu_onnx_value *v, int rank, const size_t *d)
{
	char name[140];

	name_layer(c, v->name);
	snprintf(name, sizeof name, "input.%s", c->layer);
	for (int i = 2; hu_program_find(c->p, name) >= 0; i++)
		snprintf(name, sizeof name, "input.%.100s_%d", c->layer, i);
	int id = hu_program_tensor(c->p, name, hu_import_format(v->type), hu_import_shape(rank, d),
		hu_import_whole(v->type) ? HU_OTHER : HU_ACTIVATION);
	while (c->nconstant <= (size_t)id) {
		HU_GROW(c->constant, c->nconstant, c->constantcap);
		c->constant[c->nconstant++] = (hu_tensor){ .data = NULL };
	}
	return id;
}

static void
inputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g)
{
	m->in = hu_xcalloc(g->nin + 1, sizeof *m->in);
	for (size_t i = 0; i < g->nin && c->st == HU_OK; i++) {
		const hu_onnx_value *v = &g->in[i];
		size_t d[HU_RANK] = { 0 };
		if (is_constant_input(g, v->name))
			continue;
		int rank = input_shape(c, v, d);
		hu_format_id f = hu_import_format(v->type);
		if (f == HU_NO_FORMAT)
			hu_import_fail(c, HU_EUNABLE, "input '%.120s' has elements of type %s, which are no numbers",
				v->name, hu_onnx_type_name(v->type));
		hu_value *to = c->st == HU_OK ? hu_import_value(c, c->scope, v->name, v->type, rank, d) : NULL;
		if (!to)
			return;
		if (!fixed(c, v, rank, d, &to->plain))
			to->plain = variable(c, v, rank, d);
		if (to->plain < 0)
			return;
		hu_port *port = &m->in[m->nin++];
		*port = (hu_port){ hu_xstrdup(v->name), to->plain, v->type, rank, { 0 } };
		memcpy(port->d, d, sizeof port->d);
	}
}

static void
outputs(hu_importing *c, hu_imported *m, const hu_onnx_graph *g)
{
	m->out = hu_xcalloc(g->nout + 1, sizeof *m->out);
	c->node = c->own = NULL;
	snprintf(c->layer, sizeof c->layer, "output");
	for (size_t i = 0; i < g->nout && c->st == HU_OK; i++) {
		hu_value *v = hu_import_find(c, g->out[i].name);
		if (!v || (v->plain < 0 && v->last < 0)) {
			hu_import_fail(c, HU_EUNABLE, "nothing computes the model's output '%.120s'", g->out[i].name);
			return;
		}
		int t = hu_import_plain(c, v);
		if (t < 0)
			return;
		hu_port *port = &m->out[m->nout++];
		*port = (hu_port){ hu_xstrdup(v->name), t, v->type, v->rank, { 0 } };
		memcpy(port->d, v->d, sizeof port->d);
	}
}

static void
finish(hu_importing *c, hu_imported *m)
{
	hu_import_prune(c, m);
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

hu_status
hu_import(hu_imported *m, const hu_onnx *onnx, const hu_given *given, size_t ngiven)
{
	hu_scope top = { .outer = NULL };
	hu_importing c = { .m = onnx, .scope = &top, .given = given, .ngiven = ngiven };

	memset(m, 0, sizeof *m);
	HU_TRY(hu_import_all_known(onnx));
	HU_TRY(hu_import_all_asked(onnx, given, ngiven));
	c.p = hu_program_new("eval");
	c.layers = json_object();
	c.version = hu_onnx_version(onnx, "");
	inputs(&c, m, onnx->graph);
	if (c.st == HU_OK)
		walk(&c, onnx->graph);
	if (c.st == HU_OK)
		outputs(&c, m, onnx->graph);
	if (c.st == HU_OK)
		finish(&c, m);
	if (c.st == HU_OK)
		c.st = hu_program_validate(m->p);
	for (size_t i = 0; i < c.nconstant; i++)
		free(c.constant[i].data);
	free(c.constant);
	free(c.made);
	json_decref(c.layers);
	hu_program_free(c.p);
	hu_import_scope_release(&top);
	if (c.st != HU_OK)
		hu_imported_release(m);
	return c.st;
}

void
hu_imported_release(hu_imported *m)
{
	for (int i = 0; m->p && i < m->p->nt; i++)
		free(m->constant[i].data);
	for (int i = 0; m->p && i < m->p->nc; i++)
		free(m->node[i]);
	for (size_t i = 0; i < m->nin; i++)
		free(m->in[i].name);
	for (size_t i = 0; i < m->nout; i++)
		free(m->out[i].name);
	free(m->in);
	free(m->out);
	free(m->constant);
	free(m->node);
	free(m->op);
	hu_program_free(m->p);
	memset(m, 0, sizeof *m);
}

void
hu_imported_load(const hu_imported *m, hu_exec *x)
{
	for (int i = 0; i < m->p->nt; i++) {
		const hu_tensor *from = &m->constant[i];
		int id = from->data ? hu_program_find(x->p, m->p->t[i].name) : -1;
		if (id < 0)
			continue;
		hu_tensor *to = &x->t[id];
		hu_format f = hu_format_of(to->format);
		if (from->format == HU_FP32 && !hu_is_wide(to->format))
			hu_bulk_round(to->data, from->data, to->n, to->format, HU_RNE, 0, NULL, 0);
		else
			for (size_t k = 0; k < to->n; k++)
				hu_put(to, k, hu_round(hu_get(from, k), f, HU_RNE, 0, 0));
	}
}
