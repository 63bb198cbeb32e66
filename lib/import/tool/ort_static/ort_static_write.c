/* SPDX-License-Identifier: Apache-2.0
   The nodes of quantize_static's file: QuantizeLinear and DequantizeLinear of what is marked, by the tool's names. */
#include "lib/import/tool/ort_static/ort_static.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a quantised value: its scale, or its channels' as a weight; n is 0 of what stays float. */
typedef struct quantised {
	const char *scale, *zero, *read; /* names; read: of what its readers read */
	hu_affine_grid g;
} quantised;

typedef struct writing {
	hu_ort_static *s;
	hu_rewriting *x;
	quantised *q; /* by value */
} writing;

static hu_status
refuse(const writing *w, int v, const char *why)
{
	return hu_fail(HU_EUNABLE, "%s: quantize_static refuses value '%s': %s", w->x->from->path,
		hu_shown(v < 0 ? "?" : w->x->value[v].name), why);
}

/* An activation's scale by its own range. */
static hu_affine_scale
own_scale(const writing *w, int v)
{
	const hu_tool_value *t = &w->x->value[v];

	return hu_affine_scale_of(t->low, t->high, w->x->t->activation_type, 0, w->x->t->symmetric);
}

static void
name_scales(writing *w, int v)
{
	quantised *q = &w->q[v];
	const char *name = w->x->value[v].name;

	q->scale = hu_onnx_rewrite_text(&w->x->w, "%s_scale", name);
	q->zero = hu_onnx_rewrite_text(&w->x->w, "%s_zero_point", name);
	q->read = w->x->value[v].is_out ? name : hu_onnx_rewrite_text(&w->x->w, "%s_DequantizeLinear_Output", name);
}

/* Scales of initialisers and of activations with scales of their own. */
static hu_status
scales(writing *w)
{
	const hu_tool *t = w->x->t;

	for (size_t v = 0; v < w->x->nvalue; v++) {
		const hu_mark *m = &w->s->mark[v];
		const hu_stensor *init = w->x->value[v].init;
		if (m->kind == HU_MARK_NONE || m->kind == HU_MARK_SHARED)
			continue;
		if (init) {
			int weight = m->kind == HU_MARK_WEIGHT, type = weight ? t->weight_type : t->activation_type;
			w->q[v].g = hu_affine_grid_of(w->x, init, type, m->axis, t->reduce_range,
				m->axis >= 0 || (weight ? type == HU_ONNX_INT8 : t->symmetric));
		} else if (!w->s->calibrated[v]) {
			return refuse(w, (int)v, "calibration does not show its range");
		} else {
			hu_affine_scale *s = hu_onnx_rewrite_room(&w->x->w, 1, sizeof *s);
			*s = own_scale(w, (int)v);
			w->q[v].g = (hu_affine_grid){ t->activation_type, -1, 1, s };
		}
		for (size_t k = 0; w->s->stored && k < w->q[v].g.n; k++)
			w->q[v].g.s[k].scale = w->s->stored(w->q[v].g.s[k].scale);
		name_scales(w, (int)v);
	}
	return HU_OK;
}

/* The least scale of a bias whose int32 codes hold MOST: 1.0001 of 2 MOST / (2^32 - 2). */
static float
grown(float weight, float in, double most)
{
	double least = 1.0001 * (2 * most) / 4294967294.0, is = (double)in * (double)weight;

	return is < least && is > 0 ? (float)((double)weight * (least / is)) : weight;
}

int
hu_ort_static_grow(hu_affine_grid *g, float in, const float *bias, size_t n, int is_constant)
{
	int has_grown = 0, zeros = 1;
	double most = 0;

	if (!is_constant || g->type != HU_ONNX_INT8)
		return 0;
	for (size_t k = 0; k < g->n; k++)
		zeros &= !g->s[k].zero;
	for (size_t k = 0; k < n; k++)
		if (fabs((double)bias[k]) > most) /* by fmax, gcc 12.2 for AArch64 ends with an internal error */
			most = fabs((double)bias[k]);
	for (size_t k = 0; k < g->n && zeros; k++)
		if (g->axis < 0 || k < n) {
			float was = g->s[k].scale;
			g->s[k].scale = grown(was, in, g->axis < 0 ? most : fabs((double)bias[k]));
			has_grown |= g->s[k].scale != was;
		}
	return has_grown;
}

