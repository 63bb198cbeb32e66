/* SPDX-License-Identifier: Apache-2.0
   The order in which ONNX Runtime's CPU adds float32 products: its kernels (MLAS) add terms one after another by fma,
   as products here do, but in chunks, whose sums they add to one another. */
#include "lib/import/importing.h"

#include <string.h>

enum { TERMS = 128, COLUMNS = 128, LEAST = 16, PACKED = 256 };

/* Terms of a chunk where a product has so many COLUMNS and TERMS: a block of B has 128 of each, and more terms where
   there are few columns. */
static size_t
chunk_of(size_t columns, size_t terms)
{
	size_t chunk = TERMS;

	for (size_t width = COLUMNS; columns < terms && width > LEAST && width / 2 >= columns; width /= 2)
		chunk *= 2;
	return chunk;
}

/* 1 where input I of the node is one of the file's constants, which the runtime packs beforehand. */
static int
is_packed(const hu_importing *c, size_t i)
{
	if (i >= c->own->nin)
		return 0;
	for (size_t k = 0; k < c->m->n; k++)
		if (c->m->tensor[k]->name && !strcmp(c->m->tensor[k]->name, c->own->in[i]))
			return c->m->tensor[k]->rank == 2;
	return 0;
}

int
hu_ort_product(hu_importing *c, int t, size_t rows, size_t columns, size_t terms)
{
	int one = strcmp(c->own->op, "Conv") && is_packed(c, 1);
	size_t chunk = one ? PACKED : chunk_of(columns, terms);

	/* Where B is not packed a single row or column has kernels of its own. */
	if (t < 0 || !c->m->ort || c->pairs || c->constant[t].data || terms <= chunk ||
		(!one && (rows == 1 || columns == 1)))
		return t;
	hu_call *call = &c->p->c[c->p->nc - 1];
	if (call->op->cls != HU_CLASS_GEMM || c->p->t[call->out[0]].format != HU_FP32)
		return t;
	call->sum.id = HU_SUM_CHUNK;
	call->sum.n = (int)chunk;
	return t;
}
