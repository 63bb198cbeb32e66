/* SPDX-License-Identifier: Apache-2.0
   What the matrix unit of an architecture answers (mma.h), on the host: the lanes hand their
   words in, and each computes its own four outputs by the model of lib/sum/tc.h. */
#include "cuda/mma.h"

extern "C" {
#include "lib/number/code.h"
}

typedef struct piece { uint32_t a[4], b[2]; } piece;

/* Value K of row or column I: words W of the lanes that hold it. */
static double
value(const unsigned char *all, int kind, hu_format f, unsigned i, unsigned k, int column)
{
	unsigned values = hu_mma_values(kind), word = k / values, lane = i % 8 * 4 + word % 4;
	piece p;

	memcpy(&p, all + lane * HU_SHIM_PIECE, sizeof p);
	uint32_t u = column ? p.b[word / 4] : p.a[word / 4 * 2 + i / 8];
	if (kind == HU_MMA_TF32)
		return (double)hu_from_bits32(hu_tc_tf32(u));
	return hu_decode(u >> (k % values * 16) & 0xffff, f);
}

extern "C" void
hu_shim_mma(int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, const char *file, int line)
{
	hu_format_id in = kind == HU_MMA_TF32 ? HU_TF32 : kind == HU_MMA_BF16 ? HU_BF16 : HU_FP16;
	hu_format f = hu_format_of(in), out = hu_format_of(kind == HU_MMA_F16_F16 ? HU_FP16 : HU_FP32);
	hu_tc t = hu_tc_of(arch, in, HU_TC_MMA);
	unsigned depth = (half ? 4 : 8) * hu_mma_values(kind), lane = hu_shim_lane(), g = lane / 4;
	piece mine = { { a[0], a[1], half ? 0 : a[2], half ? 0 : a[3] }, { b[0], half ? 0 : b[1] } };
	const unsigned char *all = hu_shim_meet(&mine, sizeof mine, "mma", file, line);
	int32_t am[2][16], ae[2][16], bm[2][16], be[2][16];

	for (unsigned k = 0; k < depth; k++)
		for (unsigned i = 0; i < 2; i++) {
			hu_tc_split(value(all, kind, f, g + 8 * i, k, 0), hu_tc_inner(t, f), &am[i][k], &ae[i][k]);
			hu_tc_split(value(all, kind, f, lane % 4 * 2 + i, k, 1), hu_tc_inner(t, f), &bm[i][k], &be[i][k]);
		}
	for (unsigned i = 0; i < 4; i++)
		d[i] = (float)hu_tc_sum(am[i / 2], ae[i / 2], bm[i % 2], be[i % 2], depth, 2 * f.p - 2, (double)d[i], t, out, NULL);
}
