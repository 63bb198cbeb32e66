/* SPDX-License-Identifier: Apache-2.0
   The rules of nvidia-modelopt 0.47's AutoCast, convert_to_mixed_precision with the inputs at hand as calibration data:
   nodes whose values or constants are large stay float32, and each reader's type decides alone. */
#include "lib/import/tool/fp16.h"

#include "lib/base/show.h"

#include <math.h>
#include <regex.h>
#include <string.h>

/* Operators that have no float16 in a version of ONNX's operators, and the first version that has; 0: none has. Such a
   node's results are no floats in most cases; what matters is that its operands are not rounded. */
static const struct {
	const char *op;
	int64_t since;
} narrow[] = { { "CumSum", 14 }, { "Trilu", 14 }, { "HardSwish", 14 }, { "GridSample", 16 },
	{ "LayerNormalization", 17 }, { "DFT", 17 }, { "STFT", 17 }, { "Mish", 18 }, { "Col2Im", 18 },
	{ "CenterCropPad", 18 }, { "GroupNormalization", 18 }, { "DeformConv", 19 }, { "QuantizeLinear", 19 },
	{ "DequantizeLinear", 19 }, { "Gelu", 20 }, { "IsInf", 20 }, { "AffineGrid", 20 }, { "Attention", 23 },
	{ "RMSNormalization", 23 }, { "RotaryEmbedding", 23 }, { "Swish", 24 }, { "Range", 27 },
	{ "DynamicQuantizeLinear", 0 }, { "Not", 0 }, { "And", 0 }, { "Or", 0 }, { "Xor", 0 } };

/* The tool's patterns begin at a name's first letter, and need not reach its end. */
static int
matches(const hu_tool_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		regmatch_t at;
		regex_t r;
		if (regcomp(&r, l->name[i], REG_EXTENDED))
			continue;
		int is = !regexec(&r, name, 1, &at, 0) && at.rm_so == 0;
		regfree(&r);
		if (is)
			return 1;
	}
	return 0;
}

/* The node of operator OP that makes NAME, NULL where there is none. */
static const hu_onnx_node *
maker(const hu_rewriting *x, const char *op, const char *name)
{
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nout && *name; k++)
			if (!strcmp(x->node[i].out[k], name))
				return strcmp(x->node[i].op, op) ? NULL : &x->node[i];
	return NULL;
}

/* 1 where constant T has a number beyond MOST. */
static int
reaches(const hu_stensor *t, double most)
{
	const float *f = hu_rewriting_floats(t);
	const int64_t *n = t && !strcmp(t->dtype, "I64") ? t->data : NULL;

	for (size_t i = 0; i < (f || n ? t->count : 0); i++)
		if ((f ? (double)fabsf(f[i]) : fabs((double)n[i])) > most)
			return 1;
	return 0;
}

/* 1 where value NAME is an initialiser beyond float16, or a number beyond data_max was seen of it. */
static int
is_large(const hu_rewriting *x, const char *name)
{
	int id = hu_rewriting_find(x, name);
	const hu_tool_value *v = id < 0 ? NULL : &x->value[id];

	if (!v)
		return 0;
	if (v->init)
		return hu_rewriting_floats(v->init) && reaches(v->init, 65504);
	const hu_onnx_node *constant = maker(x, "Constant", name);
	const hu_onnx_attr *is = constant ? hu_onnx_attr_find(constant, "value") : NULL;
	if (is && is->t)
		return reaches(is->t, x->t->data_max);
	return v->infinite || (v->seen && fmax(fabs(v->low), fabs(v->high)) > x->t->data_max);
}

static int
stays(const hu_rewriting *x, size_t i)
{
	const hu_onnx_node *node = &x->node[i];
	int64_t version = hu_onnx_version(x->from, "");

	if (matches(&x->t->exclude, node->name))
		return 1;
	for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++)
		if (!*node->domain && !strcmp(node->op, narrow[k].op) &&
			(!narrow[k].since || narrow[k].since > (version < 13 ? 13 : version)))
			return 1;
	for (size_t k = 0; k < node->nin; k++)
		if (is_large(x, node->in[k]))
			return 1;
	for (size_t k = 0; k < node->nout && strcmp(node->op, "Constant"); k++)
		if (is_large(x, node->out[k]))
			return 1;
	return 0;
}

/* The tool makes LayerNormalization of (x - mean) / sqrt(mean((x - mean)^2) + eps). */
static int
is_norm(const hu_rewriting *x, const hu_onnx_node *div)
{
	const hu_onnx_node *sqrt = strcmp(div->op, "Div") ? NULL : maker(x, "Sqrt", div->in[1]),
			   *add = sqrt ? maker(x, "Add", sqrt->in[0]) : NULL,
			   *mean = add ? maker(x, "ReduceMean", add->in[0]) : NULL;

	mean = add && !mean ? maker(x, "ReduceMean", add->in[1]) : mean;
	const hu_onnx_node *pow = mean ? maker(x, "Pow", mean->in[0]) : NULL,
			   *sub = pow ? maker(x, "Sub", pow->in[0]) : NULL;
	return sub && maker(x, "ReduceMean", sub->in[1]);
}

hu_status
hu_tool_autocast_fp16(hu_rewriting *x)
{
	hu_fp16_rules rules = hu_fp16_modelopt;

	rules.is_blocked = stays;
	for (size_t i = 0; i < x->n; i++)
		if (is_norm(x, &x->node[i]))
			return hu_fail(HU_EUNABLE,
				"%s: node '%s': AutoCast makes LayerNormalization of the nodes that end here, which is "
				"not "
				"emulated; export the model with version 17 of the operators or a later one",
				x->from->path, hu_shown(x->node[i].name));
	return hu_fp16_write(x, &rules);
}