static void
grow_weights(writing *w)
{
	for (size_t i = 0; i < w->s->nbias; i++) {
		hu_bias_mark *b = &w->s->bias[i];
		hu_affine_grid *g = b->weight < 0 ? NULL : &w->q[b->weight].g;
		if (!g || !g->n || b->in < 0 || !w->s->calibrated[b->in] || w->s->mark[b->in].kind == HU_MARK_NONE)
			continue;
		b->grown |= hu_ort_static_grow(
			g, own_scale(w, b->in).scale, b->t->data, b->t->count, w->x->value[b->weight].init != NULL);
	}
}

/* Values with another's scale, whose own may be another's. */
static void
share(writing *w)
{
	for (int changed = 1; changed;) {
		changed = 0;
		for (size_t v = 0; v < w->x->nvalue; v++) {
			const hu_mark *m = &w->s->mark[v];
			const quantised *from = m->other < 0 ? NULL : &w->q[m->other];
			if (m->kind != HU_MARK_SHARED || w->q[v].g.n || !from || !from->g.n)
				continue;
			name_scales(w, (int)v);
			w->q[v].g = from->g;
			w->q[v].scale = from->scale;
			w->q[v].zero = from->zero;
			changed = 1;
		}
	}
}

static void
node_dq(writing *w, const char *codes, const char *scale, const char *zero, const char *out, int axis)
{
	const char *in[3] = { codes, scale, zero };
	hu_onnx_node *node = hu_onnx_rewrite_node(&w->x->w, "DequantizeLinear", in, 3, out);

	if (axis >= 0)
		hu_onnx_rewrite_attr(&w->x->w, node, "axis", axis);
}

/* The pair of nodes behind value V, which nodes have made as RAW. */
static void
pair(writing *w, int v, const char *raw)
{
	const quantised *q = &w->q[v];
	const char *codes = hu_onnx_rewrite_text(&w->x->w, "%s_QuantizeLinear_Output", w->x->value[v].name),
		   *in[3] = { raw, q->scale, q->zero };

	if (w->s->mark[v].kind != HU_MARK_SHARED) {
		float *scale = hu_onnx_rewrite_constant(&w->x->w, q->scale, HU_ONNX_FLOAT, 0, NULL);
		uint8_t *zero = hu_onnx_rewrite_constant(&w->x->w, q->zero, q->g.type, 0, NULL);
		*scale = q->g.s->scale;
		*zero = (uint8_t)q->g.s->zero;
	}
	hu_onnx_rewrite_node(&w->x->w, "QuantizeLinear", in, 3, codes);
	node_dq(w, codes, q->scale, q->zero, q->read, -1);
}

static hu_status
bias(writing *w, const hu_bias_mark *b)
{
	const quantised *in = b->in < 0 ? NULL : &w->q[b->in], *weight = b->weight < 0 ? NULL : &w->q[b->weight];
	const char *name = w->x->value[b->v].name, *codes = hu_onnx_rewrite_text(&w->x->w, "%s_quantized", name),
		   *scale = hu_onnx_rewrite_text(&w->x->w, "%s_quantized_scale", name),
		   *zero = hu_onnx_rewrite_text(&w->x->w, "%s_quantized_zero_point", name);
	const float *from = b->t->data;

	if (!in || !in->g.n)
		return refuse(w, b->in, "a bias takes its scale, and it has none");
	if (!weight || !weight->g.n)
		return refuse(w, b->weight, "a bias takes its scale, and it has none");
	size_t n = weight->g.n;
	if (n > 1 && n != b->t->count)
		return refuse(w, b->v, "it has not one number for each scale of the weight");
	int32_t *q = hu_onnx_rewrite_constant(&w->x->w, codes, HU_ONNX_INT32, b->t->rank, b->t->shape);
	float *s = hu_onnx_rewrite_constant(&w->x->w, scale, HU_ONNX_FLOAT, 1, &n);
	hu_onnx_rewrite_constant(&w->x->w, zero, HU_ONNX_INT32, n > 1, &n);
	for (size_t k = 0; k < n; k++)
		s[k] = in->g.s->scale * weight->g.s[k].scale * (b->beta == 0 ? 1 : b->beta);
	for (size_t i = 0; i < b->t->count; i++) {
		double x = rint((b->beta == 0 ? 0 : (double)from[i]) / (double)s[n > 1 ? i : 0]);
		q[i] = (int32_t)fmin(fmax(x, INT32_MIN), INT32_MAX);
	}
	node_dq(w, codes, scale, zero, name, n > 1 ? 0 : -1);
	return HU_OK;
}

