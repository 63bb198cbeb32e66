/* SPDX-License-Identifier: Apache-2.0
   Which values of a model in quantize_static's format QOperator have codes, which have numbers, and their scales. */
#include "lib/import/tool/ort_static/ort_static_coded.h"

static const char *
text(hu_ort_coding *w, const char *stem, const char *end)
{
	return hu_onnx_rewrite_text(&w->x->w, "%s%s", stem, end);
}

static int
id(const hu_ort_coding *w, const char *name)
{
	return hu_rewriting_find(w->x, name);
}

hu_ort_coded
hu_ort_static_own(hu_ort_coding *w, int v, float scale, int zero)
{
	const hu_tool *t = w->x->t;
	const char *name = v < 0 ? "" : w->x->value[v].name;
	hu_ort_coded q = { .g = { t->activation_type, -1, 1, NULL } };

	if (v < 0 || !w->s->calibrated[v])
		return q;
	q.g.s = hu_onnx_rewrite_room(&w->x->w, 1, sizeof *q.g.s);
	*q.g.s = scale != 0 ? (hu_affine_scale){ scale, zero }
			    : hu_affine_scale_of(
				      w->x->value[v].low, w->x->value[v].high, t->activation_type, 0, t->symmetric);
	q.codes = text(w, name, "_quantized");
	q.scale = text(w, name, "_scale");
	q.zero = text(w, name, "_zero_point");
	if (!w->scaled[v]++) {
		*(float *)hu_onnx_rewrite_constant(&w->x->w, q.scale, HU_ONNX_FLOAT, 0, NULL) = q.g.s->scale;
		*(uint8_t *)hu_onnx_rewrite_constant(&w->x->w, q.zero, q.g.type, 0, NULL) = (uint8_t)q.g.s->zero;
	}
	return q;
}

hu_ort_coded
hu_ort_static_operand(hu_ort_coding *w, const char *name, int weight, int axis, int type)
{
	int v = id(w, name);
	const hu_tool *t = w->x->t;
	const hu_stensor *init = v < 0 ? NULL : w->x->value[v].init;

	if (v < 0 || w->q[v].codes)
		return v < 0 ? (hu_ort_coded){ .codes = NULL } : w->q[v];
	if (init) {
		/* The tool takes any constant of the weights' type for a weight. */
		int like_weight = axis >= 0 || type == t->weight_type,
		    symmetric = like_weight ? type == HU_ONNX_INT8 : t->symmetric;
		if (!hu_rewriting_floats(init))
			return w->q[v];
		w->q[v].codes = text(w, name, "_quantized");
		w->q[v].scale = text(w, name, "_scale");
		w->q[v].zero = text(w, name, "_zero_point");
		w->q[v].g = hu_affine_grid_of(w->x, init, type, axis, weight && t->reduce_range, symmetric);
		w->stored[v] = 1;
		return w->q[v];
	}
	hu_ort_coded q = hu_ort_static_own(w, v, 0, 0);
	if (!q.codes)
		return q;
	const char *in[3] = { name, q.scale, q.zero };
	hu_onnx_rewrite_node(&w->x->w, "QuantizeLinear", in, 3, q.codes);
	return w->q[v] = q;
}

void
hu_ort_static_read(hu_ort_coding *w, const char *name)
{
	int v = id(w, name);

	if (v < 0 || !w->q[v].codes || w->is_made[v])
		return;
	const hu_ort_coded *q = &w->q[v];
	const char *in[3] = { q->codes, q->scale, q->zero };
	hu_onnx_node *node = hu_onnx_rewrite_node(&w->x->w, "DequantizeLinear", in, 3, name);
	if (q->g.axis >= 0)
		hu_onnx_rewrite_attr(&w->x->w, node, "axis", q->g.axis);
	w->is_made[v] = 1;
}
