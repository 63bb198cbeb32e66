/* SPDX-License-Identifier: Apache-2.0
   Where values that the file has in float16 or bfloat16 are rounded to that: by every node, or as ONNX Runtime's CPU
   does, which computes most of the nodes in float32 and rounds where a node with a kernel of float16 reads or makes a
   value that does not stand between others alone, where two Casts of the file follow each other, and where the model
   gives it out. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <string.h>

/* ONNX Runtime's kernels of float16 on a CPU. */
static const struct kernel {
	const char *domain, *name;
} kernels[] = {
#define KERNEL(domain, name) { domain, #name },
#include "lib/import/half_kernels.def"
#undef KERNEL
};

/* "widened" is the attribute of a fused node whose product the runtime had given float32 before. */
int
hu_typing_has_kernel(const hu_onnx_node *x)
{
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels && !hu_onnx_int(x, "widened", 0); i++)
		if (!strcmp(kernels[i].name, x->op) && !strcmp(kernels[i].domain, x->domain))
			return 1;
	return 0;
}

static int
is_cast(const hu_onnx_node *x)
{
	return !*x->domain && (!strcmp(x->op, "Cast") || !strcmp(x->op, "CastLike"));
}

static int
is_narrow(int type)
{
	return type == HU_ONNX_FLOAT16 || type == HU_ONNX_BFLOAT16;
}

static int
reads(const hu_onnx_node *x, const char *name)
{
	for (size_t i = 0; i < x->nin; i++)
		if (!strcmp(x->in[i], name))
			return 1;
	return 0;
}

/* 1 of If, Loop and Scan, which hand values of any type to the graphs inside them. */
static int
has_graph(const hu_onnx_node *x)
{
	for (size_t i = 0; i < x->nattr; i++)
		if (x->attr[i].ngraphs)
			return 1;
	return 0;
}

/* 1 where the runtime gives the node float32, and has Casts of its own before and behind it. */
static int
is_widened(const hu_onnx_node *x)
{
	return !hu_typing_has_kernel(x) && !is_cast(x) && !has_graph(x);
}

/* 1 where a graph inside node X reads NAME. */
static int
reads_inside(const hu_onnx_node *x, const char *name)
{
	json_t *all = has_graph(x) ? json_object() : NULL;

	if (all)
		hu_onnx_node_reads(all, x);
	int any = all && json_object_get(all, name);
	json_decref(all);
	return any;
}

/* 1 where the runtime's optimisations take the value off NODE's operands: a Shape that reads another value of the same
   shape, or is a constant. */
static int
stops_reading(const hu_importing *c, const hu_onnx_node *node)
{
	return c->m->optimised && !*node->domain && !strcmp(node->op, "Shape") && hu_shape_reads_other(c->graph, node);
}

/* 1 where every node of the graph that reads NAME is widened, as is at least one, and the graph does not give it
   out. */
static int
only_widened_read(const hu_importing *c, const char *name)
{
	const hu_onnx_graph *g = c->graph;
	int any = 0;

	for (size_t i = 0; i < g->nout; i++)
		if (!strcmp(g->out[i].name, name))
			return 0;
	for (size_t i = 0; i < g->nnode; i++) {
		if (reads_inside(&g->node[i], name))
			return 0;
		if (!reads(&g->node[i], name) || stops_reading(c, &g->node[i]))
			continue;
		if (!is_widened(&g->node[i]))
			return 0;
		any = 1;
	}
	return any;
}

/* The node of the graph that makes NAME; NULL for inputs and initialisers. */
static const hu_onnx_node *
maker(const hu_onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nout; k++)
			if (!strcmp(g->node[i].out[k], name))
				return &g->node[i];
	return NULL;
}

/* 1 where the runtime has made a constant of V, which FROM makes, before it looks for Casts: what a Constant node
   holds, and with optimisations what nodes make of constants alone. */
static int
is_folded(hu_importing *c, const hu_onnx_node *from, const hu_value *v)
{
	return (!*from->domain && !strcmp(from->op, "Constant")) || (c->m->optimised && hu_import_is_constant(c, v));
}

/* A node with a kernel among nodes without one, which the runtime widens too, so that it needs no Casts. Of operands in
   any number, as Concat's, version 1.32 looks at the first one alone. */
static int
is_isolated(hu_importing *c, const hu_onnx_node *x)
{
	int many = !strcmp(x->op, "Concat") || !strcmp(x->op, "Max") || !strcmp(x->op, "Min"), made = 0;

	for (size_t i = 0; i < x->nin && !(many && made); i++) {
		const hu_value *v = *x->in[i] ? hu_import_find(c, x->in[i]) : NULL;
		const hu_onnx_node *from = v && is_narrow(v->type) ? maker(c->graph, x->in[i]) : NULL;
		if (from && is_folded(c, from, v))
			continue;
		if (from && !is_widened(from))
			return 0;
		made |= from != NULL;
	}
	for (size_t i = 0; i < x->nout; i++)
		if (*x->out[i] && !only_widened_read(c, x->out[i]))
			return 0;
	return made;
}

