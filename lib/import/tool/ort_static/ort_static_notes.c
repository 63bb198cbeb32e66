/* SPDX-License-Identifier: Apache-2.0
   Faults of quantize_static that a model meets, each measured on onnxruntime 1.32: doc/tools.md has them in full. */
#include "lib/import/tool/ort_static/ort_static.h"

#include "lib/base/show.h"

#include <math.h>
#include <string.h>

/* The number of a constant operand K of NODE; NaN where it is none. */
static double
number(const hu_ort_static *s, const hu_onnx_node *node, size_t k)
{
	int v = k < node->nin ? hu_rewriting_find(s->x, node->in[k]) : -1;
	const float *x = v < 0 ? NULL : hu_rewriting_floats(s->x->value[v].init);

	if (x)
		return (double)*x;
	return v >= 0 && s->x->value[v].seen && s->x->value[v].low == s->x->value[v].high ? s->x->value[v].low
											  : (double)NAN;
}

/* A Clip that vanished: what its limits were for. */
static void
clip(hu_ort_static *s, const hu_onnx_node *node)
{
	double low = number(s, node, 1), high = number(s, node, 2);
	int out = hu_rewriting_find(s->x, node->out[0]);

	if (low > 0)
		hu_str_addf(&s->x->notes, "Clip '%s' is removed, and its output reaches 0 below its limit of %.4g.\n",
			hu_shown(node->name), low);
	if (high > s->x->value[out].high)
		hu_str_addf(&s->x->notes,
			"Clip '%s' is removed: its output saturates at %.4g, the largest that calibration showed, and "
			"not at "
			"%.4g.\n",
			hu_shown(node->name), s->x->value[out].high, high);
}

/* The first value whose scale is infinite, and how many there are. */
static void
infinite(hu_ort_static *s)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t v = 0; v < s->x->nvalue; v++) {
		const hu_tool_value *t = &s->x->value[v];
		if (s->mark[v].kind == HU_MARK_NONE || !t->seen || (isfinite(t->low) && isfinite(t->high)))
			continue;
		first = n++ ? first : t->name;
	}
	if (n)
		hu_str_addf(&s->x->notes,
			"Value '%s' is infinite on calibration inputs, and so is the scale that the tool writes (%zu "
			"value%s): exclude the node that makes it.\n",
			hu_shown(first), n, n == 1 ? "" : "s");
}

void
hu_ort_static_notes(hu_ort_static *s)
{
	const hu_onnx_node *softmax = NULL;
	size_t nsoftmax = 0;

	infinite(s);

	for (size_t i = 0; i < s->x->n; i++) {
		const hu_onnx_node *node = &s->x->node[i], *own = &s->x->from->graph->node[i];
		int out = node->nout ? hu_rewriting_find(s->x, node->out[0]) : -1;
		if (s->x->dropped[i] && !strcmp(node->op, "Clip"))
			clip(s, node);
		if (out < 0 || s->mark[out].kind == HU_MARK_NONE)
			continue;
		if (!strcmp(node->op, "Softmax") && !nsoftmax++)
			softmax = node;
		if (!strcmp(node->op, "Gemm") && hu_onnx_float(own, "beta", 1) != 1)
			hu_str_addf(&s->x->notes,
				"Gemm '%s': with its optimisations onnxruntime adds the bias without its factor of "
				"%.4g.\n",
				hu_shown(node->name), (double)hu_onnx_float(own, "beta", 1));
	}
	for (size_t i = 0; i < s->nbias; i++)
		if (s->bias[i].grown)
			hu_str_addf(&s->x->notes, "The bias '%s' would leave 32 bits: the scale of its weight grows.\n",
				hu_shown(s->x->value[s->bias[i].v].name));
	if (softmax)
		hu_str_addf(&s->x->notes,
			"Softmax '%s'%s: with its optimisations onnxruntime reads a certain class as 254/255.\n",
			hu_shown(softmax->name), nsoftmax > 1 ? " and others" : "");
}
