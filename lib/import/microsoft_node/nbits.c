/* SPDX-License-Identifier: Apache-2.0
   Products and tables of packed codes of 2 to 8 bits, with a scale for each block of a row. Constants become what their
   codes are worth; with accuracy level 4 a product's rows become codes of 8 bits too, block by block, as ONNX Runtime
   has it. */
#include "lib/import/microsoft_node/inner.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Code K of a row of bytes that packs codes of BITS, the first one in the low bits. */
static double
code_at(const double *bytes, size_t k, int bits)
{
	unsigned byte = (unsigned)bytes[k * (size_t)bits / 8];

	return byte >> (k * (size_t)bits % 8) & ((1u << bits) - 1);
}

/* The weights of MatMulNBits in rows of WIDE elements, the first K of which are (code - zero point) times the block's
   scale and the others 0. NULL and a failure where something does not fit. */
static float *
weights(hu_importing *c, size_t n, size_t k, size_t wide, int bits, size_t block)
{
	hu_value *codes = hu_import_in(c, 1), *scale = hu_import_in(c, 2), *zero = hu_import_in(c, 3),
		 *group = hu_import_in(c, 4);
	size_t blocks = (k + block - 1) / block, bytes = block * (size_t)bits / 8,
	       packed = (blocks * (size_t)bits + 7) / 8;

	if (!codes || !scale || codes->n != n * blocks * bytes || scale->n != n * blocks ||
		(zero && zero->n != n * packed && zero->n != n * blocks) || (group && group->n < k)) {
		hu_import_fail(c, HU_EFILE, "its codes, scales and zero points do not fit N, K, bits and block_size");
		return NULL;
	}
	double *q = hu_import_constant(c, codes), *s = hu_import_constant(c, scale),
	       *z = zero ? hu_import_constant(c, zero) : NULL, *g = group ? hu_import_constant(c, group) : NULL;
	float *w = c->st == HU_OK ? hu_alloc(n * wide * sizeof *w + 1) : NULL;
	int whole = zero && hu_import_whole(zero->type);
	for (size_t i = 0; w && i < n * wide; i++) {
		size_t row = i / wide, at = i % wide, b = at >= k ? blocks : g ? (size_t)g[at] : at / block;
		w[i] = 0;
		if (b >= blocks)
			continue;
		double code = code_at(q + (row * blocks + at / block) * bytes, at % block, bits),
		       none = 1 << (bits - 1);
		if (z)
			none = whole ? code_at(z + row * packed, b, bits) : z[row * blocks + b];
		w[i] = (float)(code - none) * (float)s[row * blocks + b];
	}
	free(q);
	free(s);
	free(z);
	free(g);
	if (!w && c->st == HU_OK)
		hu_import_fail(c, HU_ENOMEM, "no memory for %zu weights", n * wide);
	return w;
}

/* T, of rows of K elements, as codes of 8 bits times their scales: of each block the largest magnitude is 127. Rows
   become WIDE elements, whole blocks of them. */
static int
coded(hu_importing *c, int t, size_t rows, size_t k, size_t wide, size_t block)
{
	size_t blocks = wide / block;

	if (k < wide) {
		hu_axes all = hu_axes_same(hu_shape2(rows, k));
		all.s = hu_shape2(rows, wide);
		t = hu_import_move(c, t, &all);
	}
	t = hu_import_flat(c, t, hu_shape2(rows * blocks, block));
	int a = hu_import_call1(c, "abs", t);
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	int most = hu_import_call1(c, "reduce_max", a), s = hu_import_by(c, "div", most, HU_ONNX_FLOAT, 127);
	if (s < 0)
		return -1;
	hu_shape all = c->p->t[t].shape;
	int one = hu_import_like(c, s, HU_ONNX_FLOAT, 1),
	    safe = hu_import_call(c, "where", HU_FP32, (int[]){ s, s, one }, 3),
	    range = hu_import_like(c, s, HU_ONNX_FLOAT, 127);
	most = hu_import_call(c, "where", HU_FP32, (int[]){ s, most, range }, 3);
	/* 127 / amax is rounded itself, which decides ties */
	int by = hu_import_expand(c, hu_import_call2(c, "div", range, most), all);
	safe = hu_import_expand(c, safe, all);
	t = hu_import_call1(c, "round", hu_import_call2(c, "mul", t, by));
	if (t < 0 || safe < 0)
		return -1;
	t = hu_import_call(c, "cast", HU_FP64, &t, 1);
	safe = hu_import_call(c, "cast", HU_FP64, &safe, 1);
	t = hu_import_call2(c, "mul", t, safe);
	return hu_import_flat(c, t, hu_shape2(rows, wide));
}

