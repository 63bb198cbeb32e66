/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/typed.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/number/code.h"
#include "lib/program/quantise/factor.h"
#include "lib/store/onnx/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hu_typed {
	hu_onnx_edit *e;
	char *done; /* by node of the file */
	const hu_onnx *onnx;
	const hu_imported *m;
	const hu_range *range;
	const hu_scheme *s;
	int call, node; /* of the program; of the file */
};
typedef struct hu_typed typing;

static hu_status
fail(const typing *x, const char *why)
{
	return hu_fail(HU_EUNABLE, "node '%.90s': %s", hu_shown(x->m->p->c[x->call].layer), why);
}

/* The element type that holds the scheme's codes or its format's values; 0: none. */
static int
type_of(const hu_scheme *s)
{
	if (s->kind == HU_SCHEME_INTEGER)
		return HU_ONNX_INT8;
	switch (s->format) {
	case HU_FP16: return HU_ONNX_FLOAT16;
	case HU_BF16: return HU_ONNX_BFLOAT16;
	case HU_E4M3: return HU_ONNX_FLOAT8E4M3FN;
	case HU_E5M2: return HU_ONNX_FLOAT8E5M2;
	case HU_FP64: return HU_ONNX_DOUBLE;
	default: /* ONNX has no such type: the caller refuses. */
		return 0;
	}
}

/* Operand K rounded by a pair of Casts. */
static void
round_input(typing *x, size_t k)
{
	const char *in = hu_onnx_edit_input(x->e, x->node, k);
	const char *low = hu_onnx_edit_before(x->e, x->node, "Cast", &in, 1, in, "to", type_of(x->s)),
		   *wide = hu_onnx_edit_before(x->e, x->node, "Cast", &low, 1, in, "to", HU_ONNX_FLOAT);

	hu_onnx_edit_read(x->e, x->node, k, wide);
}

/* Operand I of the call, which is operand K of the node, through codes of a static scale. */
static void
code_input(typing *x, int i, size_t k)
{
	const hu_range *r = &x->range[x->m->p->c[x->call].in[i]];
	const char *in = hu_onnx_edit_input(x->e, x->node, k);
	int integer = x->s->kind == HU_SCHEME_INTEGER, type = !integer           ? type_of(x->s)
							      : x->s->asymmetric ? HU_ONNX_UINT8
										 : HU_ONNX_INT8;
	double clip = hu_range_clip(r, x->s);
	hu_affine a = hu_affine_of(r, clip, x->s->bits, x->s->asymmetric);
	float scale = integer ? a.scale : hu_range_scale(clip, x->s->format);
	uint8_t zero = integer ? (uint8_t)a.zero : 0;
	const char *to[3] = { in, hu_onnx_edit_constant(x->e, in, HU_ONNX_FLOAT, 0, NULL, &scale, sizeof scale),
		hu_onnx_edit_constant(x->e, in, type, 0, NULL, &zero, 1) };
	const char *codes = hu_onnx_edit_before(x->e, x->node, "QuantizeLinear", to, 3, in, NULL, 0);
	to[0] = codes;
	hu_onnx_edit_read(x->e, x->node, k, hu_onnx_edit_before(x->e, x->node, "DequantizeLinear", to, 3, in, NULL, 0));
}

/* The file's constant called NAME, float32; NULL where there is none. */
static const hu_stensor *
stored(const typing *x, const char *name)
{
	for (size_t i = 0; i < x->onnx->n; i++)
		if (!strcmp(x->onnx->tensor[i]->name, name) && !strcmp(x->onnx->tensor[i]->dtype, "F32"))
			return x->onnx->tensor[i];
	return NULL;
}

static const hu_onnx_node *
file_node(const typing *x)
{
	for (size_t i = 0; i < x->onnx->graph->nnode; i++)
		if (!strcmp(x->onnx->graph->node[i].name, x->m->node[x->call]))
			return &x->onnx->graph->node[i];
	return NULL;
}

/* The weights T as the file has them: a row a column of the product, or transposed to that. */
static int
factor_of(const typing *x, hu_factor *f, const hu_stensor *t, int64_t *axis)
{
	const hu_onnx_node *node = file_node(x);
	int rows = !strcmp(node->op, "Conv") || (!strcmp(node->op, "Gemm") && hu_onnx_int(node, "transB", 0));

	if (t->rank < 2 || (strcmp(node->op, "Conv") && t->rank != 2))
		return 0;
	*axis = rows ? 0 : 1;
	*f = (hu_factor){
		.w = t->data, .columns = t->shape[*axis], .k = t->count / t->shape[*axis], .transposed = rows
	};
	return 1;
}

