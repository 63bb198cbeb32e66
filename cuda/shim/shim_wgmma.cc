/* SPDX-License-Identifier: Apache-2.0
   Computes on the host what a warpgroup's product answers (wgmma.h). Both operands are in shared memory, so each thread
   computes its own outputs by the model of lib/sum/tc/tc.h. */
#include "cuda/gemm/wgmma.h"
#include "cuda/shim/shim_terms.h"

/* An operand of a warpgroup's product: its format, the one that it is split in, and the terms of all codes, NULL for
   tf32. */
typedef struct operand { hu_format f, inner; const shim::term *of; } operand;

static operand
operand_of(hu_format f, hu_tc t)
{
	hu_format inner = hu_tc_inner(t, f);

	return { f, inner, f.id == HU_TF32 ? NULL : shim::terms_of(f, inner) };
}

/* Value k of row or column i, split to m and e. */
static void
split(int32_t *to_m, int32_t *to_e, const hu_matrix *m, int across, unsigned i, unsigned k, const operand *o)
{
	unsigned bytes = o->of ? o->f.bits / 8 : 4; /* tf32 is stored as fp32 */
	size_t at = (size_t)m->at + (across ? i / 64 * m->far + i % 64 * 2 + k / 8 * m->beside + k % 8 * 128
					    : i / 8 * m->beside + i % 8 * 128 + k * bytes);
	uint32_t word;
	uint16_t half;
	shim::term t;

	at ^= (at >> 7 & 7) << 4;
	if (!o->of) {
		memcpy(&word, (const void *)at, sizeof word);
		t = shim::term_of_tf32(word, o->inner);
	} else if (bytes == 2) {
		memcpy(&half, (const void *)at, sizeof half);
		t = o->of[half];
	} else {
		t = o->of[*(const uint8_t *)at];
	}
	*to_m = t.m;
	*to_e = t.e;
}

static void
run(float *d, int n, int kind, int across_a, int across_b, const hu_matrix *a, const hu_matrix *b, hu_tc_arch arch)
{
	hu_format fa = hu_format_of(hu_mma_format(kind, 0)), fb = hu_format_of(hu_mma_format(kind, 1)),
		  out = hu_format_of(HU_FP32);
	hu_tc t = hu_tc_of(arch, fa.id, HU_TC_WGMMA);
	operand of_a = operand_of(fa, t), of_b = operand_of(fb, t);
	unsigned thread = threadIdx.x % 128, row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2,
		 depth = fa.bits == 8 ? 32 : fa.id == HU_TF32 ? 8 : 16;
	int32_t am[2][32], ae[2][32], bm[32], be[32];

	for (unsigned k = 0; k < depth; k++)
		for (unsigned h = 0; h < 2; h++)
			split(&am[h][k], &ae[h][k], a, across_a, row + 8 * h, k, &of_a);
	for (unsigned j = 0; j < (unsigned)n / 4; j++) { /* two columns of each eight */
		for (unsigned k = 0; k < depth; k++)
			split(&bm[k], &be[k], b, across_b, j / 2 * 8 + column + j % 2, k, &of_b);
		for (unsigned h = 0; h < 2; h++) {
			float *x = d + j / 2 * 4 + h * 2 + j % 2;
			*x = (float)hu_tc_sum(am[h], ae[h], bm, be, depth, fa.p + fb.p - 2, (double)*x, t, out, NULL);
		}
	}
}

extern "C" void
hu_shim_wgmma_wait(hu_wgmmas *c, float *d, unsigned groups)
{
	unsigned left = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (groups == ~0u || c->under_way[i].group + groups < c->group)
			run(d, c->under_way[i].n, c->under_way[i].kind, c->under_way[i].across_a,
				c->under_way[i].across_b,
				&c->under_way[i].a, &c->under_way[i].b, (hu_tc_arch)c->under_way[i].arch);
		else
			c->under_way[left++] = c->under_way[i];
	c->n = left;
}

extern "C" void
hu_shim_wgmma(
	hu_wgmmas *c, float *d, int n, int kind, int across_a, int across_b, hu_matrix a, hu_matrix b, hu_tc_arch arch)
{
	HU_ASSERT((size_t)a.at % 16 == 0 && (size_t)b.at % 16 == 0 && kind != HU_MMA_F16_F16 &&
		  (kind < HU_MMA_TF32 || !(across_a | across_b)));
	if (c->n == sizeof c->under_way / sizeof *c->under_way ||
		hu_shim_coin()) { /* runs all that were issued before, then this one */
		hu_shim_wgmma_wait(c, d, ~0u);
		run(d, n, kind, across_a, across_b, &a, &b, arch);
		return;
	}
	c->under_way[c->n++] = { a, b, n, kind, across_a, across_b, (int)arch, c->group };
}
