/* SPDX-License-Identifier: Apache-2.0
   onnxruntime.quantization.quantize_static in its format QDQ: which tensors get QuantizeLinear and DequantizeLinear.
   Operators mark tensors in the order of the file's nodes, which decides what "is quantised already" means. How the
   marks become nodes is ort_static_write.c's business. */
#include "lib/import/tool/ort_static/ort_static.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char operators[] =
	"Add ArgMax AveragePool BatchNormalization Clip Concat Conv ConvTranspose CumSum EmbedLayerNormalization "
	"Flatten "
	"Gather GatherElements Gemm GlobalAveragePool InstanceNormalization LayerNormalization LeakyRelu MatMul "
	"MaxPool "
	"Mul Pad Relu Reshape Resize Sigmoid Slice Softmax Split Squeeze TopK Transpose Unsqueeze Where";

static int
is_quantisable(const hu_ort_static *s, int v)
{
	return v >= 0 && s->x->value[v].type == HU_ONNX_FLOAT;
}

static int
is_quantised(const hu_ort_static *s, const char *name)
{
	int v = hu_rewriting_find(s->x, name);

	return v >= 0 && (s->mark[v].kind != HU_MARK_NONE || s->mark[v].bias);
}

void
hu_ort_static_mark(hu_ort_static *s, const char *name, hu_mark_kind kind)
{
	int v = hu_rewriting_find(s->x, name);

	if (is_quantisable(s, v) && s->mark[v].kind == HU_MARK_NONE)
		s->mark[v] = (hu_mark){ kind, -1, -1, s->mark[v].bias };
}

/* NAME gets the scale of OTHER, whatever was marked before. */
static void
mark_same(hu_ort_static *s, const char *name, const char *other)
{
	int v = hu_rewriting_find(s->x, name);

	if (is_quantisable(s, v))
		s->mark[v] = (hu_mark){ HU_MARK_SHARED, hu_rewriting_find(s->x, other), -1, s->mark[v].bias };
}

static const hu_stensor *
initialiser(const hu_ort_static *s, const char *name)
{
	int v = hu_rewriting_find(s->x, name);

	return v < 0 ? NULL : s->x->value[v].init;
}

void
hu_ort_static_mark_weight(hu_ort_static *s, const char *name, int axis)
{
	const hu_stensor *t = initialiser(s, name);
	int v = hu_rewriting_find(s->x, name);

	if (!t || !s->x->t->per_channel || axis >= t->rank)
		hu_ort_static_mark(s, name, HU_MARK_WEIGHT);
	else if (is_quantisable(s, v))
		s->mark[v] = (hu_mark){ HU_MARK_WEIGHT, -1, axis, s->mark[v].bias };
}

/* A value that the file has not. */
static int
add_value(hu_ort_static *s, const char *name)
{
	int v = hu_rewriting_id(s->x, name);

	s->mark = hu_xrealloc(s->mark, (size_t)(v + 1) * sizeof *s->mark);
	s->calibrated = hu_xrealloc(s->calibrated, (size_t)v + 1);
	s->mark[v] = (hu_mark){ HU_MARK_NONE, -1, -1, 0 };
	s->calibrated[v] = 0;
	return v;
}

/* The name that the tool gives to a further copy of initialiser T: the number that follows the largest one behind T's
   name among the initialisers, 0 where there is none. */
static const char *
copy_name(hu_ort_static *s, const hu_stensor *t)
{
	size_t length = strlen(t->name);
	long most = -1;

	for (size_t i = 0; i < s->x->from->graph->ninit + s->nbias; i++) {
		size_t k = i - s->x->from->graph->ninit;
		const char *name = i < s->x->from->graph->ninit ? s->x->from->graph->init[i].name
								: s->x->value[s->bias[k].v].name;
		char *end;
		if (strncmp(name, t->name, length) || !name[length])
			continue;
		long number = strtol(name + length, &end, 10);
		if (!*end && number > most)
			most = number;
	}
	return hu_onnx_rewrite_text(&s->x->w, "%s%ld", t->name, most + 1);
}

/* Operand K of NODE becomes int32 codes by the product of the scales of operands 0 and 1; a second reader gets a copy
   of its own. */
static void
mark_bias(hu_ort_static *s, hu_onnx_node *node, size_t k, float beta)
{
	const hu_stensor *t = k < node->nin ? initialiser(s, node->in[k]) : NULL;
	const char *name = k < node->nin ? node->in[k] : "";

	if (!t || !hu_rewriting_floats(t))
		return;
	int v = hu_rewriting_find(s->x, name);
	if (s->mark[v].bias) {
		name = copy_name(s, t);
		if (hu_rewriting_find(s->x, name) >= 0) {
			s->taken = s->taken ? s->taken : name;
			return;
		}
		v = add_value(s, name);
		s->x->value[v].type = HU_ONNX_FLOAT;
		node->in[k] = name;
	}
	s->mark[v].bias = 1;
	HU_GROW(s->bias, s->nbias, s->biascap);
	s->bias[s->nbias++] = (hu_bias_mark){ v, hu_rewriting_find(s->x, node->in[0]),
		hu_rewriting_find(s->x, node->in[1]), 0, beta, t };
}

