/* SPDX-License-Identifier: Apache-2.0
   Resize and Upsample: an axis at a time, by the weights that each output element gives its neighbours. Where every
   output element is one of the input's, elements are looked up; else a product with the matrix of weights. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One axis: IN elements become OUT, SCALE times as many; ROI is the part that tf_crop_and_resize takes. */
typedef struct axis {
	const char *mode, *where, *nearest;
	size_t in, out;
	double scale, a, roi[2];
	int exclude, antialias;
} axis;

/* The place in the input that output element I stands for. */
static double
place(const axis *x, size_t i)
{
	double o = (double)i, in = (double)x->in, width = x->scale * in;

	if (!strcmp(x->where, "align_corners"))
		return width == 1 ? 0 : o * (in - 1) / (width - 1);
	if (!strcmp(x->where, "asymmetric"))
		return o / x->scale;
	if (!strcmp(x->where, "tf_crop_and_resize"))
		return (width == 1 ? (x->roi[1] - x->roi[0]) * (in - 1) / 2
				   : o * (x->roi[1] - x->roi[0]) * (in - 1) / (width - 1)) +
		       x->roi[0] * (in - 1);
	if (!strcmp(x->where, "pytorch_half_pixel") && width == 1)
		return -0.5;
	if (!strcmp(x->where, "tf_half_pixel_for_nn"))
		return (o + 0.5) / x->scale;
	double half = (o + 0.5) / x->scale - 0.5;
	if (!strcmp(x->where, "half_pixel_symmetric"))
		half += in / 2 * (1 - (double)x->out / width);
	return half;
}

