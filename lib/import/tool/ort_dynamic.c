/* SPDX-License-Identifier: Apache-2.0
   onnxruntime.quantization.quantize_dynamic: products of int8 weights and activations whose uint8 codes have the scale
   of the batch at hand. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char operators[] = "Conv MatMul Attention LSTM Gather EmbedLayerNormalization Transpose";

/* Names of a value's codes, scale and zero point; codes is NULL of what has none yet. */
typedef struct coded {
	const char *codes, *scale, *zero;
	int read; /* its float32 numbers are there, or a DequantizeLinear that makes them */
	int axis; /* of an initialiser's scales; 0: one for all */
} coded;

typedef struct writing {
	hu_rewriting *x;
	coded *q; /* by value */
	size_t n;
} writing;

static const char *
name(writing *w, const char *stem, const char *end)
{
	return hu_onnx_rewrite_text(&w->x->w, "%s%s", stem, end);
}

static int
value(writing *w, const char *text)
{
	int v = hu_rewriting_id(w->x, text);

	if ((size_t)v >= w->n) {
		size_t n = 2 * (size_t)v + 16;
		w->q = hu_xrealloc(w->q, n * sizeof *w->q);
		memset(w->q + w->n, 0, (n - w->n) * sizeof *w->q);
		w->n = n;
	}
	return v;
}

static coded *
of(writing *w, const char *text)
{
	int v = value(w, text); /* the list may move */

	return &w->q[v];
}

static const hu_stensor *
init_of(writing *w, const char *text)
{
	int v = value(w, text);

	return w->x->value[v].init;
}

/* The codes of an initialiser, along AXIS where that is not negative. */
static coded
store(writing *w, const char *text, int type, int axis, int reduced)
{
	int v = value(w, text), symmetric = type == HU_ONNX_INT8;
	const hu_stensor *t = w->x->value[v].init;
	coded *q = &w->q[v];

	if (q->codes)
		return *q;
	hu_affine_grid g = hu_affine_grid_of(w->x, t, type, axis, reduced, symmetric);
	hu_affine_store(w->x, t, text, &g);
	return *q = (coded){ name(w, text, "_quantized"), name(w, text, "_scale"), name(w, text, "_zero_point"), 0,
		axis < 0 ? 0 : axis };
}

/* The codes of an activation, which one DynamicQuantizeLinear makes for all its readers. */
static coded
activation(writing *w, const char *text)
{
	int v = value(w, text);
	coded *q = &w->q[v];

	if (q->codes)
		return *q;
	if (w->x->value[v].init)
		return store(w, text, HU_ONNX_UINT8, -1, 0);
	*q = (coded){ name(w, text, "_quantized"), name(w, text, "_scale"), name(w, text, "_zero_point"), 1, 0 };
	const char *out[3] = { q->codes, q->scale, q->zero };
	hu_onnx_node *node = hu_onnx_rewrite_node(&w->x->w, "DynamicQuantizeLinear", &text, 1, q->codes);
	node->out = hu_onnx_rewrite_room(&w->x->w, 3, sizeof *node->out);
	memcpy(node->out, out, sizeof out);
	node->nout = 3;
	return *q;
}

/* DequantizeLinear of value NAME, where it has codes alone: an initialiser that became codes has no other numbers. */
static void
dequantise(writing *w, const char *text)
{
	int v = *text ? value(w, text) : -1;
	coded *q = v < 0 ? NULL : &w->q[v];

	if (!q || !q->codes || q->read)
		return;
	q->read = 1;
	hu_onnx_node *node = hu_onnx_rewrite_node(
		&w->x->w, "DequantizeLinear", (const char *[]){ q->codes, q->scale, q->zero }, 3, text);
	if (q->axis)
		hu_onnx_rewrite_attr(&w->x->w, node, "axis", q->axis);
}

/* The node as it is. */
static void
keep(writing *w, const hu_onnx_node *node)
{
	for (size_t k = 0; k < node->nin; k++)
		dequantise(w, node->in[k]);
	hu_onnx_rewrite_copy(&w->x->w, node);
}

/* The integer product of A and B as float32 under the name OUT. */
static void
product(writing *w, const hu_onnx_node *like, const char *op, coded a, coded b, const char *out)
{
	const char *sums = name(w, out, "_output_quantized"), *real = name(w, sums, "_cast_output"),
		   *scale = name(w, out, "_scales_mul");
	hu_onnx_node *node =
		hu_onnx_rewrite_node(&w->x->w, op, (const char *[]){ a.codes, b.codes, a.zero, b.zero }, 4, sums);

	node->attr = like->attr;
	node->nattr = like->nattr;
	node = hu_onnx_rewrite_node(&w->x->w, "Cast", &sums, 1, real);
	hu_onnx_rewrite_attr(&w->x->w, node, "to", HU_ONNX_FLOAT);
	hu_onnx_rewrite_node(&w->x->w, "Mul", (const char *[]){ a.scale, b.scale }, 2, scale);
	hu_onnx_rewrite_node(&w->x->w, "Mul", (const char *[]){ real, scale }, 2, out);
}

