/* SPDX-License-Identifier: Apache-2.0
   Numbers of a model as converters to float16 store them, and graphs inside If, Loop and Scan as they write them, for a
   strict runtime. */
#include "lib/import/tool/fp16.h"

#include "lib/base/show.h"
#include "lib/number/arith.h"
#include "lib/number/round.h"

#include <math.h>
#include <string.h>

float
hu_fp16_converted(const hu_fp16_rules *r, float x)
{
	float size = fabsf(x);

	if (size > 0 && size < r->small) {
		size = r->small;
		x = r->loses_sign ? size : x;
	} else if (size > r->large && (size < INFINITY || r->by_reader)) {
		size = r->large;
	}
	return (float)hu_round((double)copysignf(size, x), hu_format_of(HU_FP16), HU_RNE, 0, 0);
}

void
hu_fp16_constant_node(hu_rewriting *x, const hu_fp16_rules *r, hu_onnx_node *to)
{
	if (!*to->domain && !strcmp(to->op, "AffineGrid"))
		hu_onnx_rewrite_attr(&x->w, to, "places", HU_ONNX_FLOAT16);
	if (*to->domain || strcmp(to->op, "Constant"))
		return;
	for (size_t k = 0; k < to->nattr; k++) {
		const hu_stensor *t = to->attr[k].t;
		if (!t || !hu_rewriting_floats(t))
			continue;
		hu_onnx_attr *all = hu_onnx_rewrite_room(&x->w, to->nattr, sizeof *all);
		hu_stensor *own = hu_onnx_rewrite_room(&x->w, 1, sizeof *own);
		float *v = hu_onnx_rewrite_room(&x->w, t->count + 1, sizeof *v);
		memcpy(all, to->attr, to->nattr * sizeof *all);
		*own = *t;
		own->data = v;
		for (size_t i = 0; i < t->count; i++)
			v[i] = hu_fp16_converted(r, ((const float *)t->data)[i]);
		all[k].t = own;
		to->attr = all;
	}
}

/* The values of a graph inside a node by name, with their types, and those of the graph around it; NULL: the main
   one. */
typedef struct scope {
	const hu_fp16_around *w;
	const struct scope *outer;
	json_t *type;
} scope;

static int
type_in(const scope *s, const char *name)
{
	for (; s; s = s->outer) {
		const json_t *type = json_object_get(s->type, name);
		if (type)
			return (int)json_integer_value(type);
		if (!s->outer) {
			int v = hu_rewriting_find(s->w->x, name);
			return v < 0 ? 0 : s->w->x->value[v].type;
		}
	}
	return 0;
}

/* The output of a graph inside NODE that is its own output K. */
static int
of_graph(const hu_onnx_node *node, size_t k)
{
	for (size_t a = 0; a < node->nattr; a++)
		for (size_t j = 0; j < node->attr[a].ngraphs; j++) {
			const hu_onnx_graph *g = node->attr[a].graphs[j];
			size_t at = k + !strcmp(node->op, "Loop"); /* whose first output says whether it goes on */
			return at < g->nout ? g->out[at].type : 0;
		}
	return 0;
}

/* The type of Constant's or ConstantOfShape's value. */
static int
of_value(const hu_onnx_node *node)
{
	const hu_onnx_attr *value = hu_onnx_attr_find(node, "value");

	if (value && value->t)
		return hu_onnx_type_of(value->t->dtype);
	return hu_onnx_attr_find(node, "value_int") || hu_onnx_attr_find(node, "value_ints") ? HU_ONNX_INT64
											      : HU_ONNX_FLOAT;
}

/* The element type of output K of NODE, of which a file need not say anything. */
static int
type_made(const hu_onnx_node *node, size_t k, const scope *s)
{
	static const char whole[] = "Shape Size NonZero ArgMax ArgMin NonMaxSuppression SequenceLength",
			  second[] = "TopK MaxPool Unique",
			  truth[] = "Greater Less Equal GreaterOrEqual LessOrEqual Not And Or Xor IsNaN IsInf";
	const char *op = node->op;
	size_t in = !strcmp(op, "Where") || !strcmp(op, "CastLike") ? 1 : !strcmp(op, "OneHot") ? 2 : 0;
	int graph = of_graph(node, k);

	if (graph)
		return graph;
	if (hu_rewriting_has(whole, op) || (k && hu_rewriting_has(second, op)))
		return HU_ONNX_INT64;
	if (hu_rewriting_has(truth, op) || (k && !strcmp(op, "Dropout")))
		return HU_ONNX_BOOL;
	if (!strcmp(op, "Cast"))
		return (int)hu_onnx_int(node, "to", 0);
	if (hu_rewriting_has("Constant ConstantOfShape", op))
		return of_value(node);
	if (hu_rewriting_has("RandomNormal RandomUniform RandomNormalLike RandomUniformLike EyeLike", op) &&
		(hu_onnx_int(node, "dtype", 0) || !node->nin))
		return (int)hu_onnx_int(node, "dtype", HU_ONNX_FLOAT);
	while (in < node->nin && !*node->in[in])
		in++;
	return in < node->nin ? type_in(s, node->in[in]) : 0;
}