int
hu_typing_runs_narrow(hu_importing *c)
{
	return has_graph(c->own) || (hu_typing_has_kernel(c->own) && !is_isolated(c, c->own));
}

int
hu_typing_round(hu_importing *c, int t, int type)
{
	if (t < 0 || !is_narrow(type) || c->typing == HU_TYPING_TENSORS || c->typing == HU_TYPING_FLOAT32)
		return t;
	hu_tclass cls = c->p->t[t].cls;
	t = hu_import_call(c, "cast", type == HU_ONNX_FLOAT16 ? HU_FP16 : HU_BF16, &t, 1);
	t = hu_import_call(c, "cast", HU_FP32, &t, 1);
	if (t >= 0 && !c->constant[t].data)
		c->p->t[t].cls = cls;
	return t;
}

/* V's elements, in whichever order it is held. */
static void
round_value(hu_importing *c, hu_value *v)
{
	int last = hu_import_is_last(v), t = hu_typing_round(c, last ? v->last : v->plain, v->type);

	v->plain = last ? -1 : t;
	v->last = last ? t : -1;
}

static hu_value *
half_of(hu_importing *c, hu_value *v)
{
	if (!v->half) {
		v->half = hu_xmalloc(sizeof *v->half);
		*v->half = *v;
		v->half->half = NULL;
		v->half->raw = 0;
		round_value(c, v->half);
	}
	return v->half;
}

/* What the graph around the one at hand made has its own type there. */
static hu_value *
as_read(hu_importing *c, hu_value *v)
{
	if (!v || !v->raw || c->st != HU_OK)
		return v;
	int stays = !hu_import_is_outer(c, v->name) && !hu_typing_runs_narrow(c) && !(is_cast(c->own) && v->is_cast);
	return stays ? v : half_of(c, v);
}

hu_value *
hu_import_in(hu_importing *c, size_t i)
{
	if (c->st != HU_OK || i >= c->node->nin || !*c->node->in[i])
		return NULL;
	hu_value *v = hu_import_find(c, c->node->in[i]);
	if (!v)
		hu_import_fail(c, HU_EFILE, "it reads '%.120s', which has no value here", c->node->in[i]);
	return as_read(c, v);
}

hu_value *
hu_typing_given(hu_importing *c, hu_value *v)
{
	return v->raw && c->st == HU_OK ? half_of(c, v) : v;
}

/* 1 where the node's results are elements of its operands. Functions of constants have the arithmetic "moves" too. */
static int
moves(const char *arithmetic, const hu_onnx_node *x)
{
	static const char *const functions[] = { "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh" };

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i], x->op))
			return 0;
	return !strcmp(arithmetic, "moves");
}

/* What ONNX Runtime's CPU makes of the Cast at hand, of V to W. A Cast back to the type that a value had gives that
   value; the rounding of one that another Cast of the file reads stays. */
static void
cast_on_cpu(hu_importing *c, hu_value *v, hu_value *w)
{
	const hu_value *was = v->wider_of;

	if (!is_narrow(w->type)) {
		w->wider_of = is_narrow(v->type) ? v : NULL;
		return;
	}
	if (was && was->type == w->type) {
		w->plain = was->plain;
		w->last = was->last;
		w->raw = was->raw;
		return;
	}
	w->raw = w->is_cast = 1;
	for (size_t i = 0; i < c->graph->nnode && w->raw; i++)
		if (is_cast(&c->graph->node[i]) && reads(&c->graph->node[i], w->name)) {
			round_value(c, w);
			w->raw = 0;
		}
}

void
hu_typing_outputs(hu_importing *c, const char *arithmetic)
{
	const hu_onnx_node *x = c->own;
	int strict = c->typing == HU_TYPING_STRICT, cpu = c->typing == HU_TYPING_ORT_CPU;

	for (size_t i = 0; i < x->nout && c->st == HU_OK && (strict || cpu); i++) {
		hu_value *v = *x->out[i] ? hu_import_find(c, x->out[i]) : NULL,
			 *from = x->nin && *x->in[0] ? hu_import_find(c, x->in[0]) : NULL;
		if (!v || (v->plain < 0 && v->last < 0))
			continue;
		if (cpu && is_cast(x) && from)
			cast_on_cpu(c, from, v);
		else if (!is_narrow(v->type))
			continue;
		else if (cpu && !hu_typing_runs_narrow(c))
			v->raw = 1;
		else if (!moves(arithmetic, x))
			round_value(c, v);
	}
}
