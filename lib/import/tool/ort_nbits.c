/* SPDX-License-Identifier: Apache-2.0
   onnxruntime.quantization.matmul_nbits_quantizer.MatMulNBitsQuantizer, its own algorithm in the format QOperator:
   products with constant weights become MatMulNBits, whose weights are codes with a scale for each block of a column.
 */
#include "lib/import/tool/rewriting.h"

#include "lib/base/show.h"

#include <math.h>
#include <string.h>

typedef struct packing {
	int bits, symmetric;
	size_t k, n, block, blocks; /* K x N weights, in blocks of BLOCK of a column */
} packing;

/* Scale and zero point of the COUNT weights from W on, STRIDE apart. Of a symmetric block the largest magnitude has the
   code 0, so that a scale may be negative. */
static hu_affine_scale
scale_of(const packing *p, const float *w, size_t count, size_t stride)
{
	float low = count < p->block ? 0 : *w, high = low; /* a short block is filled up with zeros */

	for (size_t i = 0; i < count; i++) {
		low = fminf(low, w[i * stride]);
		high = fmaxf(high, w[i * stride]);
	}
	int middle = 1 << (p->bits - 1), most = 2 * middle - 1;
	if (p->symmetric)
		return (hu_affine_scale){ (fabsf(high) > fabsf(low) ? high : low) / (float)-middle, middle };
	low = fminf(low, 0);
	high = fmaxf(high, 0);
	float scale = (high - low) / (float)most;
	float zero = scale != 0 ? roundf((0 - low) / scale) : 0;
	return (hu_affine_scale){ scale, (int)fminf(fmaxf(zero, 0), (float)most) };
}

void
hu_nbits_put(uint8_t *bytes, size_t i, int bits, unsigned code)
{
	size_t at = i * (size_t)bits;

	bytes[at / 8] |= (uint8_t)(code << at % 8);
}

/* Stores T's codes, scales and zero points as the tool does; IN gets their names. */
static void
store(hu_rewriting *x, const packing *p, const hu_stensor *t, const char **in)
{
	size_t bits = (size_t)p->bits, zeros = (p->blocks * bits + 7) / 8;
	const size_t d[3] = { p->n, p->blocks, p->block * bits / 8 }, z[2] = { p->n, zeros };
	const float *w = t->data;
	float most = (float)((1 << p->bits) - 1);

	in[1] = hu_onnx_rewrite_text(&x->w, "%s_Q%d", t->name, p->bits);
	in[2] = hu_onnx_rewrite_text(&x->w, "%s_scales", t->name);
	in[3] = hu_onnx_rewrite_text(&x->w, "%s_zero_points", t->name);
	if (hu_rewriting_find(x, in[1]) >= 0) /* another product has stored them */
		return;
	hu_rewriting_id(x, in[1]);
	uint8_t *codes = hu_onnx_rewrite_constant(&x->w, in[1], HU_ONNX_UINT8, 3, d);
	float *scale = hu_onnx_rewrite_constant(&x->w, in[2], HU_ONNX_FLOAT, 2, d);
	uint8_t *zero = p->symmetric ? NULL : hu_onnx_rewrite_constant(&x->w, in[3], HU_ONNX_UINT8, 2, z);
	for (size_t j = 0; j < p->n; j++)
		for (size_t b = 0; b < p->blocks; b++) {
			size_t first = b * p->block, count = p->k - first < p->block ? p->k - first : p->block;
			hu_affine_scale s = scale_of(p, w + first * p->n + j, count, p->n);
			float per = s.scale != 0 ? 1 / s.scale : 0;
			for (size_t i = 0; i < count; i++) {
				float q = roundf(w[(first + i) * p->n + j] * per + (float)s.zero);
				hu_nbits_put(codes + (j * p->blocks + b) * d[2], i, p->bits,
					(unsigned)fminf(fmaxf(q, 0), most));
			}
			scale[j * p->blocks + b] = s.scale;
			if (zero)
				hu_nbits_put(zero + j * zeros, b, p->bits, (unsigned)s.zero);
		}
}

/* The matrix that NODE multiplies by, its axes of one element before the last two left out; NULL where the tool leaves
   the node as it is. */
static const hu_stensor *
matrix(hu_rewriting *x, const hu_onnx_node *node)
{
	int v = hu_rewriting_find(x, node->in[1]);
	const hu_stensor *t = v < 0 ? NULL : x->value[v].init;

	if (!t || !hu_rewriting_floats(t) || t->rank < 2)
		return NULL;
	for (int i = 0; i < t->rank - 2; i++)
		if (t->shape[i] != 1)
			return NULL;
	return t;
}

static void
product(hu_rewriting *x, const hu_onnx_node *from, const hu_stensor *t, int bits)
{
	const hu_tool *tool = x->t;
	packing p = { .bits = bits,
		.symmetric = tool->symmetric_weights,
		.k = t->shape[t->rank - 2],
		.n = t->shape[t->rank - 1],
		.block = (size_t)tool->block };
	const char *in[4] = { from->in[0] }, *out = from->out[0],
		   *flat = t->rank > 2 ? hu_onnx_rewrite_text(&x->w, "%s_pre_reshape", out) : out;

	p.blocks = (p.k + p.block - 1) / p.block;
	store(x, &p, t, in);
	hu_onnx_rewrite_domain(&x->w, "com.microsoft", 1);
	hu_onnx_node *node = hu_onnx_rewrite_node(&x->w, "MatMulNBits", in, p.symmetric ? 3 : 4, flat);
	node->domain = "com.microsoft";
	node->name = *from->name ? hu_onnx_rewrite_text(&x->w, "%s_Q%d", from->name, bits) : "";
	hu_onnx_rewrite_attr(&x->w, node, "K", (int64_t)p.k);
	hu_onnx_rewrite_attr(&x->w, node, "N", (int64_t)p.n);
	hu_onnx_rewrite_attr(&x->w, node, "bits", bits);
	hu_onnx_rewrite_attr(&x->w, node, "block_size", (int64_t)p.block);
	if (tool->level)
		hu_onnx_rewrite_attr(&x->w, node, "accuracy_level", tool->level);
	if (flat == out)
		return;
	/* The result has as many axes as the weight at least. */
	size_t rank = (size_t)t->rank;
	const char *ones = hu_onnx_rewrite_text(&x->w, "%s_ones", out);
	int64_t *one = hu_onnx_rewrite_constant(&x->w, ones, HU_ONNX_INT64, 1, &rank);
	for (size_t i = 0; i < rank; i++)
		one[i] = 1;
	hu_onnx_rewrite_node(&x->w, "Expand", (const char *[]){ flat, ones }, 2, out);
}

static hu_status
write_all(hu_rewriting *x, int bits)
{
	for (size_t i = 0; i < x->n; i++) {
		const hu_onnx_node *node = &x->node[i];
		for (size_t k = 0; k < node->nattr; k++)
			if (node->attr[k].ngraphs)
				return hu_fail(HU_EUNABLE,
					"%s: node '%s': graphs inside nodes are not quantised by this scheme",
					x->from->path, hu_shown(node->name));
		const hu_stensor *t = hu_rewriting_wants(x, node, "MatMul") ? matrix(x, node) : NULL;
		if (t)
			product(x, node, t, bits);
		else
			hu_onnx_rewrite_copy(&x->w, node);
	}
	return HU_OK;
}

hu_status
hu_tool_ort_w8a8(hu_rewriting *x)
{
	return write_all(x, 8);
}

hu_status
hu_tool_ort_w4a8(hu_rewriting *x)
{
	return write_all(x, 4);
}
