/* SPDX-License-Identifier: Apache-2.0
   Nodes whose shapes follow from values: they run where these are constants, and not where the model computes them of
   its inputs. */
#include "lib/import/import.h"

#include "lib/base/mem.h"

#include <jansson.h>
#include <string.h>

/* The inputs of an operator that must be constants, bit i for input i. */
static const struct {
	const char *op;
	unsigned inputs;
} rules[] = { { "Acos", 1 }, { "Acosh", 1 }, { "Asin", 1 }, { "Asinh", 1 }, { "Atan", 1 }, { "Atanh", 1 },
	{ "Cosh", 1 }, { "Sinh", 1 }, { "NonZero", 1 }, { "Range", 7 }, { "ConstantOfShape", 1 }, { "Reshape", 2 },
	{ "Expand", 2 }, { "Tile", 2 }, { "Slice", 30 }, { "Pad", 2 }, { "OneHot", 2 }, { "TopK", 2 },
	{ "ReverseSequence", 2 }, { "Resize", 14 }, { "Upsample", 2 }, { "CumSum", 2 }, { "Squeeze", 2 },
	{ "Unsqueeze", 2 }, { "Split", 2 }, { "ReduceSum", 2 }, { "ReduceMean", 2 }, { "ReduceMax", 2 },
	{ "ReduceMin", 2 }, { "CenterCropPad", 2 }, { "Trilu", 2 }, { "Loop", 1 } };

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
