/* SPDX-License-Identifier: Apache-2.0
   What onnxruntime 1.32's optimisations make of a product whose weights are codes of 4 or 8 bits behind a
   DequantizeLinear, and whose other operand is none: MatMulNBits with accuracy level 4, which makes codes of 8 bits of
   the other operand, too, block by block. Seen in the graphs that it saves: codes with scales for blocks of at least
   16, a power of two, of a column, for each column, or for all, which then has blocks of 32; MatMul, and Gemm without
   factors or transposition; codes of 8 bits without blocks through a Transpose, too; a weight that one node alone
   reads. In a graph of float16 the product has been given float32 before, as most nodes are, and stays so. */
#include "lib/import/tool/rewriting.h"

#include "lib/number/code.h"

#include <string.h>

/* The weights of a product of K terms and N columns, which lie transposed in the file or not. */
typedef struct coded {
	const hu_stensor *codes, *scale, *zero;
	size_t k, n, block, blocks;
	int is_transposed, is_signed, bits, for_all, is_half;
} coded;

static const hu_onnx_node *
made_by(const hu_onnx_graph *g, const char *name, const char *op)
{
	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].nout && !strcmp(g->node[i].out[0], name))
			return *g->node[i].domain || strcmp(g->node[i].op, op) ? NULL : &g->node[i];
	return NULL;
}

static size_t
readers(const hu_onnx_graph *g, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nin; k++)
			n += !strcmp(g->node[i].in[k], name);
	for (size_t i = 0; i < g->nout; i++)
		n += !strcmp(g->out[i].name, name);
	return n;
}

/* The constant NAME of the graph under way, or of a Constant node; NULL where it is none. */
static const hu_stensor *
held(const hu_onnx_graph *g, const char *name)
{
	const hu_onnx_node *c = made_by(g, name, "Constant");
	const hu_onnx_attr *a = c ? hu_onnx_attr_find(c, "value") : NULL;

	for (size_t i = 0; i < g->ninit; i++)
		if (!strcmp(g->init[i].name, name))
			return &g->init[i];
	return a ? a->t : NULL;
}

/* 1 where there are as many scales as DEQUANTIZE's attributes say, along an axis that the runtime takes. */
static int
is_scaled(coded *w, const hu_onnx_node *dequantize)
{
	int64_t block = hu_onnx_int(dequantize, "block_size", 0), axis = hu_onnx_int(dequantize, "axis", 1);

	axis += axis < 0 ? 2 : 0;
	w->block = block > 0 ? (size_t)block : 32;
	w->blocks = (w->k + w->block - 1) / w->block;
	w->for_all = w->scale->count == 1 && block == 0;
	if (w->for_all)
		return 1;
	if (block > 0)
		return axis == 0 && !w->is_transposed && block >= 16 && !(block & (block - 1)) &&
		       w->scale->count == w->blocks * w->n;
	return w->scale->rank == 1 && axis == !w->is_transposed && w->scale->count == w->n;
}

static int
find(coded *w, const hu_onnx_graph *g, const char *name)
{
	const hu_onnx_node *transpose = made_by(g, name, "Transpose"),
			   *d = made_by(g, transpose ? transpose->in[0] : name, "DequantizeLinear");

	*w = (coded){ .is_transposed = transpose != NULL };
	if (!d || d->nin < 2 || readers(g, name) != 1 || readers(g, d->out[0]) != 1)
		return 0;
	w->codes = held(g, d->in[0]);
	w->scale = held(g, d->in[1]);
	w->zero = d->nin > 2 && *d->in[2] ? held(g, d->in[2]) : NULL;
	int of_scale = w->scale ? hu_onnx_type_of(w->scale->dtype) : 0;
	w->is_half = of_scale == HU_ONNX_FLOAT16;
	if (!w->codes || !w->scale || w->codes->rank != 2 || (of_scale != HU_ONNX_FLOAT && !w->is_half) ||
		(d->nin > 2 && *d->in[2] && (!w->zero || w->zero->count != w->scale->count)))
		return 0;
	int type = hu_onnx_type_of(w->codes->dtype);
	w->bits = type == HU_ONNX_INT4 || type == HU_ONNX_UINT4 ? 4 : 8;
	w->is_signed = type == HU_ONNX_INT4 || type == HU_ONNX_INT8;
	w->k = w->codes->shape[w->is_transposed];
	w->n = w->codes->shape[!w->is_transposed];
	if (!w->is_signed && type != HU_ONNX_UINT4 && type != HU_ONNX_UINT8)
		return 0;
	return is_scaled(w, d) && (!w->is_transposed || w->bits == 8);
}

