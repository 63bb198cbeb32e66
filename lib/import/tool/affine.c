/* SPDX-License-Identifier: Apache-2.0
   Integer codes with a scale and a zero point, as onnxruntime.quantization computes them. */
#include "lib/import/tool/rewriting.h"

#include <float.h>
#include <math.h>
#include <string.h>

void
hu_affine_limits(int type, int reduced, int symmetric, int *low, int *high)
{
	int is_signed = type == HU_ONNX_INT8;

	*low = is_signed ? (reduced ? -64 : symmetric ? -127 : -128) : 0;
	*high = is_signed ? (reduced ? 64 : 127) : reduced ? 127 : 255;
}

hu_affine_scale
hu_affine_scale_of(double low, double high, int type, int reduced, int symmetric)
{
	int least, most;

	hu_affine_limits(type, reduced, symmetric, &least, &most);
	low = low < 0 ? low : 0;
	high = high > 0 ? high : 0;
	if (symmetric) {
		high = -low > high ? -low : high;
		low = -high;
	}
	double scale = (high - low) / (most - least);
	if (!(scale >= FLT_MIN))
		return (hu_affine_scale){ 1, 0 };
	double zero = rint(symmetric ? (least + most) / 2.0 : least - low / scale);
	return (hu_affine_scale){ (float)scale, isnan(zero) ? 0 : (int)zero }; /* a NaN becomes 0 as NumPy casts it */
}

/* Elements of channel K: blocks of INNER elements, one in every N of them. */
static hu_affine_scale
channel(const float *w, size_t count, size_t n, size_t inner, size_t k, int type, int reduced, int symmetric)
{
	float low = 0, high = 0;

	for (size_t at = k * inner; at < count; at += n * inner)
		for (size_t i = 0; i < inner; i++) {
			low = fminf(low, w[at + i]);
			high = fmaxf(high, w[at + i]);
		}
	return hu_affine_scale_of((double)low, (double)high, type, reduced, symmetric);
}

static size_t
inner_of(const hu_stensor *t, int axis)
{
	size_t inner = 1;

	for (int i = axis + 1; i < t->rank; i++)
		inner *= t->shape[i];
	return inner;
}

hu_affine_grid
hu_affine_grid_of(hu_rewriting *x, const hu_stensor *t, int type, int axis, int reduced, int symmetric)
{
	hu_affine_grid g = { .type = type, .axis = axis, .n = axis < 0 ? 1 : t->shape[axis] };

	g.s = hu_onnx_rewrite_room(&x->w, g.n + 1, sizeof *g.s);
	for (size_t k = 0; k < g.n; k++)
		g.s[k] = channel(
			t->data, t->count, g.n, axis < 0 ? t->count : inner_of(t, axis), k, type, reduced, symmetric);
	return g;
}

static uint8_t
code(float x, hu_affine_scale s, int type)
{
	int low, high;

	hu_affine_limits(type, 0, 0, &low, &high);
	float q = rintf(x / s.scale) + (float)s.zero;
	return (uint8_t)(int)(q >= (float)low ? (q <= (float)high ? q : (float)high) : (float)low);
}

void
hu_affine_store(hu_rewriting *x, const hu_stensor *t, const char *stem, const hu_affine_grid *g)
{
	const float *w = t->data;
	size_t inner = g->axis < 0 ? t->count : inner_of(t, g->axis);
	int rank = g->axis >= 0;
	uint8_t *codes = hu_onnx_rewrite_constant(
		&x->w, hu_onnx_rewrite_text(&x->w, "%s_quantized", stem), g->type, t->rank, t->shape);

	for (size_t i = 0; i < t->count; i++)
		codes[i] = code(w[i], g->s[i / inner % g->n], g->type);
	float *scale = hu_onnx_rewrite_constant(
		&x->w, hu_onnx_rewrite_text(&x->w, "%s_scale", stem), HU_ONNX_FLOAT, rank, &g->n);
	uint8_t *zero = hu_onnx_rewrite_constant(
		&x->w, hu_onnx_rewrite_text(&x->w, "%s_zero_point", stem), g->type, rank, &g->n);
	for (size_t k = 0; k < g->n; k++) {
		scale[k] = g->s[k].scale;
		zero[k] = (uint8_t)g->s[k].zero;
	}
}

/* Two pairs of QuantizeLinear and DequantizeLinear in a row. */

static int
is_op(const hu_onnx_node *x, const char *op)
{
	return !*x->domain && !strcmp(x->op, op) && x->nin == 3;
}

static int
is_copy(const hu_onnx_node *x)
{
	return !*x->domain && x->nin == 1 &&
	       (!strcmp(x->op, "Identity") || (!strcmp(x->op, "Cast") && hu_onnx_int(x, "to", 0) == HU_ONNX_FLOAT));
}

