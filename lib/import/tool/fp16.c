/* SPDX-License-Identifier: Apache-2.0
   Converters to float16, emulated in float32 with a rounding wherever the file has one. Two runtimes: a strict one, as
   GPUs and TensorRT are, rounds each result of a node of float16; onnxruntime's CPU has few kernels of float16, runs
   all other nodes in float32, and drops a Cast to float16 that it would put before a Cast to float32. */
#include "lib/import/tool/fp16.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/import/import.h"
#include "lib/number/arith.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const hu_fp16_rules hu_fp16_modelopt = { .tool = "nvidia-modelopt",
	.blocked = "Upsample NonMaxSuppression Celu",
	.small = 0x1p-24f,
	.large = 65504,
	.converts_all = 1,
	.scales_stay = 1,
	.by_reader = 1,
	.loses_sign = 1 };

/* How a node runs: BLOCKED stands in float32 between the file's Casts, HALF has results of float16, and FLOAT32 is one
   of float16 in the file that the runtime computes in float32. */
typedef enum kind { BLOCKED, HALF, FLOAT32 } kind;

typedef struct writing {
	hu_rewriting *x;
	const hu_fp16_rules *r;
	kind *node;     /* by node */
	char *folded;   /* by node: it has become a constant, or reads a shape alone */
	int *producer;  /* by value: a node, or -1 */
	int cpu;        /* onnxruntime's CPU runs the file */
	json_t *inside; /* what graphs inside nodes read */
} writing;

static int
is_float(const writing *w, int v)
{
	return v >= 0 && w->x->value[v].type == HU_ONNX_FLOAT;
}

/* A node that makes float32 of constants or of other types. */
static int
makes_float(const hu_onnx_node *node)
{
	if (*node->domain)
		return 0;
	return hu_rewriting_has("Constant ConstantOfShape", node->op) ||
	       (!strcmp(node->op, "Cast") && hu_onnx_int(node, "to", 0) == HU_ONNX_FLOAT);
}

static int
is_blocked(const writing *w, size_t i)
{
	const hu_tool *t = w->x->t;
	const hu_onnx_node *node = &w->x->node[i];
	int own = hu_rewriting_has(w->r->blocked, node->op);

	if (hu_rewriting_listed(&t->blocked, node->name) || (w->r->is_blocked && w->r->is_blocked(w->x, i)))
		return 1;
	if (w->r->by_reader)
		return own || makes_float(node) || hu_rewriting_listed(&t->op_block, node->op);
	return t->op_block.n ? hu_rewriting_listed(&t->op_block, node->op) : own;
}

static hu_status
refuse(const writing *w, const char *what, const char *name, const char *why)
{
	return hu_fail(HU_EUNABLE, "%s: %s '%s': %s", w->x->from->path, what, hu_shown(name), why);
}

/* 1 where onnxruntime's CPU has no kernel of float16 for how the node joins what it scatters. */
static int
cannot_join(const hu_onnx_node *node)
{
	const char *how = hu_onnx_text(node, "reduction", "none");

	return (!strcmp(node->op, "ScatterElements") && hu_rewriting_has("add mul", how)) ||
	       (!strcmp(node->op, "ScatterND") && hu_rewriting_has("add mul max min", how));
}

/* What the emulation does not do, and files that onnxruntime refuses. */
static hu_status
check(const writing *w, size_t n)
{
	const hu_onnx_node *node = &w->x->node[n];
	int blocked = w->node[n] == BLOCKED;

	for (size_t k = 0; k < node->nattr; k++)
		if (node->attr[k].ngraphs && (blocked || w->cpu || w->r->by_reader))
			return refuse(w, "node", node->name,
				blocked || w->r->by_reader ? "graphs inside nodes are not converted by this scheme"
							   : "graphs inside nodes are converted for a strict "
							     "runtime alone");
	if (blocked || *node->domain)
		return HU_OK;
	if (!strcmp(node->op, "Constant") &&
		(hu_onnx_attr_find(node, "value_float") || hu_onnx_attr_find(node, "value_floats")))
		return refuse(w, "node", node->name,
			"the converter leaves its number float32, and onnxruntime refuses the file; make it an "
			"initialiser");
	size_t scales = hu_onnx_version(w->x->from, "") < 11 ? 1 : 2;
	if (!w->r->scales_stay && !strcmp(node->op, "Resize") && node->nin > scales && *node->in[scales])
		return refuse(
			w, "node", node->name, "its scales become float16, and onnxruntime refuses the file; block it");
	if (w->cpu && w->node[n] == HALF && cannot_join(node) && is_float(w, hu_rewriting_find(w->x, node->in[0])))
		return refuse(w, "node", node->name,
			"onnxruntime's CPU does not join scattered updates in float16 and fails in the file; block it");
	if (w->r->converts_all)
		return HU_OK;
	const hu_onnx_attr *value = hu_onnx_attr_find(node, "value");
	if ((!strcmp(node->op, "Cast") && hu_onnx_int(node, "to", 0) == HU_ONNX_FLOAT) ||
		(!strcmp(node->op, "ConstantOfShape") && !(value && value->t)))
		return refuse(w, "node", node->name,
			"onnxconverter-common leaves its result float32 where it is read as float16, and onnxruntime "
			"refuses the file");
	return HU_OK;
}