/* Code I of T without a sign: one with a sign is moved up by half of the range. */
static unsigned
code_of(const coded *w, const hu_stensor *t, size_t i)
{
	unsigned most = (1u << w->bits) - 1, half = w->is_signed ? 1u << (w->bits - 1) : 0;

	return ((((const uint8_t *)t->data)[i * (size_t)w->bits / 8] >> (i * (size_t)w->bits % 8)) + half) & most;
}

static float
scale_at(const coded *w, const hu_stensor *scale, size_t i)
{
	return w->is_half ? (float)hu_decode(((const uint16_t *)scale->data)[i], hu_format_of(HU_FP16))
			  : ((const float *)scale->data)[i];
}

/* Stores the weights as MatMulNBits has them; IN gets their names. */
static void
store(hu_onnx_rewrite *w, const coded *c, const char *stem, const char **in)
{
	size_t bits = (size_t)c->bits, zeros = (c->blocks * bits + 7) / 8;
	const size_t d[3] = { c->n, c->blocks, c->block * bits / 8 }, z[2] = { c->n, zeros };

	in[1] = hu_onnx_rewrite_text(w, "%s_nbits", stem);
	in[2] = hu_onnx_rewrite_text(w, "%s_nbits_scales", stem);
	in[3] = hu_onnx_rewrite_text(w, "%s_nbits_zero_points", stem);
	coded from = *c; /* the lists of constants may move below; what they describe does not */
	hu_stensor codes = *c->codes, scale = *c->scale, zero = c->zero ? *c->zero : (hu_stensor){ 0 };
	uint8_t *code = hu_onnx_rewrite_constant(w, in[1], HU_ONNX_UINT8, 3, d);
	float *s = hu_onnx_rewrite_constant(w, in[2], HU_ONNX_FLOAT, 2, d);
	uint8_t *none = hu_onnx_rewrite_constant(w, in[3], HU_ONNX_UINT8, 2, z);
	for (size_t j = 0; j < from.n; j++) {
		for (size_t k = 0; k < from.k; k++) {
			size_t at = from.is_transposed ? j * from.k + k : k * from.n + j;
			hu_nbits_put(code + (j * from.blocks + k / from.block) * d[2], k % from.block, from.bits,
				code_of(&from, &codes, at));
		}
		for (size_t b = 0; b < from.blocks; b++) {
			size_t at = from.for_all ? 0 : scale.count == from.n && scale.rank == 1 ? j : b * from.n + j;
			s[j * from.blocks + b] = scale_at(&from, &scale, at);
			hu_nbits_put(none + j * zeros, b, from.bits,
				c->zero ? code_of(&from, &zero, at) : from.is_signed ? 1u << (from.bits - 1) : 0);
		}
	}
}

void
hu_ort_fuse_nbits(hu_onnx_rewrite *w)
{
	const hu_onnx_graph *g = w->to->graph;

	for (size_t i = 0; i < g->nnode; i++) {
		hu_onnx_node *node = &w->to->graph->node[i];
		int gemm = !strcmp(node->op, "Gemm");
		coded c;
		if (*node->domain || node->nin < 2 || (!gemm && strcmp(node->op, "MatMul")) ||
			made_by(g, node->in[0], "DequantizeLinear") || !find(&c, g, node->in[1]) ||
			(gemm && (c.is_transposed || hu_onnx_int(node, "transA", 0) || hu_onnx_int(node, "transB", 0) ||
					 hu_onnx_float(node, "alpha", 1) != 1 || hu_onnx_float(node, "beta", 1) != 1)))
			continue;
		const char **in = hu_onnx_rewrite_room(w, 6, sizeof *in);
		in[0] = node->in[0];
		store(w, &c, node->out[0], in);
		in[4] = "";
		in[5] = node->nin > 2 ? node->in[2] : "";
		node->op = "MatMulNBits";
		node->domain = "com.microsoft";
		node->in = in;
		node->nin = *in[5] ? 6 : 4;
		node->attr = NULL;
		node->nattr = 0;
		hu_onnx_rewrite_domain(w, "com.microsoft", 1);
		hu_onnx_rewrite_attr(w, node, "K", (int64_t)c.k);
		hu_onnx_rewrite_attr(w, node, "N", (int64_t)c.n);
		hu_onnx_rewrite_attr(w, node, "bits", c.bits);
		hu_onnx_rewrite_attr(w, node, "block_size", (int64_t)c.block);
		hu_onnx_rewrite_attr(w, node, "accuracy_level", 4);
		if (c.is_half)
			hu_onnx_rewrite_attr(w, node, "widened", 1);
	}
}
