/* SPDX-License-Identifier: Apache-2.0
   Computes on the host what the matrix unit of an architecture answers (mma.h): the lanes exchange their
   operands, and each computes its own four outputs by the model of lib/sum/tc/tc.h. It also has stage.h's loads. */
#include "cuda/gemm/mma.h"
#include "cuda/gemm/stage.h"
#include "cuda/shim/shim_terms.h"

using shim::term;

/* The operands in a lane's words, up to four in each; it splits them once for all lanes that multiply by them. */
typedef struct piece { term a[4][4], b[2][4]; } piece;

static void
split(uint32_t word, int kind, hu_format f, hu_format inner, term *to)
{
	unsigned values = hu_mma_values(kind), bits = 32 / values;

	if (kind == HU_MMA_TF32) {
		*to = shim::term_of_tf32(word, inner);
		return;
	}
	const term *of = shim::terms_of(f, inner);
	for (unsigned v = 0; v < values; v++)
		to[v] = of[word >> v * bits & ((1u << bits) - 1)];
}

/* The operands of row or column i, whose words the lanes 4i to 4i + 3 hold: of their words number `first`, and then of
   the words `beyond` later. */
static void
gather(const unsigned char *all, unsigned i, size_t first, size_t beyond, int half, unsigned values, int32_t *m,
	int32_t *e)
{
	for (unsigned word = 0, k = 0; word < (half ? 4 : 8); word++) {
		const term *t = (const term *)(all + (i * 4 + word % 4) * HU_SHIM_PIECE + first + word / 4 * beyond);
		for (unsigned v = 0; v < values; v++, k++) {
			m[k] = t[v].m;
			e[k] = t[v].e;
		}
	}
}

extern "C" void
hu_shim_mma(
	int kind, int half, float *d, const uint32_t *a, const uint32_t *b, hu_tc_arch arch, const char *file, int line)
{
	hu_format fa = hu_format_of(hu_mma_format(kind, 0)), fb = hu_format_of(hu_mma_format(kind, 1)),
		  out = hu_format_of(kind == HU_MMA_F16_F16 ? HU_FP16 : HU_FP32);
	hu_tc t = hu_tc_of(arch, fa.id, HU_TC_MMA);
	hu_format inner_a = hu_tc_inner(t, fa), inner_b = hu_tc_inner(t, fb);
	unsigned values = hu_mma_values(kind), depth = (half ? 4 : 8) * values, lane = hu_shim_lane(), g = lane / 4;
	piece mine;
	int32_t am[2][32], ae[2][32], bm[2][32], be[2][32];

	static_assert(sizeof mine <= HU_SHIM_PIECE, "a piece has room for a lane's operands");
	HU_ASSERT(t.kind == HU_TC_BLOCK || t.kind == HU_TC_HALVES);
	for (unsigned i = 0; i < (half ? 2 : 4); i++)
		split(a[i], kind, fa, inner_a, mine.a[i]);
	for (unsigned i = 0; i < (half ? 1 : 2); i++)
		split(b[i], kind, fb, inner_b, mine.b[i]);
	const unsigned char *all = hu_shim_meet(&mine, sizeof mine, "mma", file, line);

	for (unsigned i = 0; i < 2; i++) {
		gather(all, g, offsetof(piece, a) + i * sizeof *mine.a, 2 * sizeof *mine.a, half, values, am[i], ae[i]);
		gather(all, lane % 4 * 2 + i, offsetof(piece, b), sizeof *mine.b, half, values, bm[i], be[i]);
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