/* 1 where operand K of node I is Resize's scales, which stay float32. */
static int
is_scale(const writing *w, size_t i, size_t k)
{
	return w->r->scales_stay && !strcmp(w->x->node[i].op, "Resize") &&
	       k == (hu_onnx_version(w->x->from, "") < 11 ? 1 : 2);
}

/* 1 where a node that reads VALUE, other than EXCEPT, is blocked (WANTED) or is not. */
static int
has_reader(const writing *w, const char *value, int wanted)
{
	for (size_t i = 0; i < w->x->n; i++)
		for (size_t k = 0; k < w->x->node[i].nin; k++)
			if (!strcmp(w->x->node[i].in[k], value) && (w->node[i] == BLOCKED) == wanted &&
				!is_scale(w, i, k))
				return 1;
	return 0;
}

static void
store(writing *w, const hu_stensor *t)
{
	const float *from = hu_rewriting_floats(t);
	const char *name = w->r->by_reader ? hu_onnx_rewrite_text(&w->x->w, "%s_as_float16", t->name) : t->name;
	float *to = hu_onnx_rewrite_constant(&w->x->w, name, HU_ONNX_FLOAT, t->rank, t->shape);

	for (size_t i = 0; i < t->count; i++)
		to[i] = hu_fp16_converted(w->r, from[i]);
}

/* Initialisers that become float16, under their names, or a copy of them for the readers in float16. */
static hu_status
constants(writing *w)
{
	for (size_t v = 0; v < w->x->nvalue; v++) {
		const hu_tool_value *t = &w->x->value[v];
		if (!t->init || !hu_rewriting_floats(t->init))
			continue;
		int half = has_reader(w, t->name, 0) || json_object_get(w->inside, t->name),
		    float32 = has_reader(w, t->name, 1);
		if (half && float32 && !w->r->converts_all)
			return refuse(w, "constant", t->name,
				"blocked nodes read it beside others, so that onnxconverter-common leaves it float32, "
				"and onnxruntime refuses the file");
		if (half)
			store(w, t->init);
	}
	return HU_OK;
}

/* 1 where the graph's output V is not rounded: a Cast back to float32 follows the one that the runtime would put. */
static int
leaves_raw(const writing *w, int v)
{
	int p = w->producer[v];

	return w->x->value[v].is_out && w->x->t->keep_io && p >= 0 &&
	       ((w->cpu && w->node[p] == FLOAT32) || (w->r->by_reader && w->node[p] == BLOCKED));
}

/* Names of value V as its node computes it, and rounded to float16. */
static const char *
raw_name(writing *w, int v)
{
	const hu_tool_value *t = &w->x->value[v];
	int apart = t->is_out && w->producer[v] >= 0 && !leaves_raw(w, v);

	return apart ? hu_onnx_rewrite_text(&w->x->w, "%s_as_float32", t->name) : t->name;
}

static const char *
rounded_name(writing *w, int v)
{
	const hu_tool_value *t = &w->x->value[v];
	int own = t->is_out && w->producer[v] >= 0 && !leaves_raw(w, v);

	return own ? t->name : hu_onnx_rewrite_text(&w->x->w, "%s_rounded", t->name);
}