/* The node's bias as codes by the products of the scales, that of the activation and the weights', dequantised before
   it. */
static hu_status
code_bias(typing *x, const hu_factor *f)
{
	const hu_program *p = x->m->p;
	const hu_call *c = &p->c[x->call];
	const hu_range *r = &x->range[c->in[0]];
	hu_affine a = hu_affine_of(r, hu_range_clip(r, x->s), x->s->bits, x->s->asymmetric);
	int t = -1;

	for (int i = x->call + 1; i < p->nc && t < 0; i++)
		t = !strcmp(p->c[i].layer, c->layer) ? hu_factor_bias_of(p, x->m->constant, &p->c[i], c) : -1;
	if (t < 0)
		return HU_OK;
	const float *bias = x->m->constant[t].data;
	const hu_stensor *held = stored(x, hu_onnx_edit_input(x->e, x->node, 2));
	if (!held || held->count != f->columns || memcmp(held->data, bias, f->columns * sizeof *bias))
		return fail(x, "its bias is computed from others in the file, or multiplied; fold its constants first");
	float *code = hu_xmalloc((f->columns * f->k + 1) * sizeof *code),
	      *scale = hu_xcalloc(f->columns + 1, sizeof *scale);
	int32_t *whole = hu_xmalloc((f->columns + 1) * sizeof *whole);
	int64_t axis = 0;
	double most;
	hu_factor_codes(code, scale, &most, f, x->s->bits, x->s->grain);
	for (size_t i = 0; i < f->columns; i++)
		scale[i] *= a.scale;
	hu_factor_biases(whole, NULL, bias, scale, f->columns);
	const char *in[2] = {
		hu_onnx_edit_constant(
			x->e, held->name, HU_ONNX_INT32, 1, &f->columns, whole, f->columns * sizeof *whole),
		hu_onnx_edit_constant(
			x->e, held->name, HU_ONNX_FLOAT, 1, &f->columns, scale, f->columns * sizeof *scale),
	};
	hu_onnx_edit_read(x->e, x->node, 2,
		hu_onnx_edit_before(x->e, x->node, "DequantizeLinear", in, 2, held->name, "axis", axis));
	free(code);
	free(scale);
	free(whole);
	return HU_OK;
}

/* Weights as codes of the scheme, stored with a scale a column, and dequantised before the node. */
static void
code_weights(typing *x, const hu_stensor *t, const hu_factor *f, int64_t axis)
{
	float *code = hu_xmalloc((t->count + 1) * sizeof *code), *scale = hu_xcalloc(f->columns + 1, sizeof *scale);
	uint8_t *byte = hu_xmalloc(t->count + 1), *zero = hu_xcalloc(f->columns + 1, 1);
	int integer = x->s->kind == HU_SCHEME_INTEGER, type = type_of(x->s);
	hu_format to = hu_format_of(x->s->format);
	double most;

	if (integer)
		hu_factor_codes(code, scale, &most, f, x->s->bits, x->s->grain);
	else
		hu_factor_scaled(code, scale, f, x->s->format, x->s->grain);
	for (size_t i = 0; i < t->count; i++)
		byte[i] = integer ? (uint8_t)(int8_t)code[i] : (uint8_t)hu_encode((double)code[i], to);
	int each = x->s->grain != HU_GRAIN_TENSOR;
	size_t n = each ? f->columns : 1;
	const char *in[3] = { hu_onnx_edit_constant(x->e, t->name, type, t->rank, t->shape, byte, t->count),
		hu_onnx_edit_constant(x->e, t->name, HU_ONNX_FLOAT, each, &n, scale, n * sizeof *scale),
		hu_onnx_edit_constant(x->e, t->name, type, each, &n, zero, n) };
	hu_onnx_edit_read(x->e, x->node, 1,
		hu_onnx_edit_before(x->e, x->node, "DequantizeLinear", in, 3, t->name, each ? "axis" : NULL, axis));
	free(code);
	free(scale);
	free(byte);
	free(zero);
}