/* 1 where a graph inside the node makes the value, or has it as an input; else it is the main graph's. */
static int
is_inside(const scope *s, const char *name)
{
	for (; s; s = s->outer)
		if (json_object_get(s->type, name))
			return 1;
	return 0;
}

static hu_status
refuse(const scope *s, const char *what, const char *name, const char *why)
{
	return hu_fail(HU_EUNABLE, "%s: %s '%s' inside another node: %s", s->w->x->from->path, what, hu_shown(name),
		why);
}

static int
is_blocked(const scope *s, const hu_onnx_node *node)
{
	const hu_tool *t = s->w->x->t;

	if (hu_rewriting_listed(&t->blocked, node->name))
		return 1;
	return t->op_block.n ? hu_rewriting_listed(&t->op_block, node->op)
			     : hu_rewriting_has(s->w->r->blocked, node->op);
}

/* What onnxruntime refuses of such a node. */
static hu_status
check(const scope *s, const hu_onnx_node *node)
{
	const hu_onnx_attr *value = hu_onnx_attr_find(node, "value");
	int blocked = is_blocked(s, node);

	for (size_t k = 0; k < node->nout && blocked && s->w->r->converts_all; k++)
		if (type_made(node, k, s) == HU_ONNX_FLOAT)
			return refuse(s, "node", node->name,
				"it is blocked, and the converter puts its Casts into the main graph, so that "
				"onnxruntime refuses the file");
	for (size_t k = 0; k < node->nin && blocked; k++)
		if (*node->in[k] && !json_object_get(s->type, node->in[k]) && type_in(s, node->in[k]) == HU_ONNX_FLOAT)
			return refuse(s, "node", node->name,
				"it is blocked and reads a value from outside its graph without a Cast, and "
				"onnxruntime refuses the file");
	for (size_t k = 0; k < node->nattr; k++)
		if (node->attr[k].ngraphs && blocked)
			return refuse(s, "node", node->name, "it is blocked, and the graphs in it stay float32");
	if (blocked || *node->domain)
		return HU_OK;
	if (hu_onnx_attr_find(node, "value_float") || hu_onnx_attr_find(node, "value_floats"))
		return refuse(s, "node", node->name,
			"the converter leaves its number float32, and onnxruntime refuses the file; make it an "
			"initialiser");
	if (!strcmp(node->op, "Resize") && node->nin > 2 && *node->in[2] && !s->w->r->scales_stay)
		return refuse(s, "node", node->name, "its scales become float16, and onnxruntime refuses the file");
	if (!s->w->r->converts_all &&
		((!strcmp(node->op, "Cast") && hu_onnx_int(node, "to", 0) == HU_ONNX_FLOAT) ||
			(!strcmp(node->op, "ConstantOfShape") && !(value && value->t))))
		return refuse(s, "node", node->name,
			"the converter leaves its result float32 where it is read as float16, and onnxruntime refuses "
			"the file");
	return HU_OK;
}

/* Constants of graph G: those that a blocked node reads stay float32. */
static hu_status
constants(const scope *s, const hu_onnx_graph *g)
{
	for (size_t i = 0; i < g->ninit; i++) {
		const hu_stensor *t = &g->init[i];
		const float *from = hu_rewriting_floats(t);
		int blocked = 0, half = 0;
		json_object_set_new_nocheck(s->type, t->name, json_integer(hu_onnx_type_of(t->dtype)));
		for (size_t n = 0; n < g->nnode; n++) {
			json_t *reads = json_object();
			hu_onnx_node_reads(reads, &g->node[n]);
			if (json_object_get(reads, t->name))
				*(is_blocked(s, &g->node[n]) ? &blocked : &half) = 1;
			json_decref(reads);
		}
		if (from && blocked && half && !s->w->r->converts_all)
			return refuse(s, "constant", t->name,
				"blocked nodes read it beside others, and onnxruntime refuses the file");
		if (!from || !half) {
			hu_onnx_rewrite_keep(&s->w->x->w, t);
			continue;
		}
		float *to = hu_onnx_rewrite_constant(&s->w->x->w, t->name, HU_ONNX_FLOAT, t->rank, t->shape);
		for (size_t k = 0; k < t->count; k++)
			to[k] = hu_fp16_converted(s->w->r, from[k]);
	}
	return HU_OK;
}

