/* SPDX-License-Identifier: Apache-2.0
   Nodes whose shapes follow from values: they run where these are constants, and not where the model computes them of
   its inputs. */
#include "lib/import/import.h"

#include "lib/base/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The inputs of an operator that must be constants, bit i for input i. */
static const struct {
	const char *op;
	unsigned inputs;
} rules[] = { { "Acos", 1 }, { "Acosh", 1 }, { "AffineGrid", 2 }, { "Asin", 1 }, { "Asinh", 1 }, { "Atan", 1 },
	{ "Atanh", 1 }, { "Cosh", 1 }, { "Sinh", 1 }, { "NonZero", 1 }, { "Range", 7 }, { "ConstantOfShape", 1 },
	{ "Reshape", 2 }, { "Expand", 2 }, { "Tile", 2 }, { "Slice", 30 }, { "Pad", 2 }, { "OneHot", 2 },
	{ "TopK", 2 }, { "ReverseSequence", 2 }, { "Resize", 14 }, { "Upsample", 2 }, { "CumSum", 2 },
	{ "Squeeze", 2 }, { "Unsqueeze", 2 }, { "Split", 2 }, { "ReduceSum", 2 }, { "ReduceMean", 2 },
	{ "ReduceMax", 2 }, { "ReduceMin", 2 }, { "CenterCropPad", 2 }, { "Trilu", 2 }, { "Loop", 1 } };

static unsigned
must_be_constant(const hu_onnx_node *x)
{
	for (size_t k = 0; k < sizeof rules / sizeof *rules && !*x->domain; k++)
		if (!strcmp(rules[k].op, x->op))
			return rules[k].inputs;
	return 0;
}

/* The names of inputs that differ from row to row: a number an input may be one and the same. */
static json_t *
varying(const hu_onnx_graph *g)
{
	json_t *set = json_object();

	for (size_t i = 0; i < g->nin; i++)
		if (g->in[i].rank < 0 || g->in[i].rank > 1 || (g->in[i].rank && !hu_import_whole(g->in[i].type)))
			json_object_set_new(set, g->in[i].name, json_true());
	for (size_t i = 0; i < g->ninit; i++)
		json_object_del(set, g->init[i].name);
	return set;
}

size_t
hu_constants_only(const hu_onnx *m, const hu_onnx_node ***list)
{
	const hu_onnx_graph *g = m->graph;
	json_t *set = varying(g);
	size_t n = 0, cap = 0;

	*list = NULL;
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		unsigned must = must_be_constant(x);
		int varies = 0, wants = 0;
		for (size_t k = 0; k < x->nin; k++) {
			int does = json_object_get(set, x->in[k]) != NULL;
			varies |= does;
			wants |= does && k < 32 && (must >> k & 1);
		}
		if (wants) {
			HU_GROW(*list, n, cap);
			(*list)[n++] = x;
		}
		for (size_t k = 0; k < x->nout && varies; k++)
			if (*x->out[k] && strcmp(x->op, "Shape") && strcmp(x->op, "Size"))
				json_object_set_new(set, x->out[k], json_true());
	}
	json_decref(set);
	return n;
}

/* 1 where output I of X, whose inputs are all whole numbers or truth values (ALL) or not, is one too. */
static int
is_whole(const hu_onnx_node *x, size_t i, int all)
{
	static const char *const choices[] = { "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or",
		"Not", "Xor", "IsNaN", "IsInf", "ArgMax", "ArgMin", "Shape", "Size", "NonZero" };
	const hu_onnx_attr *value = hu_onnx_attr_find(x, "value");

	for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
		if (!strcmp(choices[k], x->op))
			return 1;
	if (!strcmp(x->op, "TopK"))
		return i > 0;
	if (!strcmp(x->op, "Cast"))
		return hu_import_whole((int)hu_onnx_int(x, "to", 0));
	if (!strcmp(x->op, "ConstantOfShape") || !strcmp(x->op, "Constant"))
		return value && value->t ? hu_import_whole(hu_onnx_type_of(value->t->dtype))
					 : hu_onnx_attr_find(x, "value_int") || hu_onnx_attr_find(x, "value_ints");
	return all && x->nin;
}

/* The names of G's whole numbers and truth values, as far as operators and constants say so. */
static json_t *
whole_values(const hu_onnx_graph *g)
{
	json_t *set = json_object();

	for (size_t i = 0; i < g->ninit; i++)
		if (hu_import_whole(hu_onnx_type_of(g->init[i].dtype)))
			json_object_set_new(set, g->init[i].name, json_true());
	for (size_t i = 0; i < g->nin; i++)
		if (hu_import_whole(g->in[i].type))
			json_object_set_new(set, g->in[i].name, json_true());
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		int all = 1;
		for (size_t k = 0; k < x->nin; k++)
			all &= !*x->in[k] || json_object_get(set, x->in[k]) != NULL;
		for (size_t k = 0; k < x->nout; k++)
			if (is_whole(x, k, all))
				json_object_set_new(set, x->out[k], json_true());
	}
	return set;
}

/* Marks in BAD, by node, those that do not run, and all that read what these make. Returns whether there is one. */
static int
mark_bad(char *bad, const hu_onnx *m)
{
	const hu_onnx_graph *g = m->graph;
	const hu_onnx_node **list;
	size_t n = hu_constants_only(m, &list);
	json_t *lost = json_object();
	int any = 0;

	for (size_t i = 0; i < n; i++)
		bad[list[i] - g->node] = 1;
	free(list);
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		json_t *reads = json_object();
		const char *name;
		json_t *unused;
		hu_onnx_node_reads(reads, x);
		json_object_foreach(reads, name, unused) bad[i] |= json_object_get(lost, name) != NULL;
		json_decref(reads);
		bad[i] |= !hu_import_is_known(m, x);
		for (size_t k = 0; k < x->nout && bad[i]; k++)
			json_object_set_new(lost, x->out[k], json_true());
		any |= bad[i];
	}
	json_decref(lost);
	return any;
}

size_t
hu_import_before(const hu_onnx *m, const char ***names)
{
	const hu_onnx_graph *g = m->graph;
	char *bad = hu_xcalloc(g->nnode + 1, 1);
	json_t *varies = varying(g), *wanted = json_object(), *whole = whole_values(g);
	size_t n = 0, cap = 0;

	*names = NULL;
	int any = mark_bad(bad, m);
	for (size_t i = 0; i < g->nout; i++)
		json_object_set_new(wanted, g->out[i].name, json_true());
	for (size_t i = 0; i < g->nnode; i++)
		if (bad[i])
			hu_onnx_node_reads(wanted, &g->node[i]);
	for (size_t i = 0; i < g->nnode && any; i++) {
		const hu_onnx_node *x = &g->node[i];
		int does = 0;
		for (size_t k = 0; k < x->nin; k++)
			does |= json_object_get(varies, x->in[k]) != NULL;
		for (size_t k = 0; k < x->nout && does && strcmp(x->op, "Shape") && strcmp(x->op, "Size"); k++) {
			json_object_set_new(varies, x->out[k], json_true());
			if (bad[i] || !json_object_get(wanted, x->out[k]) || json_object_get(whole, x->out[k]))
				continue;
			HU_GROW(*names, n, cap);
			(*names)[n++] = x->out[k];
		}
	}
	json_decref(varies);
	json_decref(wanted);
	json_decref(whole);
	free(bad);
	return n;
}