static hu_status
product(typing *x)
{
	const hu_call *c = &x->m->p->c[x->call];
	const hu_stensor *t = stored(x, hu_onnx_edit_input(x->e, x->node, 1));
	int weights_alone = x->s->activations == HU_ACTIVATIONS_NONE, own = 0;
	int64_t axis = 0;
	hu_factor f, held;

	if (x->s->activations == HU_ACTIVATIONS_DYNAMIC)
		return fail(x, "dynamic scales have no typed file here; use static ones");
	own = hu_factor_of(&held, c, &x->m->constant[c->in[1]]);
	if (own && (!t || !factor_of(x, &f, t, &axis)))
		return fail(x, "its weights are computed from others in the file; fold its constants first");
	if (weights_alone && own) {
		float *w = hu_xmalloc((t->count + 1) * sizeof *w);
		hu_factor_remains(w, &f, x->s);
		hu_onnx_edit_read(x->e, x->node, 1,
			hu_onnx_edit_constant(
				x->e, t->name, HU_ONNX_FLOAT, t->rank, t->shape, w, t->count * sizeof *w));
		free(w);
	}
	if (weights_alone)
		return HU_OK;
	int64_t needs = x->s->kind == HU_SCHEME_INTEGER ? 13 : 19;
	if (hu_onnx_version(x->onnx, "") < needs)
		return fail(
			x, "its codes need operators of version 13 (integers) or 19 (float8); convert the model first");
	code_input(x, 0, 0);
	if (own && x->s->biases)
		HU_TRY(code_bias(x, &f));
	if (own)
		code_weights(x, t, &f, axis);
	else
		code_input(x, 1, 1);
	return HU_OK;
}

/* A product in a format: its operands and its result through pairs of Casts. */
static hu_status
rounded(typing *x)
{
	if (!type_of(x->s))
		return fail(x, "ONNX has no element type of this format");
	if (hu_onnx_version(x->onnx, "") < 13 && x->s->format == HU_BF16)
		return fail(x, "Casts to bfloat16 need operators of version 13; convert the model first");
	for (size_t k = 0; k < hu_onnx_edit_inputs(x->e, x->node); k++)
		if (*hu_onnx_edit_input(x->e, x->node, k))
			round_input(x, k);
	hu_onnx_edit_round_output(x->e, x->node, 0, type_of(x->s));
	return HU_OK;
}

hu_status
hu_typed_open(hu_typed **t, const hu_onnx *onnx)
{
	*t = hu_xcalloc(1, sizeof **t);
	(*t)->onnx = onnx;
	(*t)->done = hu_xcalloc(onnx->graph->nnode + 1, 1);
	return hu_onnx_edit_open(&(*t)->e, onnx);
}

hu_status
hu_typed_add(hu_typed *x, const hu_imported *m, const hu_variant *v, const hu_range *range)
{
	const hu_scheme **scheme = NULL;
	char *quantisable = hu_schemes_quantisable(m);
	hu_status st = hu_variant_schemes(v, m, &scheme);

	x->m = m;
	x->range = range;
	for (int i = 0; i < m->p->nc && st == HU_OK; i++) {
		x->call = i;
		x->s = scheme[i];
		if (!x->s || !quantisable[i])
			continue;
		x->node = hu_onnx_edit_find(x->e, m->node[i]);
		if (x->node < 0) {
			st = fail(x, "it has no name of its own in the main graph; give every node one");
			break;
		}
		if (x->done[x->node])
			continue;
		x->done[x->node] = 1;
		st = x->s->kind == HU_SCHEME_FLOAT ? rounded(x) : product(x);
	}
	free(scheme);
	free(quantisable);
	return st;
}

hu_status
hu_typed_write(const hu_typed *x, const char *path)
{
	return hu_onnx_edit_write(x->e, path);
}

void
hu_typed_free(hu_typed *x)
{
	if (!x)
		return;
	hu_onnx_edit_free(x->e);
	free(x->done);
	free(x);
}

hu_status
hu_typed_writes(const hu_onnx *onnx, const hu_scheme *scheme, size_t n)
{
	long long version = hu_onnx_version(onnx, "");
	hu_onnx_edit *e = NULL;

	for (size_t k = 0; k < n; k++) {
		int codes = scheme[k].kind != HU_SCHEME_FLOAT && scheme[k].activations != HU_ACTIVATIONS_NONE,
		    needs = !codes                                ? scheme[k].format == HU_BF16 ? 13 : 1
			    : scheme[k].kind == HU_SCHEME_INTEGER ? 13
								  : 19;
		if (version < needs)
			return hu_fail(HU_EUNABLE,
				"%s: its operators are of version %lld, and a file with %s needs version %d; convert "
				"the model, "
				"leave %s out of --format, or leave --out out and take the plan alone",
				onnx->path, version, scheme[k].name, needs, scheme[k].name);
	}
	HU_TRY(hu_onnx_edit_open(&e, onnx));
	hu_onnx_edit_free(e);
	return HU_OK;
}