static hu_status graphs(const hu_fp16_around *w, hu_onnx_node *to, const scope *outer);

static hu_status
node(const scope *s, const hu_onnx_node *from)
{
	hu_onnx_rewrite *w = &s->w->x->w;
	hu_onnx_node *to = hu_onnx_rewrite_copy(w, from);

	HU_TRY(check(s, from));
	if (!is_blocked(s, from))
		hu_fp16_constant_node(s->w->x, s->w->r, to);
	HU_TRY(graphs(s->w, to, s));
	for (size_t k = 0; k < to->nin; k++)
		if (*to->in[k] && !is_inside(s, to->in[k]))
			to->in[k] = s->w->outer(s->w->of, to->in[k]);
	for (size_t k = 0; k < from->nout; k++) {
		int type = type_made(from, k, s);
		json_object_set_new_nocheck(s->type, from->out[k], json_integer(type));
		if (*from->out[k] && type == HU_ONNX_FLOAT)
			to->out[k] = hu_onnx_rewrite_text(w, "%s_as_float32", from->out[k]);
	}
	const char **raw = to->out; /* TO moves with the next node */
	for (size_t k = 0; k < from->nout; k++) {
		if (raw[k] == from->out[k])
			continue;
		const char *half = hu_onnx_rewrite_text(w, "%s_as_float16", from->out[k]);
		hu_onnx_node *cast = hu_onnx_rewrite_node(w, "Cast", &raw[k], 1, half);
		hu_onnx_rewrite_attr(w, cast, "to", HU_ONNX_FLOAT16);
		cast = hu_onnx_rewrite_node(w, "Cast", &half, 1, from->out[k]);
		hu_onnx_rewrite_attr(w, cast, "to", HU_ONNX_FLOAT);
	}
	return HU_OK;
}

/* The new graph *TO of FROM. The rewriting appends to it in the main graph's place. */
static hu_status
graph(const hu_fp16_around *w, hu_onnx_graph **to, const hu_onnx_graph *from, const scope *outer)
{
	hu_onnx_rewrite *rewrite = &w->x->w, kept = *rewrite;
	hu_onnx_graph *around = rewrite->to->graph;
	scope s = { w, outer, json_object() };
	hu_status st = HU_OK;

	*to = hu_onnx_rewrite_room(rewrite, 1, sizeof **to);
	**to = *from;
	(*to)->node = NULL;
	(*to)->init = NULL;
	(*to)->nnode = (*to)->ninit = (*to)->ninfo = 0;
	rewrite->to->graph = *to;
	rewrite->nodecap = rewrite->initcap = 0;
	for (size_t i = 0; i < from->nin && st == HU_OK; i++) {
		json_object_set_new_nocheck(s.type, from->in[i].name, json_integer(from->in[i].type));
		if (!from->in[i].type)
			st = refuse(&s, "input", from->in[i].name, "the graph does not say its type");
	}
	if (st == HU_OK)
		st = constants(&s, from);
	for (size_t i = 0; i < from->nnode && st == HU_OK; i++)
		st = node(&s, &from->node[i]);
	for (size_t k = 0; k < from->nout && st == HU_OK; k++)
		if (!json_object_get(s.type, from->out[k].name))
			st = refuse(&s, "output", from->out[k].name, "it is a value from outside its graph");
	rewrite->to->graph = around;
	rewrite->nodecap = kept.nodecap;
	rewrite->initcap = kept.initcap;
	json_decref(s.type);
	return st;
}

/* The graphs inside TO, which stand in the scope OUTER. */
static hu_status
graphs(const hu_fp16_around *w, hu_onnx_node *to, const scope *outer)
{
	hu_onnx_attr *all = NULL;

	for (size_t a = 0; a < to->nattr; a++) {
		if (!to->attr[a].ngraphs)
			continue;
		if (!all) {
			all = hu_onnx_rewrite_room(&w->x->w, to->nattr, sizeof *all);
			memcpy(all, to->attr, to->nattr * sizeof *all);
			to->attr = all;
		}
		hu_onnx_graph **from = all[a].graphs,
			      **own = hu_onnx_rewrite_room(&w->x->w, all[a].ngraphs, sizeof *from);
		all[a].graphs = own;
		for (size_t k = 0; k < all[a].ngraphs; k++)
			HU_TRY(graph(w, &own[k], from[k], outer));
	}
	return HU_OK;
}

hu_status
hu_fp16_inside(const hu_fp16_around *w, hu_onnx_node *to)
{
	return graphs(w, to, NULL);
}