/* The producer of Relu's or Clip's input makes its output instead. Returns 1 where it does. */
static int
replace_upstream(hu_ort_static *s, size_t n)
{
	hu_rewriting *x = s->x;
	const char *in = x->node[n].in[0], *out = x->node[n].out[0];
	int v = hu_rewriting_find(s->x, in), to = hu_rewriting_find(s->x, out);

	if (!s->calibrated[to] || !s->calibrated[v] || x->value[v].readers != 1 || x->value[v].is_out ||
		x->value[v].is_in)
		return 0;
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nout; k++)
			if (!strcmp(x->node[i].out[k], in))
				x->node[i].out[k] = out;
	s->mark[v].kind = HU_MARK_NONE;
	x->dropped[n] = 1;
	return 1;
}

static void
removable(hu_ort_static *s, size_t n)
{
	hu_onnx_node *node = &s->x->node[n];
	const char *in = node->in[0];

	if (!is_quantised(s, in))
		return;
	if (s->x->t->symmetric || !replace_upstream(s, n))
		hu_ort_static_mark(s, in, HU_MARK_ACTIVATION);
	hu_ort_static_mark(s, node->out[0], HU_MARK_ACTIVATION);
}

static void
product(hu_ort_static *s, hu_onnx_node *node)
{
	int gemm = !strcmp(node->op, "Gemm"), rows = gemm && hu_onnx_int(node, "transB", 0);

	hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
	hu_ort_static_mark(s, node->out[0], HU_MARK_ACTIVATION);
	hu_ort_static_mark_weight(s, node->in[1], !strcmp(node->op, "Conv") || rows ? 0 : 1);
	if (node->nin < 3)
		return;
	const hu_stensor *bias = initialiser(s, node->in[2]);
	mark_bias(s, node, 2, gemm ? hu_onnx_float(node, "beta", 1) : 1);
	/* The bias then has its factor in its own scale. */
	if (gemm && bias && hu_onnx_float(node, "beta", 1) != 1) {
		hu_onnx_attr *all = hu_onnx_rewrite_room(&s->x->w, node->nattr + 1, sizeof *all);
		for (size_t i = 0; i < node->nattr; i++) {
			all[i] = node->attr[i];
			if (!strcmp(all[i].name, "beta"))
				all[i].f = 1;
		}
		node->attr = all;
	}
}

static void
norm(hu_ort_static *s, hu_onnx_node *node)
{
	hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
	if (initialiser(s, node->in[1]))
		hu_ort_static_mark_weight(s, node->in[1], 1);
	else
		hu_ort_static_mark(s, node->in[1], HU_MARK_ACTIVATION);
	mark_bias(s, node, 2, 1);
	for (size_t k = 0; k < node->nout; k++)
		hu_ort_static_mark(s, node->out[k], HU_MARK_ACTIVATION);
}

/* What Pad puts around is in its input's range: always of 0, and of elements that stand there already. */
static int
pads_within(const hu_ort_static *s, const hu_onnx_node *node)
{
	const char *mode = hu_onnx_text(node, "mode", "constant");

	if (strcmp(mode, "constant"))
		return 1;
	if (hu_onnx_version(s->x->from, "") < 11)
		return hu_onnx_float(node, "value", 0) == 0;
	if (node->nin < 3 || !*node->in[2])
		return 1;
	int v = hu_rewriting_find(s->x, node->in[2]);
	const float *x = v < 0 ? NULL : hu_rewriting_floats(s->x->value[v].init);
	if (x)
		return x[0] == 0;
	return v >= 0 && s->x->value[v].seen && s->x->value[v].low == 0 && s->x->value[v].high == 0;
}

static void
pad(hu_ort_static *s, hu_onnx_node *node)
{
	for (size_t k = 0; k < node->nin; k++)
		hu_ort_static_mark(s, node->in[k], HU_MARK_ACTIVATION);
	if (pads_within(s, node))
		mark_same(s, node->out[0], node->in[0]);
	else
		hu_ort_static_mark(s, node->out[0], HU_MARK_ACTIVATION);
}

