/* SPDX-License-Identifier: Apache-2.0
   Integer codes with a scale and a zero point, as onnxruntime.quantization computes them. */
#include "lib/import/tool/rewriting.h"

#include <float.h>
#include <math.h>

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
