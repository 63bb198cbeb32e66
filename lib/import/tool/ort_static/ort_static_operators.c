/* SPDX-License-Identifier: Apache-2.0
   onnxruntime.quantization.quantize_static in its format QOperator: operators whose operands and results are codes.
   What has no such operator reads DequantizeLinear; a value that a float node makes stays float for its float
   readers. */
#include "lib/import/tool/ort_static/ort_static_coded.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static hu_status
refuse(const hu_ort_coding *w, const hu_onnx_node *node, const char *why)
{
	return hu_fail(
		HU_EUNABLE, "%s: node '%s': in the format QOperator %s", w->x->from->path, hu_shown(node->name), why);
}

static hu_status
no_range(const hu_ort_coding *w, const hu_onnx_node *node)
{
	return refuse(w, node, "the tool needs ranges of all its values, and calibration shows not all of them");
}

static hu_ort_coded
activation(hu_ort_coding *w, const char *name)
{
	return hu_ort_static_operand(w, name, 0, -1, w->x->t->activation_type);
}

static void
make(hu_ort_coding *w, const hu_onnx_node *node)
{
	for (size_t k = 0; k < node->nout; k++)
		if (id(w, node->out[k]) >= 0)
			w->is_made[id(w, node->out[k])] = 1;
	hu_onnx_rewrite_copy(&w->x->w, node);
}

static hu_status
keep(hu_ort_coding *w, const hu_onnx_node *node)
{
	for (size_t k = 0; k < node->nin; k++)
		hu_ort_static_read(w, node->in[k]);
	make(w, node);
	return HU_OK;
}

/* NODE as operator OP of DOMAIN, which reads the N names IN and makes the codes Q of NODE's output, with NODE's
   attributes but for LEFT_OUT. */
static hu_onnx_node *
write(hu_ort_coding *w, const hu_onnx_node *node, const char *op, const char *domain, const char *const *in, size_t n,
	hu_ort_coded q, const char *left_out)
{
	hu_onnx_node *to = hu_onnx_rewrite_node(&w->x->w, op, in, n, q.codes);
	size_t kept = 0;

	to->name = *node->name ? text(w, node->name, "_quant") : "";
	to->domain = domain;
	if (*domain)
		hu_onnx_rewrite_domain(&w->x->w, domain, 1);
	to->attr = hu_onnx_rewrite_room(&w->x->w, node->nattr + 1, sizeof *to->attr);
	for (size_t k = 0; k < node->nattr; k++)
		if (strcmp(node->attr[k].name, left_out))
			to->attr[kept++] = node->attr[k];
	to->nattr = kept;
	w->q[id(w, node->out[0])] = q;
	return to;
}

/* The int32 codes of a bias by the scales of A and B; the codes of a bias that another node has read before stay. */
static const char *
bias(hu_ort_coding *w, const hu_onnx_node *node, hu_ort_coded a, double beta)
{
	int v = id(w, node->in[2]), b = id(w, node->in[1]);
	const hu_stensor *t = v < 0 ? NULL : w->x->value[v].init;
	const float *from = t ? hu_rewriting_floats(t) : NULL;
	hu_affine_grid *g = &w->q[b].g;

	if (!from)
		return NULL;
	if (w->q[v].codes) {
		if (a.g.s->scale * g->s->scale != *w->q[v].bias)
			hu_str_addf(&w->x->notes,
				"The bias '%s' of %s '%s' is another node's too, and has the codes for that node's "
				"scales.\n",
				hu_shown(t->name), node->op, hu_shown(node->name));
		return w->q[v].codes;
	}
	if (g->n > 1 && g->n != t->count)
		return NULL;
	int grown = hu_ort_static_grow(g, a.g.s->scale, from, t->count, w->x->value[b].init != NULL);
	if (grown)
		hu_str_addf(&w->x->notes, "The bias '%s' would leave 32 bits: the scale of its weight grows.\n",
			hu_shown(t->name));
	w->q[v].codes = text(w, t->name, "_quantized");
	w->q[v].scale = text(w, t->name, "_quantized_scale");
	w->q[v].zero = text(w, t->name, "_quantized_zero_point");
	w->q[v].g = (hu_affine_grid){ HU_ONNX_INT32, g->n > 1 ? 0 : -1, g->n, NULL };
	int32_t *q = hu_onnx_rewrite_constant(&w->x->w, w->q[v].codes, HU_ONNX_INT32, t->rank, t->shape);
	float *s = hu_onnx_rewrite_constant(&w->x->w, w->q[v].scale, HU_ONNX_FLOAT, g->n > 1, &g->n);
	hu_onnx_rewrite_constant(&w->x->w, w->q[v].zero, HU_ONNX_INT32, g->n > 1, &g->n);
	w->q[v].bias = s;
	for (size_t k = 0; k < g->n; k++)
		s[k] = a.g.s->scale * g->s[k].scale * (beta == 0 ? 1 : (float)beta);
	int cut = 0;
	for (size_t i = 0; i < t->count; i++) {
		double c = rint((beta == 0 ? 0 : (double)from[i]) / (double)s[g->n > 1 ? i : 0]);
		q[i] = (int32_t)fmin(fmax(c, INT32_MIN), INT32_MAX);
		cut |= c != (double)q[i];
	}
	if (cut)
		hu_str_addf(&w->x->notes,
			"The bias '%s' leaves 32 bits and is cut: onnxruntime's sums may wrap around, which is not "
			"emulated.\n",
			hu_shown(t->name));
	return w->q[v].codes;
}