/* T, or its numbers as the file has them before they become codes. */
static const hu_stensor *
stored(writing *w, const hu_stensor *t)
{
	if (!w->s->stored)
		return t;
	hu_stensor *to = hu_onnx_rewrite_room(&w->x->w, 1, sizeof *to);
	float *x = hu_onnx_rewrite_room(&w->x->w, t->count + 1, sizeof *x);
	*to = *t;
	to->data = x;
	for (size_t i = 0; i < t->count; i++)
		x[i] = w->s->stored(((const float *)t->data)[i]);
	return to;
}

/* DequantizeLinear of weights and biases, and the pairs behind the graph's inputs. */
static hu_status
constants(writing *w)
{
	for (size_t v = 0; v < w->x->nvalue; v++) {
		const hu_tool_value *t = &w->x->value[v];
		const quantised *q = &w->q[v];
		if (!q->g.n)
			continue;
		if (t->init) {
			hu_affine_store(w->x, stored(w, t->init), t->name, &q->g);
			node_dq(w, hu_onnx_rewrite_text(&w->x->w, "%s_quantized", t->name), q->scale, q->zero, q->read,
				q->g.axis);
		} else if (t->is_in) {
			pair(w, (int)v, t->name);
		}
	}
	for (size_t i = 0; i < w->s->nbias; i++)
		if (!w->q[w->s->bias[i].v].g.n)
			HU_TRY(bias(w, &w->s->bias[i]));
	return HU_OK;
}

/* The name of value V as its node makes it. */
static const char *
raw_name(writing *w, int v)
{
	const hu_tool_value *t = &w->x->value[v];

	return w->q[v].g.n && t->is_out ? hu_onnx_rewrite_text(&w->x->w, "%s_QuantizeLinear_Input", t->name) : t->name;
}

static void
node(writing *w, size_t n)
{
	const hu_onnx_node *from = &w->x->node[n];
	hu_onnx_node *to = hu_onnx_rewrite_copy(&w->x->w, from);

	for (size_t k = 0; k < to->nin; k++) {
		int v = hu_rewriting_find(w->x, to->in[k]);
		if (v >= 0 && w->q[v].g.n)
			to->in[k] = w->s->raw && w->s->raw[n] >> k & 1 ? raw_name(w, v) : w->q[v].read;
	}
	for (size_t k = 0; k < to->nout; k++) {
		int v = hu_rewriting_find(w->x, to->out[k]);
		if (v >= 0)
			to->out[k] = raw_name(w, v);
	}
	const char *const *out = to->out; /* the list of nodes may move */
	for (size_t k = 0, all = to->nout; k < all; k++) {
		int v = hu_rewriting_find(w->x, from->out[k]);
		if (v >= 0 && w->q[v].g.n)
			pair(w, v, out[k]);
	}
}

hu_status
hu_ort_static_write(hu_ort_static *s)
{
	writing w = { .s = s, .x = s->x };

	w.q = hu_xcalloc(s->x->nvalue + 1, sizeof *w.q);
	hu_status st = scales(&w);
	if (st == HU_OK) {
		grow_weights(&w);
		share(&w);
		st = constants(&w);
	}
	for (size_t i = 0; i < s->x->n && st == HU_OK; i++)
		if (!s->x->dropped[i])
			node(&w, i);
	free(w.q);
	return st;
}