static void
operator(hu_ort_static *s, size_t n)
{
	hu_onnx_node *node = &s->x->node[n];
	const char *op = node->op;
	int64_t version = hu_onnx_version(s->x->from, "");

	version = version < 10 ? 11 : version; /* the tool raises what is older */
	if (hu_rewriting_has("Relu Clip", op))
		removable(s, n);
	else if (hu_rewriting_has("Conv ConvTranspose Gemm", op))
		product(s, node);
	else if (hu_rewriting_has("LayerNormalization InstanceNormalization BatchNormalization", op))
		norm(s, node);
	else if (hu_rewriting_has("Reshape Transpose Squeeze Unsqueeze Flatten AveragePool Slice TopK", op) ||
		 (!strcmp(op, "Resize") && version >= 11) || (!strcmp(op, "MaxPool") && version >= 12)) {
		if (is_quantised(s, node->in[0]))
			mark_same(s, node->out[0], node->in[0]);
	} else if (hu_rewriting_has("Resize MaxPool EmbedLayerNormalization", op)) {
	} else if (!strcmp(op, "MatMul")) {
		for (size_t k = 0; k < 2; k++)
			if (initialiser(s, node->in[k]))
				hu_ort_static_mark_weight(s, node->in[k], 1);
			else
				hu_ort_static_mark(s, node->in[k], HU_MARK_ACTIVATION);
		hu_ort_static_mark(s, node->out[0], HU_MARK_ACTIVATION);
	} else if (!strcmp(op, "Split")) {
		hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
		for (size_t k = 0; k < node->nout; k++)
			mark_same(s, node->out[k], node->in[0]);
	} else if (hu_rewriting_has("Gather GatherElements", op)) {
		if (hu_rewriting_floats(initialiser(s, node->in[0])))
			hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
		if (is_quantised(s, node->in[0]))
			mark_same(s, node->out[0], node->in[0]);
	} else if (!strcmp(op, "Where")) {
		if (is_quantised(s, node->in[1]) && is_quantised(s, node->in[2]))
			hu_ort_static_mark(s, node->out[0], HU_MARK_ACTIVATION);
	} else if (!strcmp(op, "Pad")) {
		pad(s, node);
	} else {
		for (size_t k = 0; k < node->nin; k++)
			hu_ort_static_mark(s, node->in[k], HU_MARK_ACTIVATION);
		for (size_t k = 0; k < node->nout; k++)
			hu_ort_static_mark(s, node->out[k], HU_MARK_ACTIVATION);
	}
}

/* Calibration observes what operators of the tool's list read and write, wherever nodes are excluded. */
static void
observe(hu_ort_static *s)
{
	hu_rewriting *x = s->x;
	hu_tool all = { .op_types = x->t->op_types };
	hu_rewriting every = { .t = &all };

	for (size_t i = 0; i < x->n; i++) {
		const hu_onnx_node *node = &x->node[i];
		if (!hu_rewriting_wants(&every, node, operators))
			continue;
		for (size_t k = 0; k < node->nin + node->nout; k++) {
			int v = hu_rewriting_find(s->x, k < node->nin ? node->in[k] : node->out[k - node->nin]);
			if (is_quantisable(s, v) && !x->value[v].init)
				s->calibrated[v] = (char)x->value[v].seen;
		}
	}
}

/* A Relu's or Clip's only input has the range of its output, and a Softmax's output is from 0 to 1. */
static void
adjust(hu_ort_static *s)
{
	hu_rewriting *x = s->x;

	for (size_t i = 0; i < x->n; i++) {
		const hu_onnx_node *node = &x->node[i];
		if (!hu_rewriting_wants(x, node, operators))
			continue;
		int in = hu_rewriting_find(s->x, node->in[0]), out = hu_rewriting_find(s->x, node->out[0]);
		if (hu_rewriting_has("Relu Clip", node->op) && x->value[in].readers == 1 && s->calibrated[in] &&
			s->calibrated[out]) {
			x->value[in].low = x->value[out].low;
			x->value[in].high = x->value[out].high;
		} else if (!strcmp(node->op, "Softmax")) {
			s->calibrated[out] = 1;
			x->value[out].low = 0;
			x->value[out].high = 1;
		}
	}
}

hu_status
hu_tool_ort_static(hu_rewriting *x)
{
	hu_ort_static s = { .x = x, .operators = operators };
	hu_status st = HU_OK;

	if (x->t->per_channel && !x->t->qoperator && hu_onnx_version(x->from, "") < 13)
		return hu_fail(HU_EUNABLE,
			"%s: per_channel writes the attribute axis, which version 13 of the operators has; onnxruntime "
			"refuses the file that quantize_static writes of version %lld; convert the model first",
			x->from->path, (long long)hu_onnx_version(x->from, ""));
	s.mark = hu_xcalloc(x->nvalue + 1, sizeof *s.mark);
	s.calibrated = hu_xcalloc(x->nvalue + 1, 1);
	for (size_t i = 0; i < x->nvalue; i++)
		s.mark[i] = (hu_mark){ HU_MARK_NONE, -1, -1, 0 };
	observe(&s);
	adjust(&s);
	for (size_t i = 0; i < x->n && !x->t->qoperator; i++)
		if (hu_rewriting_wants(x, &x->node[i], operators))
			operator(&s, i);
	if (s.taken)
		st = hu_fail(HU_EUNABLE,
			"%s: quantize_static names its copy of a bias of several nodes '%s', as a value of the model "
			"is named already, and onnxruntime refuses the file; rename that value",
			x->from->path, hu_shown(s.taken));
	if (st == HU_OK)
		st = x->t->qoperator ? hu_ort_static_operators(&s) : hu_ort_static_write(&s);
	if (st == HU_OK && x->t->optimised && !x->t->qoperator)
		hu_ort_fuse(&x->w);
	if (st == HU_OK)
		hu_ort_static_notes(&s);
	free(s.mark);
	free(s.calibrated);
	free(s.bias);
	return st;
}