static hu_status
product(hu_ort_coding *w, const hu_onnx_node *node)
{
	const hu_tool *t = w->x->t;
	int matmul = !strcmp(node->op, "MatMul"), gemm = !strcmp(node->op, "Gemm"), v = id(w, node->in[1]),
	    type = t->weight_type, axis = -1;
	const hu_stensor *init = v < 0 ? NULL : w->x->value[v].init;

	/* The tool leaves Gemm float where its bias is no initialiser, and the weight is rounded all the same. */
	if (gemm && node->nin > 2 && *node->in[2] && !w->x->value[id(w, node->in[2])].init) {
		if (init)
			hu_ort_static_operand(w, node->in[1], 1, -1, type);
		return keep(w, node);
	}
	if (init && t->per_channel) {
		axis = matmul ? init->rank - 1 : !gemm ? 0 : hu_onnx_int(node, "transB", 0) ? 0 : 1;
		type = !matmul && !gemm ? HU_ONNX_INT8 : type;
	}
	hu_ort_coded a = activation(w, node->in[0]), b = hu_ort_static_operand(w, node->in[1], 1, axis, type),
		     y = hu_ort_static_own(w, id(w, node->out[0]), 0, 0);
	if (!a.codes || !b.codes || !y.codes)
		return no_range(w, node);
	if (matmul || !gemm) {
		const char *in[9] = { a.codes, a.scale, a.zero, b.codes, b.scale, b.zero, y.scale, y.zero };
		size_t n = 8;
		if (!matmul && node->nin > 2 && *node->in[2] && !(in[n++] = bias(w, node, a, 1)))
			return refuse(
				w, node, "the tool wants a constant bias, with a number for each scale of the weight");
		write(w, node, matmul ? "QLinearMatMul" : "QLinearConv", "", in, n, y, "");
		return HU_OK;
	}
	const char *in[9] = { a.codes, a.scale, a.zero, b.codes, b.scale, b.zero, "", y.scale, y.zero };
	double beta = (double)hu_onnx_float(node, "beta", 1);
	if (node->nin > 2 && *node->in[2]) {
		if (!(in[6] = bias(w, node, a, beta)))
			return refuse(w, node, "a bias that is computed leaves a file that onnxruntime refuses");
		if (beta != 1)
			hu_str_addf(&w->x->notes, "Gemm '%s': onnxruntime adds the bias without its factor of %.4g.\n",
				hu_shown(node->name), beta);
	}
	write(w, node, "QGemm", "com.microsoft", in, 9, y, "beta");
	return HU_OK;
}