static const hu_stensor *
initialiser(writing *w, const char *text)
{
	const hu_stensor *t = *text ? init_of(w, text) : NULL;

	return t && hu_rewriting_floats(t) ? t : NULL;
}

/* A product alone has the channels' scales; a convolution's is one. */
static void
matmul(writing *w, const hu_onnx_node *node)
{
	const hu_tool *t = w->x->t;
	const hu_stensor *b = initialiser(w, node->in[1]);
	coded left = activation(w, node->in[0]),
	      right = store(w, node->in[1], t->weight_type, t->per_channel ? b->rank - 1 : -1, t->reduce_range);

	product(w, &(hu_onnx_node){ .nattr = 0 }, "MatMulInteger", left, right, node->out[0]);
}

static void
conv(writing *w, const hu_onnx_node *node)
{
	const hu_tool *t = w->x->t;
	const hu_stensor *b = initialiser(w, node->in[1]);
	coded left = activation(w, node->in[0]),
	      right = b ? store(w, node->in[1], t->weight_type, -1, t->reduce_range) : activation(w, node->in[1]);
	int biased = node->nin > 2 && *node->in[2];
	const char *out = node->out[0], *scaled = biased ? name(w, out, "quant_scaled_output") : out;

	product(w, node, "ConvInteger", left, right, scaled);
	if (!biased)
		return;
	const char *shape = name(w, out, "_bias_reshape_shape"), *wide = name(w, out, "_bias_reshape_output");
	size_t rank = (size_t)b->rank;
	int64_t *d = hu_onnx_rewrite_constant(&w->x->w, shape, HU_ONNX_INT64, 1, &rank);
	for (size_t i = 0; i < rank; i++)
		d[i] = i == 1 ? -1 : 1;
	hu_onnx_rewrite_node(&w->x->w, "Reshape", (const char *[]){ node->in[2], shape }, 2, wide);
	hu_onnx_rewrite_node(&w->x->w, "Add", (const char *[]){ scaled, wide }, 2, out);
}

/* A node that only moves elements moves the codes of its first input. */
static void
move(writing *w, const hu_onnx_node *node, coded in)
{
	int v = value(w, node->out[0]);
	hu_onnx_node *to = hu_onnx_rewrite_copy(&w->x->w, node);

	w->q[v] = (coded){ name(w, node->out[0], "_quantized"), in.scale, in.zero, 0, 0 };
	to->in[0] = in.codes;
	to->out[0] = w->q[v].codes;
}

/* The weights of a direction, or of a direction's rows, as int8 codes; then with the axes of codes exchanged, as the
   operator has them. */
static coded
recurrent(writing *w, const char *text)
{
	const hu_stensor *t = initialiser(w, text);
	size_t rows = t->shape[1], columns = t->shape[2];
	hu_stensor flat = *t;

	if (w->x->t->per_channel) {
		flat.rank = 2;
		flat.shape[0] = t->shape[0] * rows;
		flat.shape[1] = columns;
	}
	coded q = { name(w, text, "_quantized"), name(w, text, "_scale"), name(w, text, "_zero_point"), 0, 0 };
	hu_affine_grid g = hu_affine_grid_of(w->x, &flat, HU_ONNX_INT8, 0, w->x->t->reduce_range, 1);
	hu_affine_store(w->x, &flat, text, &g);
	hu_onnx_graph *graph = w->x->w.to->graph;
	hu_stensor *codes = &graph->init[graph->ninit - 3], *scale = codes + 1, *zero = codes + 2;
	const int8_t *from = codes->data;
	int8_t *to = hu_onnx_rewrite_room(&w->x->w, t->count + 1, 1);
	for (size_t i = 0; i < t->count; i++)
		to[i / (rows * columns) * rows * columns + i % columns * rows + i / columns % rows] = from[i];
	codes->data = to;
	codes->rank = 3;
	codes->shape[0] = t->shape[0];
	codes->shape[1] = columns;
	codes->shape[2] = rows;
	if (w->x->t->per_channel) {
		scale->rank = zero->rank = 2;
		scale->shape[0] = zero->shape[0] = t->shape[0];
		scale->shape[1] = zero->shape[1] = rows;
	}
	return q;
}