/* Value V, rounded to float16. */
static void
round_value(writing *w, int v)
{
	const char *raw = raw_name(w, v), *half = hu_onnx_rewrite_text(&w->x->w, "%s_as_float16", w->x->value[v].name);
	hu_onnx_node *cast = hu_onnx_rewrite_node(&w->x->w, "Cast", &raw, 1, half);

	hu_onnx_rewrite_attr(&w->x->w, cast, "to", HU_ONNX_FLOAT16);
	cast = hu_onnx_rewrite_node(&w->x->w, "Cast", &half, 1, rounded_name(w, v));
	hu_onnx_rewrite_attr(&w->x->w, cast, "to", HU_ONNX_FLOAT);
}

/* How often NODE reads VALUE. */
static int
reads(const hu_onnx_node *node, const char *value)
{
	int n = 0;

	for (size_t k = 0; k < node->nin; k++)
		n += !strcmp(node->in[k], value);
	return n;
}

/* 1 where node N reads value V, a result of another node, without the rounding to float16. */
static int
reads_raw(const writing *w, size_t n, int v)
{
	const hu_tool_value *t = &w->x->value[v];
	int p = w->producer[v], cpu = w->cpu;
	kind reader = w->node[n], from = p < 0 ? HALF : w->node[p];

	if (w->r->by_reader && reader == BLOCKED && (p < 0 ? w->x->t->keep_io : from == BLOCKED))
		return 1;
	/* An input of float16 is rounded already. Of one of float32 either each reader has a Cast of its own, or one
	   Cast serves all of them. */
	if (p < 0 && reader == BLOCKED)
		return w->x->t->keep_io && w->r->drops_pairs && reads(&w->x->node[n], t->name) == 1;
	if (p < 0)
		return w->x->t->keep_io && cpu && reader == FLOAT32 &&
		       (w->r->drops_pairs || !has_reader(w, t->name, 1));
	if (from == BLOCKED && reader == BLOCKED)
		return w->r->drops_pairs && t->readers + (size_t)t->is_out == 1;
	/* Two Casts of the file in a row stay, and then all that read the first of them read what it rounded. */
	if (from == BLOCKED && has_reader(w, t->name, 1))
		return 0;
	return cpu && from != HALF && reader != HALF;
}

/* The name of the main graph's value NAME in the new graph, as a graph inside a node reads it. */
static const char *
outer_name(void *of, const char *name)
{
	writing *w = of;
	int v = hu_rewriting_find(w->x, name);

	return is_float(w, v) && !w->x->value[v].init ? rounded_name(w, v) : name;
}

static hu_status
write_node(writing *w, size_t n)
{
	hu_status st = HU_OK;
	const hu_onnx_node *from = &w->x->node[n];
	hu_onnx_node *to = hu_onnx_rewrite_copy(&w->x->w, from);

	st = hu_fp16_inside(&(hu_fp16_around){ w->x, w->r, outer_name, w }, to);
	if (w->node[n] != BLOCKED)
		hu_fp16_constant_node(w->x, w->r, to);
	for (size_t k = 0; k < to->nin; k++) {
		int v = hu_rewriting_find(w->x, to->in[k]);
		if (is_float(w, v) && w->x->value[v].init && w->r->by_reader && w->node[n] != BLOCKED &&
			!is_scale(w, n, k))
			to->in[k] = hu_onnx_rewrite_text(&w->x->w, "%s_as_float16", to->in[k]);
		if (is_float(w, v) && !w->x->value[v].init)
			to->in[k] = reads_raw(w, n, v) ? raw_name(w, v) : rounded_name(w, v);
	}
	for (size_t k = 0; k < to->nout; k++) {
		int v = hu_rewriting_find(w->x, to->out[k]);
		if (is_float(w, v))
			to->out[k] = raw_name(w, v);
	}
	for (size_t k = 0; k < from->nout; k++) {
		int v = hu_rewriting_find(w->x, from->out[k]);
		if (is_float(w, v))
			round_value(w, v);
	}
	return st;
}

/* 1 where no neighbour of a node with a kernel of float16 has one: the runtime computes it in float32 too. Where there
   may be any number of operands version 1.32 looks at the first one alone. */