/* The node that makes NAME, where that has one reader; NULL: there is none. */
static hu_onnx_node *
maker(hu_onnx_graph *g, const char *name)
{
	hu_onnx_node *made = NULL;
	size_t readers = 0;

	for (size_t i = 0; i < g->nout; i++)
		readers += !strcmp(g->out[i].name, name);
	for (size_t i = 0; i < g->nnode; i++) {
		for (size_t k = 0; k < g->node[i].nin; k++)
			readers += !strcmp(g->node[i].in[k], name);
		made = g->node[i].nout && !strcmp(g->node[i].out[0], name) ? &g->node[i] : made;
	}
	return readers == 1 ? made : NULL;
}

/* The one element of constant NAME, and its type; 0 where it has several or is none. */
static int
single(const hu_onnx_rewrite *w, const char *name, double *x)
{
	const hu_stensor *t = NULL;

	for (const hu_onnx_graph *g = w->from->graph; g; g = g == w->to->graph ? NULL : w->to->graph)
		for (size_t i = 0; i < g->ninit; i++)
			t = strcmp(g->init[i].name, name) ? t : &g->init[i];
	int type = t && t->count == 1 ? hu_onnx_type_of(t->dtype) : 0;
	*x = type == HU_ONNX_FLOAT ? *(const float *)t->data
	     : type == HU_ONNX_INT8 ? *(const int8_t *)t->data
	     : type == HU_ONNX_UINT8 ? *(const uint8_t *)t->data
				     : 0;
	return type;
}

/* Makes one pair of FIRST and what reads LAST: 1 where it can. */
static int
merge(hu_onnx_rewrite *w, hu_onnx_node *first, hu_onnx_node *last)
{
	double s[2], z[2];
	int type = single(w, first->in[2], &z[0]);

	if ((type != HU_ONNX_INT8 && type != HU_ONNX_UINT8) || single(w, last->in[2], &z[1]) != type ||
		single(w, first->in[1], &s[0]) != HU_ONNX_FLOAT || single(w, last->in[1], &s[1]) != HU_ONNX_FLOAT)
		return 0;
	int least = type == HU_ONNX_INT8 ? -128 : 0, same = s[0] == s[1] && z[0] == z[1];
	float low = fmaxf((float)((least - z[0]) * s[0]), (float)((least - z[1]) * s[1])),
	      high = fminf((float)((least + 255 - z[0]) * s[0]), (float)((least + 255 - z[1]) * s[1])),
	      scale = same ? (float)s[0] : (high - low) / 255, zero = rintf((float)least - low / scale);
	if (!(high > low))
		return 0;
	const char *names[2] = { hu_onnx_rewrite_text(w, "%s_common_scale", last->out[0]),
		hu_onnx_rewrite_text(w, "%s_common_zero", last->out[0]) };
	zero = same ? (float)z[0] : fminf(fmaxf(zero, (float)least), (float)least + 255);
	*(float *)hu_onnx_rewrite_constant(w, names[0], HU_ONNX_FLOAT, 0, NULL) = scale;
	*(uint8_t *)hu_onnx_rewrite_constant(w, names[1], type, 0, NULL) = (uint8_t)(int)zero;
	for (size_t i = 0; i < w->to->graph->nnode; i++) {
		hu_onnx_node *x = &w->to->graph->node[i];
		if (x == first || (is_op(x, "DequantizeLinear") && !strcmp(x->in[0], last->out[0])))
			memcpy(&x->in[1], names, sizeof names);
	}
	first->out[0] = last->out[0];
	return 1;
}

void
hu_affine_pairs(hu_onnx_rewrite *w)
{
	enum { MOST = 8 };
	hu_onnx_graph *g = w->to->graph;
	size_t n = 0;

	for (size_t i = 0; i < g->nnode; i++) {
		hu_onnx_node *between[MOST] = { &g->node[i] }, *x = between[0], *codes;
		int k = 0;
		if (!is_op(x, "QuantizeLinear"))
			continue;
		do
			x = between[++k] = maker(g, x->in[0]);
		while (x && is_copy(x) && k < MOST - 1);
		codes = x && is_op(x, "DequantizeLinear") ? maker(g, x->in[0]) : NULL;
		if (codes && is_op(codes, "QuantizeLinear") && merge(w, codes, between[0]))
			for (; k >= 0; k--)
				between[k]->op = "";
	}
	for (size_t i = 0; i < g->nnode; i++)
		if (*g->node[i].op)
			g->node[n++] = g->node[i];
	g->nnode = n;
}