/* Add, Mul, and functions of one operand: their codes have a scale of their own. */
static hu_status
pointwise(hu_ort_coding *w, const hu_onnx_node *node, const char *op)
{
	int two = node->nin == 2 && (!strcmp(node->op, "Add") || !strcmp(node->op, "Mul")),
	    softmax = !strcmp(node->op, "Softmax"), type = w->x->t->activation_type;
	hu_ort_coded y = hu_ort_static_own(
			     w, id(w, node->out[0]), softmax ? 1 / 256.0f : 0, type == HU_ONNX_UINT8 ? 0 : -128),
		     a = activation(w, node->in[0]), b = { .codes = "" };

	if (two)
		b = activation(w, node->in[1]);
	if (!a.codes || !b.codes || !y.codes)
		return no_range(w, node);
	const char *one[5] = { a.codes, a.scale, a.zero, y.scale, y.zero },
		   *both[8] = { a.codes, a.scale, a.zero, b.codes, b.scale, b.zero, y.scale, y.zero };
	hu_onnx_node *to = write(w, node, op, "com.microsoft", two ? both : one, two ? 8 : 5, y, "");
	if (softmax)
		hu_onnx_rewrite_attr(&w->x->w, to, "opset", hu_onnx_version(w->x->from, ""));
	if (!strcmp(node->op, "GlobalAveragePool"))
		hu_onnx_rewrite_attr(&w->x->w, to, "channels_last", 0);
	return HU_OK;
}

static hu_status
concat(hu_ort_coding *w, const hu_onnx_node *node)
{
	hu_ort_coded y = hu_ort_static_own(w, id(w, node->out[0]), 0, 0);
	const char **in = hu_onnx_rewrite_room(&w->x->w, 2 + 3 * node->nin, sizeof *in);

	in[0] = y.scale;
	in[1] = y.zero;
	for (size_t k = 0; k < node->nin; k++) {
		hu_ort_coded a = activation(w, node->in[k]);
		if (!a.codes || !y.codes)
			return no_range(w, node);
		in[2 + 3 * k] = a.codes;
		in[3 + 3 * k] = a.scale;
		in[4 + 3 * k] = a.zero;
	}
	write(w, node, "QLinearConcat", "com.microsoft", in, 2 + 3 * node->nin, y, "");
	return HU_OK;
}

/* A node that moves the codes of its first operand, whose scale its results have. */
static hu_status
move(hu_ort_coding *w, const hu_onnx_node *node, hu_ort_coded a)
{
	if (!a.codes)
		return no_range(w, node);
	hu_onnx_node *to = hu_onnx_rewrite_copy(&w->x->w, node);
	to->in[0] = a.codes;
	for (size_t k = 0; k < node->nout; k++) {
		int v = id(w, node->out[k]);
		if (v < 0 || (k && !strcmp(node->op, "MaxPool")))
			continue;
		w->q[v] = a;
		to->out[k] = w->q[v].codes = text(w, node->out[k], "_quantized");
	}
	return HU_OK;
}

/* Pad's constant becomes a code. The tool then takes away the constant, so that another Pad finds none. */
static hu_status
pad(hu_ort_coding *w, const hu_onnx_node *node)
{
	hu_ort_coded a = w->q[id(w, node->in[0])];
	hu_onnx_node with = *node;
	const char *in[4] = { node->in[0], node->nin > 1 ? node->in[1] : "", a.zero, node->nin > 3 ? node->in[3] : "" };
	int v = node->nin > 2 ? id(w, node->in[2]) : -1;

	if (!strcmp(hu_onnx_text(node, "mode", "constant"), "constant")) {
		with.in = in;
		with.nin = node->nin > 3 ? 4 : 3;
		if (v >= 0 && (!w->x->value[v].init || !hu_rewriting_floats(w->x->value[v].init) || w->refused[v]))
			return refuse(w, node,
				"two Pads with one constant, or a constant that is computed, are not emulated");
		if (v >= 0) {
			int low, high;
			float x = *hu_rewriting_floats(w->x->value[v].init);
			hu_affine_limits(a.g.type, 0, 0, &low, &high);
			float q = rintf(x / a.g.s->scale) + (float)a.g.s->zero;
			in[2] = text(w, node->in[2], "_quantized");
			*(uint8_t *)hu_onnx_rewrite_constant(&w->x->w, in[2], a.g.type, 0, NULL) =
				(uint8_t)(int)fminf(fmaxf(q, (float)low), (float)high);
			w->refused[v] = 1;
		}
	}
	return move(w, &with, a);
}

