/* SPDX-License-Identifier: Apache-2.0
   Computes on the host what the matrix unit of an architecture answers (mma.h): the lanes exchange their words, and
   each computes its own four outputs by the model of lib/sum/tc/tc.h. It also has stage.h's loads. */
#include "cuda/gemm/mma.h"
#include "cuda/gemm/stage.h"

extern "C" {
#include "lib/number/code.h"
}

typedef struct piece { uint32_t a[4], b[2]; } piece;

/* Value k of row or column i, from the words of the lanes that hold it. */
static double
value(const unsigned char *all, int kind, hu_format f, unsigned i, unsigned k, int column)
{
	unsigned values = hu_mma_values(kind), word = k / values, lane = i % 8 * 4 + word % 4;
	piece p;

	memcpy(&p, all + lane * HU_SHIM_PIECE, sizeof p);
	uint32_t u = column ? p.b[word / 4] : p.a[word / 4 * 2 + i / 8];
	if (kind == HU_MMA_TF32)
		return (double)hu_from_bits32(hu_tc_tf32(u));
	return hu_decode(u >> (k % values * (32 / values)) & (values == 4 ? 0xff : 0xffff), f);
}

extern "C" void
hu_shim_mma(
	int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, const char *file, int line)
{
	hu_format fa = hu_format_of(hu_mma_format(kind, 0)), fb = hu_format_of(hu_mma_format(kind, 1)),
		  out = hu_format_of(kind == HU_MMA_F16_F16 ? HU_FP16 : HU_FP32);
	hu_tc t = hu_tc_of(arch, fa.id, HU_TC_MMA);
	hu_format inner_a = hu_tc_inner(t, fa), inner_b = hu_tc_inner(t, fb);
	unsigned depth = (half ? 4 : 8) * hu_mma_values(kind), lane = hu_shim_lane(), g = lane / 4;
	piece mine = { { a[0], a[1], half ? 0 : a[2], half ? 0 : a[3] }, { b[0], half ? 0 : b[1] } };
	const unsigned char *all = hu_shim_meet(&mine, sizeof mine, "mma", file, line);
	int32_t am[2][32], ae[2][32], bm[2][32], be[2][32];

	HU_ASSERT(t.kind == HU_TC_BLOCK || t.kind == HU_TC_HALVES);

	for (unsigned k = 0; k < depth; k++)
		for (unsigned i = 0; i < 2; i++) {
			hu_tc_split(value(all, kind, fa, g + 8 * i, k, 0), inner_a, &am[i][k], &ae[i][k]);
			hu_tc_split(value(all, kind, fb, lane % 4 * 2 + i, k, 1), inner_b, &bm[i][k], &be[i][k]);
		}
	for (unsigned i = 0; i < 4; i++)
		d[i] = (float)hu_tc_sum(am[i / 2], ae[i / 2], bm[i % 2], be[i % 2], depth, inner_a.p + inner_b.p - 2,
			(double)d[i], t, out, NULL);
}

extern "C" void
hu_shim_ldmatrix(uint32_t *r, const void *row, int turned, const char *file, int line)
{
	const unsigned char *all = hu_shim_meet(&row, sizeof row, "ldmatrix", file, line), *at;
	unsigned lane = hu_shim_lane();

	HU_ASSERT((size_t)row % 16 == 0);
	for (unsigned i = 0; i < 4; i++) {
		uint16_t e[2];
		for (unsigned j = 0; j < 2; j++) {
			unsigned of_row = turned ? lane % 4 * 2 + j : lane / 4,
				 of_column = turned ? lane / 4 : lane % 4 * 2 + j;
			memcpy(&at, all + (i * 8 + of_row) * HU_SHIM_PIECE, sizeof at);
			memcpy(&e[j], at + of_column * 2, sizeof e[j]);
		}
		r[i] = e[0] | (uint32_t)e[1] << 16;
	}
}