static int
is_alone(const writing *w, const char *half, size_t n)
{
	const hu_onnx_node *node = &w->x->node[n];
	int producers = 0, many = hu_rewriting_has("Concat Max Min", node->op);

	for (size_t k = 0; k < node->nin && !(many && producers); k++) {
		int v = hu_rewriting_find(w->x, node->in[k]), p = v < 0 ? -1 : w->producer[v];
		if (p < 0 || w->folded[p])
			continue;
		producers++;
		if (is_float(w, v) && half[p])
			return 0;
	}
	for (size_t k = 0; k < node->nout; k++) {
		int v = hu_rewriting_find(w->x, node->out[k]);
		if (v >= 0 && w->x->value[v].is_out)
			return 0;
		for (size_t i = 0; v >= 0 && i < w->x->n; i++)
			for (size_t j = 0; j < w->x->node[i].nin; j++)
				if (half[i] && !w->folded[i] && !strcmp(w->x->node[i].in[j], node->out[k]))
					return 0;
	}
	return producers > 0;
}

/* Constants that onnxruntime computes before it looks for Casts: always those of Constant nodes; with optimisations
   also what nodes make of constants alone. */
static void
fold(writing *w)
{
	for (size_t i = 0; i < w->x->n; i++) {
		const hu_onnx_node *node = &w->x->node[i];
		int constant = node->nin > 0;
		for (size_t k = 0; k < node->nin; k++) {
			int v = hu_rewriting_find(w->x, node->in[k]);
			constant &= v < 0 || w->x->value[v].init || (w->producer[v] >= 0 && w->folded[w->producer[v]]);
		}
		if (w->x->t->optimised && !strcmp(node->op, "Shape"))
			constant |= hu_shape_reads_other(w->x->from->graph, node);
		w->folded[i] = !strcmp(node->op, "Constant") || (w->x->t->optimised && constant);
	}
}

static hu_status
classify(writing *w)
{
	hu_rewriting *x = w->x;
	char *half = hu_xcalloc(x->n + 1, 1); /* a kernel of float16, or a Cast beside it */
	hu_status st = HU_OK;

	for (size_t v = 0; v < x->nvalue; v++)
		w->producer[v] = -1;
	for (size_t i = 0; i < x->n; i++) {
		const hu_onnx_node *node = &x->node[i];
		for (size_t k = 0; k < node->nout; k++)
			if (*node->out[k])
				w->producer[hu_rewriting_find(x, node->out[k])] = (int)i;
		int kernel = hu_typing_has_kernel(node) || (!*node->domain && !strcmp(node->op, "Cast"));
		w->node[i] = is_blocked(w, i) ? BLOCKED : w->cpu && !kernel ? FLOAT32 : HALF;
		half[i] = w->node[i] != FLOAT32;
	}
	fold(w);
	for (size_t i = 0; i < x->n && w->cpu; i++)
		if (w->node[i] == HALF && !w->folded[i] && strcmp(x->node[i].op, "Cast") && is_alone(w, half, i))
			w->node[i] = FLOAT32;
	for (size_t i = 0; i < x->n && st == HU_OK; i++)
		st = check(w, i);
	for (size_t v = 0; v < x->nvalue && st == HU_OK; v++)
		if (w->r->drops_pairs && x->t->keep_io && x->value[v].is_out && is_float(w, (int)v) &&
			w->producer[v] >= 0 && x->value[v].readers && w->node[w->producer[v]] != BLOCKED)
			st = refuse(w, "output", x->value[v].name,
				"with keep_io_types onnxconverter-common leaves its readers the float32 output beside "
				"float16, and onnxruntime refuses the file");
	free(half);
	return st;
}

hu_status
hu_fp16_write(hu_rewriting *x, const hu_fp16_rules *r)
{
	writing w = { .x = x, .r = r, .cpu = x->t->optimised || x->t->plain_cpu };

	w.folded = hu_xcalloc(x->n + 1, 1);
	w.node = hu_xcalloc(x->n + 1, sizeof *w.node);
	w.producer = hu_xcalloc(x->nvalue + 1, sizeof *w.producer);
	w.inside = json_object();
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nattr; k++)
			if (x->node[i].attr[k].ngraphs)
				hu_onnx_node_reads(w.inside, &x->node[i]);
	hu_status st = classify(&w);
	if (st == HU_OK)
		st = constants(&w);
	for (size_t v = 0; v < x->nvalue && st == HU_OK; v++)
		if (x->value[v].is_in && !x->value[v].init && is_float(&w, (int)v))
			round_value(&w, (int)v);
	for (size_t i = 0; i < x->n && st == HU_OK; i++)
		st = write_node(&w, i);
	json_decref(w.inside);
	free(w.node);
	free(w.folded);
	free(w.producer);
	return st;
}