/* Relu and Clip vanish where their operand has codes, whoever else reads it. */
static hu_status
removable(hu_ort_coding *w, const hu_onnx_node *node, size_t n)
{
	int in = id(w, node->in[0]), out = id(w, node->out[0]);

	if (!w->q[in].codes || w->x->t->symmetric)
		return keep(w, node);
	w->q[out] = w->q[in];
	w->x->dropped[n] = 1;
	if (w->x->value[in].readers > 1)
		hu_str_addf(&w->x->notes,
			"%s '%s' vanishes, though others read its input: its range is not cut, and negative numbers "
			"pass.\n",
			node->op, hu_shown(node->name));
	return HU_OK;
}

static hu_status
one(hu_ort_coding *w, size_t n)
{
	const hu_onnx_node *node = &w->x->node[n];
	const char *op = node->op;
	int64_t version = hu_onnx_version(w->x->from, "");
	int v = node->nin ? id(w, node->in[0]) : -1, coded_in = v >= 0 && w->q[v].codes != NULL;

	version = version < 10 ? 11 : version;
	if (!*node->domain && !strcmp(op, "Where")) { /* the tool copies it as it is */
		for (size_t k = 0; k < node->nin; k++)
			if (id(w, node->in[k]) >= 0 && w->q[id(w, node->in[k])].codes &&
				!w->is_made[id(w, node->in[k])])
				return refuse(w, node,
					"the tool leaves Where an operand that only codes are left of, and "
					"onnxruntime refuses the file");
		make(w, node);
		return HU_OK;
	}
	if (v < 0 || !hu_rewriting_wants(w->x, node, w->s->operators) || w->x->value[v].type != HU_ONNX_FLOAT)
		return keep(w, node);
	if (hu_rewriting_has("Conv Gemm MatMul", op))
		return product(w, node);
	if (hu_rewriting_has("Add Mul LeakyRelu Sigmoid AveragePool Softmax", op) ||
		(!strcmp(op, "GlobalAveragePool") && coded_in))
		return pointwise(w, node, text(w, "QLinear", op));
	if (hu_rewriting_has("Relu Clip", op))
		return removable(w, node, n);
	if (!strcmp(op, "Concat"))
		return concat(w, node);
	if (!strcmp(op, "Split") || (!strcmp(op, "Gather") && w->x->value[v].init))
		return move(w, node, activation(w, node->in[0]));
	if (!strcmp(op, "Pad") && version >= 11 && coded_in)
		return pad(w, node);
	if (!strcmp(op, "ArgMax") && coded_in) {
		hu_onnx_node reads = *node;
		reads.in = (const char *[]){ w->q[v].codes };
		make(w, &reads);
		return HU_OK;
	}
	if (!strcmp(op, "Resize") && coded_in && !strcmp(hu_onnx_text(node, "mode", "nearest"), "cubic"))
		return refuse(w, node, "onnxruntime has no cubic Resize of codes and fails in the file; exclude it");
	if (coded_in && (hu_rewriting_has("Transpose Reshape Squeeze Unsqueeze Flatten", op) ||
				(!strcmp(op, "Resize") && version >= 11) || (!strcmp(op, "MaxPool") && version >= 12)))
		return move(w, node, w->q[v]);
	return keep(w, node);
}

hu_status
hu_ort_static_operators(hu_ort_static *s)
{
	hu_ort_coding w = { .s = s, .x = s->x };
	size_t n = s->x->nvalue + 1;
	hu_status st = HU_OK;

	w.q = hu_xcalloc(n, sizeof *w.q);
	w.is_made = hu_xcalloc(n, 1);
	w.scaled = hu_xcalloc(n, 1);
	w.stored = hu_xcalloc(n, 1);
	w.refused = hu_xcalloc(n, 1);
	for (size_t v = 0; v < s->x->nvalue; v++)
		w.is_made[v] = (char)s->x->value[v].is_in;
	for (size_t i = 0; i < s->x->n && st == HU_OK; i++)
		st = one(&w, i);
	for (size_t i = 0; i < s->x->from->graph->nout && st == HU_OK; i++)
		hu_ort_static_read(&w, s->x->from->graph->out[i].name);
	for (size_t v = 0; v < s->x->nvalue && st == HU_OK; v++)
		if (w.stored[v])
			hu_affine_store(s->x, s->x->value[v].init, s->x->value[v].name, &w.q[v].g);
	free(w.q);
	free(w.is_made);
	free(w.scaled);
	free(w.stored);
	free(w.refused);
	return st;
}