void
hu_node_matmul_nbits(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *bias = hu_import_in(c, 5);
	int64_t n = hu_import_int(c, "N", 0), k = hu_import_int(c, "K", 0), bits = hu_import_int(c, "bits", 4),
		block = hu_import_int(c, "block_size", 0), level = hu_import_int(c, "accuracy_level", 0);
	size_t d[HU_RANK];

	hu_import_int(c, "widened", 0); /* typing.c has read it */
	if (!v)
		return;
	if (n < 1 || k < 1 || block < 1 || block * bits % 8 || (bits != 2 && bits != 4 && bits != 8) || !v->rank ||
		v->d[v->rank - 1] != (size_t)k) {
		hu_import_fail(c, HU_EUNABLE, "N %lld, K %lld, bits %lld and block_size %lld do not fit its operands",
			(long long)n, (long long)k, (long long)bits, (long long)block);
		return;
	}
	/* The last block of a row may be short, and its scale is that of the elements that are there. */
	size_t wide = (size_t)(level == 4 ? (k + block - 1) / block * block : k);
	float *w = weights(c, (size_t)n, (size_t)k, wide, (int)bits, (size_t)block);
	if (!w)
		return;
	int y = hu_import_tensor(c, c->node->in[1], HU_FP32, hu_shape2((size_t)n, wide), HU_WEIGHT, 1);
	if (y >= 0)
		memcpy(c->constant[y].data, w, (size_t)n * wide * sizeof *w);
	free(w);
	int t = hu_import_flat(c, hu_import_plain(c, v), hu_shape2(v->n / (size_t)k, (size_t)k));
	if (level == 4) { /* sums of whole numbers within a block, of which few digits are lost */
		t = coded(c, t, v->n / (size_t)k, (size_t)k, wide, (size_t)block);
		y = y < 0 ? -1 : hu_import_call(c, "cast", HU_FP64, &y, 1);
	}
	hu_import_set(c, "tb", 1);
	t = hu_import_call2(c, "matmul", t, y);
	if (level == 4 && t >= 0)
		t = hu_import_call(c, "cast", HU_FP32, &t, 1);
	if (bias)
		t = hu_import_call2(c, "bias", t, hu_import_plain(c, bias));
	memcpy(d, v->d, sizeof d);
	d[v->rank - 1] = (size_t)n;
	hu_import_out(c, 0, v->type, v->rank, d)->plain = hu_import_flat(c, t, hu_import_shape(v->rank, d));
}

/* Rows of a table of codes, each block of one axis of which has a scale. Without zero points these are 0, but of codes
   packed in bytes the middle of their range. */
void
hu_node_gather_nbits(hu_importing *c)
{
	hu_value *data = hu_import_in(c, 0), *at = hu_import_in(c, 1), *scale = hu_import_in(c, 2),
		 *zero = hu_import_in(c, 3);
	int64_t bits = hu_import_int(c, "bits", 4), block = hu_import_int(c, "block_size", 128);
	int packed = data && data->type == HU_ONNX_UINT8, r = data ? data->rank : 0;
	size_t d[HU_RANK], of[HU_RANK], n = 1;

	if (!data || !at || !scale)
		return;
	int axis = hu_import_axis(c, (double)hu_import_int(c, "quantize_axis", 1), r);
	if (axis < 0 || block < 1 || scale->rank != r || (packed && bits != 4 && bits != 8)) {
		hu_import_fail(c, HU_EFILE, "its codes and scales do not fit each other");
		return;
	}
	memcpy(d, data->d, sizeof d);
	if (packed)
		d[r - 1] *= 8 / (size_t)bits;
	for (int i = 0; i < r; i++) {
		n *= d[i];
		if (scale->d[i] != (i == axis ? (d[i] + (size_t)block - 1) / (size_t)block : d[i])) {
			hu_import_fail(c, HU_EFILE, "its scales do not fit blocks of %lld", (long long)block);
			return;
		}
	}
	double *q = hu_import_constant(c, data), *s = hu_import_constant(c, scale),
	       *z = zero ? hu_import_constant(c, zero) : NULL;
	int t = c->st == HU_OK ? hu_import_tensor(c, c->node->in[0], HU_FP32, hu_import_shape(r, d), HU_WEIGHT, 1) : -1;
	float *w = t < 0 ? NULL : c->constant[t].data;
	for (size_t i = 0; w && i < n; i++) {
		size_t left = i, k = 0;
		for (int j = r - 1; j >= 0; j--) {
			of[j] = left % d[j];
			left /= d[j];
		}
		for (int j = 0; j < r; j++)
			k = k * scale->d[j] + (j == axis ? of[j] / (size_t)block : of[j]);
		size_t columns = scale->d[r - 1], row = k / columns, bytes = (columns * (size_t)bits + 7) / 8;
		double code = packed ? code_at(q, i, (int)bits) : q[i], none = packed ? 1 << (bits - 1) : 0;
		if (z)
			none = packed && zero->n != scale->n ? code_at(z + row * bytes, k % columns, (int)bits) : z[k];
		w[i] = (float)(code - none) * (float)s[k];
	}
	free(q);
	free(s);
	free(z);
	hu_inner x;
	hu_inner_begin(&x, c);
	hu_value *table[2] = { hu_inner_value(&x, scale->type, r, d, t), at };
	hu_onnx_attr attr = { .name = "axis", .has_i = 1, .i = hu_import_int(c, "gather_axis", 0) };
	hu_inner_put(&x, 0, table[0] ? hu_inner_node(&x, hu_node_gather, "Gather", table, 2, &attr, 1) : NULL);
	hu_inner_end(&x);
}