static void
lstm(writing *w, const hu_onnx_node *node)
{
	coded a = recurrent(w, node->in[1]), b = recurrent(w, node->in[2]);
	const char *in[12] = { node->in[0], a.codes, b.codes, "", "", "", "", "", a.scale, a.zero, b.scale, b.zero };
	size_t n = 0;

	for (size_t k = 3; k < node->nin && k < 8; k++)
		in[k] = node->in[k];
	dequantise(w, node->in[0]);
	hu_onnx_node *to = hu_onnx_rewrite_copy(&w->x->w, node);
	hu_onnx_rewrite_domain(&w->x->w, "com.microsoft", 1);
	to->op = "DynamicQuantizeLSTM";
	to->domain = "com.microsoft";
	to->in = hu_onnx_rewrite_room(&w->x->w, 12, sizeof *to->in);
	memcpy(to->in, in, sizeof in);
	to->nin = 12;
	hu_onnx_attr *kept = hu_onnx_rewrite_room(&w->x->w, node->nattr + 1, sizeof *kept);
	for (size_t k = 0; k < node->nattr; k++)
		if (strcmp(node->attr[k].name, "layout"))
			kept[n++] = node->attr[k];
	to->attr = kept;
	to->nattr = n;
}

/* A Gemm without factors becomes a MatMul, its second factor transposed where it has to be, and an Add. */
static void
gemm(writing *w, const hu_onnx_node *node)
{
	const char *right = node->in[1], *out = node->out[0],
		   *part = node->nin > 2 && *node->in[2] ? name(w, out, "_MatMul") : out;
	const hu_stensor *t = initialiser(w, right);

	if (hu_onnx_int(node, "transB", 0)) {
		const char *turned = name(w, right, "_Transposed");
		if (t && hu_rewriting_find(w->x, turned) < 0) {
			float *to = hu_onnx_rewrite_constant(
				&w->x->w, turned, HU_ONNX_FLOAT, 2, (size_t[]){ t->shape[1], t->shape[0] });
			for (size_t i = 0; i < t->count; i++)
				to[i % t->shape[1] * t->shape[0] + i / t->shape[1]] = ((const float *)t->data)[i];
			int v = value(w, turned);
			hu_onnx_graph *g = w->x->w.to->graph;
			hu_stensor *own = hu_onnx_rewrite_room(&w->x->w, 1, sizeof *own);
			*own = g->init[g->ninit - 1];
			w->x->value[v].init = own;
			w->x->value[v].type = HU_ONNX_FLOAT;
		} else if (!t) {
			hu_onnx_rewrite_node(&w->x->w, "Transpose", &right, 1, turned);
		}
		right = turned;
	}
	const char *in[2] = { node->in[0], right };
	hu_onnx_node multiply = { .name = name(w, node->name, "_MatMul"),
		.op = "MatMul",
		.domain = "",
		.nin = 2,
		.nout = 1,
		.in = in,
		.out = &part };
	if (hu_rewriting_wants(w->x, &multiply, operators) && initialiser(w, right))
		matmul(w, &multiply);
	else
		keep(w, &multiply);
	if (part == out)
		return;
	hu_onnx_node add = { .name = name(w, node->name, "_Add"),
		.op = "Add",
		.domain = "",
		.nin = 2,
		.nout = 1,
		.in = (const char *[]){ part, node->in[2] },
		.out = node->out };
	keep(w, &add);
}

static hu_status
one(writing *w, const hu_onnx_node *node)
{
	const char *op = node->op;
	int wanted = hu_rewriting_wants(w->x, node, operators), plain = !*node->domain;

	if (wanted && !strcmp(op, "Conv") && node->nin > 2 && *node->in[2] && !initialiser(w, node->in[1]))
		return hu_fail(HU_EUNABLE,
			"%s: node '%s': quantize_dynamic fails where the weight of a Conv with a bias is no "
			"initialiser, here '%s'; "
			"exclude the node, or make it one (quant_pre_process)",
			w->x->from->path, hu_shown(node->name), hu_shown(node->in[1]));
	if (plain && !strcmp(op, "Gemm") && hu_onnx_float(node, "alpha", 1) == 1 &&
		hu_onnx_float(node, "beta", 1) == 1 && !hu_onnx_int(node, "transA", 0))
		gemm(w, node);
	else if (wanted && !strcmp(op, "MatMul") && initialiser(w, node->in[1]))
		matmul(w, node);
	else if (wanted && !strcmp(op, "Conv"))
		conv(w, node);
	else if (wanted && !strcmp(op, "Gather") && initialiser(w, node->in[0]))
		move(w, node, activation(w, node->in[0]));
	else if (wanted && !strcmp(op, "Transpose") && of(w, node->in[0])->codes)
		move(w, node, (*of(w, node->in[0])));
	else if (wanted && !strcmp(op, "LSTM") && initialiser(w, node->in[1]) && initialiser(w, node->in[2]))
		lstm(w, node);
	else
		keep(w, node);
	return HU_OK;
}

hu_status
hu_tool_ort_dynamic(hu_rewriting *x)
{
	writing w = { .x = x };
	hu_status st = HU_OK;

	for (size_t i = 0; i < x->n && st == HU_OK; i++)
		st = one(&w, &x->node[i]);
	/* Outputs of the graph that have codes alone. */
	for (size_t i = 0; i < x->from->graph->nout; i++)
		dequantise(&w, x->from->graph->out[i].name);
	free(w.q);
	return st;
}