static double
cubic(double a, double t)
{
	t = fabs(t);
	return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* The weights of row I of the matrix, IN of them; *one gets 1 where there is a single weight, 1. */
static void
weigh(const axis *x, size_t i, double *row)
{
	double at = place(x, i), low = floor(at), r = at == low ? 1 : at - low, sum = 0;
	int half = !strcmp(x->mode, "cubic") ? 2 : 1, first, n;
	double shrink = x->antialias && x->scale < 1 ? x->scale : 1;

	/* The neighbours' places: the ratio 1 says that the lower one lies an element before AT. */
	low = at == low ? low - 1 : low;
	first = (int)floor(-(double)half / shrink) + 1;
	n = 2 * half - 2 * (first - (1 - half));
	memset(row, 0, x->in * sizeof *row);
	for (int k = 0; k < n; k++) {
		double t = (double)(first + k) - r, w, to = low + first + k;
		if (!strcmp(x->mode, "nearest")) {
			int up = !strcmp(x->nearest, "floor")               ? r == 1
				 : !strcmp(x->nearest, "ceil")              ? 1
				 : !strcmp(x->nearest, "round_prefer_ceil") ? r >= 0.5
									    : r > 0.5;
			w = first + k == up;
		} else {
			w = half == 2 ? cubic(x->a, shrink * t) : fmax(0, 1 - fabs(t * shrink));
		}
		if (x->exclude && (to < 0 || to >= (double)x->in))
			continue;
		row[(size_t)fmin(fmax(to, 0), (double)x->in - 1)] += w;
		sum += w;
	}
	for (size_t k = 0; k < x->in && (x->exclude || x->antialias) && sum != 0; k++)
		row[k] /= sum;
}

/* Axis K of tensor T by X. */
static int
along(hu_importing *c, int t, int k, const axis *x, int type)
{
	double *w = hu_import_room(c, x->out * x->in), *pick = hu_import_room(c, x->out);
	size_t plain = 0;

	for (size_t i = 0; w && pick && i < x->out; i++) {
		weigh(x, i, w + i * x->in);
		for (size_t j = 0; j < x->in; j++)
			if (w[i * x->in + j] == 1) {
				pick[i] = (double)j;
				plain++;
				break;
			}
	}
	if (c->st != HU_OK)
		t = -1;
	else if (plain == x->out) {
		int index = hu_import_numbers(c, HU_ONNX_INT64, 1, &x->out, pick);
		hu_import_set(c, "axis", k);
		t = hu_import_call2(c, "gather", t, index);
	} else if (t >= 0) {
		int m = hu_import_matrix(c, type, x->out, x->in, w), rank = c->p->t[t].shape.rank;
		hu_axes swap = hu_axes_same(c->p->t[t].shape); /* the axis last */
		swap.s.d[k] = swap.s.d[rank - 1];
		swap.s.d[rank - 1] = x->in;
		swap.from[k] = rank - 1;
		swap.from[rank - 1] = k;
		t = hu_import_move(c, t, &swap);
		t = hu_import_flat(c, t, hu_shape2(hu_count(swap.s) / x->in, x->in));
		hu_import_set(c, "tb", 1);
		t = hu_import_call2(c, "matmul", t, m);
		swap.s.d[rank - 1] = x->out;
		t = hu_import_flat(c, t, swap.s);
		hu_axes back = hu_axes_same(swap.s);
		back.s.d[rank - 1] = swap.s.d[k];
		back.s.d[k] = x->out;
		back.from[k] = rank - 1;
		back.from[rank - 1] = k;
		t = hu_import_move(c, t, &back);
	}
	free(w);
	free(pick);
	return t;
}

/* Where onnxruntime interpolates output element I of the axis: the elements before and behind, and their weights. */
static void
between(const axis *x, size_t i, double *first, double *second, float *near, float *far)
{
	float o = (float)i, scale = (float)x->scale, in = (float)x->in, at = (float)place(x, i);

	if (!strcmp(x->where, "half_pixel") || (!strcmp(x->where, "pytorch_half_pixel") && x->out > 1))
		at = (o + 0.5f) / scale - 0.5f;
	else if (!strcmp(x->where, "asymmetric"))
		at = o / scale;
	else if (!strcmp(x->where, "align_corners") && x->out > 1)
		at = o * (in - 1) / ((float)x->out - 1);
	at = fmaxf(0, fminf(at, in - 1));
	*first = floor((double)at);
	*second = fmin(*first + 1, (double)in - 1);
	*near = *first == *second ? 0.5f : fabsf(at - (float)*second);
	*far = *first == *second ? 0.5f : fabsf(at - (float)*first);
}

/* Codes T, of which the last two axes become Y and X, bilinearly: onnxruntime adds four products in float32, and cuts
   off the fraction. */
static int
codes(hu_importing *c, int t, const axis *y, const axis *x, int type)
{
	size_t n = y->out * x->out, d[2] = { y->out, x->out };
	double *at[4], *plane = hu_import_room(c, n);
	float *weight[4];
	int sum = -1, rank = c->p->t[t].shape.rank;

	for (int i = 0; i < 4; i++) {
		at[i] = hu_xcalloc((i < 2 ? y : x)->out + 1, sizeof *at[i]);
		weight[i] = hu_xcalloc((i < 2 ? y : x)->out + 1, sizeof *weight[i]);
	}
	for (int k = 0; k < 4; k += 2)
		for (size_t i = 0; i < (k ? x : y)->out; i++)
			between(k ? x : y, i, &at[k][i], &at[k + 1][i], &weight[k][i], &weight[k + 1][i]);
	for (int k = 0; k < 4 && plane && c->st == HU_OK; k++) {
		int row = k / 2, column = 2 + k % 2;
		for (size_t i = 0; i < n; i++)
			plane[i] = (double)(weight[column][i % x->out] * weight[row][i / x->out]);
		hu_import_set(c, "axis", rank - 2);
		int rows = hu_import_call2(c, "gather", t, hu_import_numbers(c, HU_ONNX_INT64, 1, &y->out, at[row]));
		hu_import_set(c, "axis", rank - 1);
		int one = hu_import_call2(
			c, "gather", rows, hu_import_numbers(c, HU_ONNX_INT64, 1, &x->out, at[column]));
		if (one < 0)
			break;
		int by = hu_import_expand(c, hu_import_numbers(c, HU_ONNX_FLOAT, 2, d, plane), c->p->t[one].shape),
		    product = hu_import_call2(c, "mul", one, by);
		sum = k ? hu_import_call2(c, "add", sum, product) : product;
	}
	for (int i = 0; i < 4; i++) {
		free(at[i]);
		free(weight[i]);
	}
	free(plane);
	return hu_whole_of(c, sum, type);
}

/* 1 where a bilinear Resize changes the last two axes of codes alone. */
static int
is_of_codes(const hu_value *v, const axis *x)
{
	if ((v->type != HU_ONNX_INT8 && v->type != HU_ONNX_UINT8) || v->rank < 2 || strcmp(x->mode, "linear") ||
		x->antialias || !strcmp(x->where, "tf_crop_and_resize"))
		return 0;
	for (int k = 0; k < v->rank - 2; k++)
		if (x[k].out != x[k].in || x[k].scale != 1)
			return 0;
	return 1;
}

/* The sizes that the node asks for: scales[i], out[i] and part of each axis of V. Returns -1 after a failure. */
static int
sizes(hu_importing *c, const hu_value *v, axis *x)
{
	double scales[HU_RANK], size[HU_RANK], axes[HU_RANK], roi[2 * HU_RANK];
	int upsample = !strcmp(c->node->op, "Upsample"), old = upsample || c->version < 11,
	    ns = hu_import_list(c, NULL, old ? 1 : 2, scales, HU_RANK),
	    nz = old ? -1 : hu_import_list(c, NULL, 3, size, HU_RANK),
	    nr = old || strcmp(x->where, "tf_crop_and_resize") ? -1 : hu_import_list(c, NULL, 1, roi, 2 * HU_RANK),
	    na = hu_import_list(c, "axes", 99, axes, HU_RANK), n = na > 0 ? na : v->rank;
	if (!old && nr < 0 && !strcmp(x->where, "tf_crop_and_resize"))
		return hu_import_fail(
			c, HU_EFILE, "its input roi is absent, the region that tf_crop_and_resize cuts out");
	const char *keep = hu_import_text(c, "keep_aspect_ratio_policy", "stretch");
	const hu_onnx_attr *given = hu_import_attr(c, "scales");
	double one = 0;

	for (size_t i = 0; given && ns <= 0 && i < given->nfloats && i < HU_RANK; i++)
		scales[i] = (double)given->floats[i];
	ns = given && ns <= 0 ? (int)given->nfloats : ns;
	if (c->st != HU_OK || (ns > 0 && ns != n) || (ns <= 0 && nz != n) || (nr > 0 && nr != 2 * n))
		return hu_import_fail(c, HU_EFILE, "it needs a scale or a size for each of its %d axes", n);
	for (int i = 0; i < v->rank; i++) {
		x[i] = x[0];
		x[i].in = x[i].out = v->d[i];
		x[i].scale = 1;
		x[i].roi[0] = 0;
		x[i].roi[1] = 1;
	}
	for (int i = 0; i < n; i++) {
		int k = na > 0 ? hu_import_axis(c, axes[i], v->rank) : i;
		if (k < 0)
			return -1;
		double s = ns > 0 ? scales[i] : size[i] / (double)v->d[k];
		one = !i || (*keep == 'n' && (!strcmp(keep, "not_larger") ? s < one : s > one)) ? s : one;
	}
	for (int i = 0; i < n; i++) {
		int k = na > 0 ? hu_import_axis(c, axes[i], v->rank) : i;
		double in = (double)v->d[k], s = ns > 0 ? scales[i] : size[i] / in,
		       out = ns > 0 ? floor(s * in + 1e-9) : size[i];
		if (ns <= 0 && strcmp(keep, "stretch")) {
			s = one;
			out = floor(s * in + 0.5);
		}
		if (!(out >= 1 && out < 0x1p24) || !(s > 0))
			return hu_import_fail(c, HU_EFILE, "axis %d would have %g elements", k, out);
		x[k].out = (size_t)out;
		x[k].scale = s;
		if (nr > 0) {
			x[k].roi[0] = roi[i];
			x[k].roi[1] = roi[i + n];
		}
	}
	return 0;
}

/* Outside the input, tf_crop_and_resize has a value of its own: the rows [*from, *end) are inside. */
static void
inside(const axis *x, size_t *from, size_t *end)
{
	*from = x->out;
	*end = 0;
	for (size_t i = 0; i < x->out; i++)
		if (place(x, i) >= 0 && place(x, i) <= (double)x->in - 1) {
			*from = i < *from ? i : *from;
			*end = i + 1;
		}
}

void
hu_node_resize(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int upsample = !strcmp(c->node->op, "Upsample"), old = upsample || c->version < 11;
	axis x[HU_RANK];
	size_t d[HU_RANK];

	if (!v)
		return;
	memset(x, 0, sizeof x);
	x[0].mode = hu_import_text(c, "mode", "nearest");
	x[0].where = old ? "asymmetric" : hu_import_text(c, "coordinate_transformation_mode", "half_pixel");
	x[0].nearest = old ? "floor" : hu_import_text(c, "nearest_mode", "round_prefer_floor");
	x[0].a = hu_import_real(c, "cubic_coeff_a", -0.75);
	x[0].exclude = hu_import_int(c, "exclude_outside", 0) != 0;
	x[0].antialias = hu_import_int(c, "antialias", 0) != 0 && strcmp(x[0].mode, "nearest") != 0;
	if (!strcmp(x[0].mode, "bilinear"))
		x[0].mode = "linear";
	if (sizes(c, v, x) < 0)
		return;
	int t = hu_import_plain(c, v), crop = !strcmp(x[0].where, "tf_crop_and_resize"), coded = is_of_codes(v, x);
	if (coded && t >= 0)
		t = codes(c, t, &x[v->rank - 2], &x[v->rank - 1], v->type);
	for (int k = 0; k < v->rank; k++) {
		size_t from = 0, end;
		d[k] = x[k].out;
		if (coded)
			continue;
		if (x[k].out != x[k].in || x[k].scale != 1 || (crop && (x[k].roi[0] != 0 || x[k].roi[1] != 1)))
			t = along(c, t, k, &x[k], v->type);
		if (!crop || t < 0)
			continue;
		inside(&x[k], &from, &end);
		if (end > from && end - from < x[k].out) {
			t = hu_import_part(c, t, k, from, end - from);
			hu_axes pad = hu_axes_same(c->p->t[t].shape);
			pad.s.d[k] = x[k].out;
			pad.start[k] = -(double)from;
			pad.fill = hu_import_real(c, "extrapolation_value", 0);
			t = hu_import_move(c, t, &pad);
		}
	}
	if (!coded && hu_import_whole(v->type) && strcmp(x[0].mode, "nearest"))
		t = hu_whole_of(c, t, v->type);
	hu_import_out(c, 0, v->type, v->rank, d)->plain = t;
}
