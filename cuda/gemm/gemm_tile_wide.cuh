/* SPDX-License-Identifier: Apache-2.0
   The tiled product in fp32 for large operands whose groups of four elements are contiguous. A block of 256 threads
   computes 128 x 128 outputs of one part, a thread 8 x 8 in registers, with two buffers of 8 values of k: while one is
   multiplied, the next is loaded through registers and decoded to floats. There is one fma per term and k ascends, so
   the bits are those of gemm_tile.cuh. */
#ifndef HU_CUDA_GEMM_TILE_WIDE_CUH
#define HU_CUDA_GEMM_TILE_WIDE_CUH

#include "cuda/gemm/gemm.cuh"

enum {
	HU_BROAD = 128,
	HU_BROAD_K = 8,
	HU_BROAD_LINE = HU_BROAD + 4,
	HU_BROAD_THREADS = 256,
	HU_BROAD_STAGE = HU_BROAD_K * HU_BROAD_LINE
};

/* Loads four elements from at on. */
HU_DEVICE void
hu_broad_load(float *v, const hu_store_operand *o, uint32_t at)
{
	if (at == HU_OUTSIDE) {
		HU_UNROLL
		for (int i = 0; i < 4; i++)
			v[i] = 0;
	} else if (o->kind == HU_KIND_F32) {
		hu_load16(v, (const float *)o->data + at);
	} else if (o->kind == HU_KIND_CODE16) {
		uint16_t c[4];
		hu_load8(c, (const uint16_t *)o->data + at);
		HU_UNROLL
		for (int i = 0; i < 4; i++)
			v[i] = hu_code_value(&o->code, c[i]);
	} else {
		HU_UNROLL
		for (int i = 0; i < 4; i++)
			v[i] = hu_load_f32(o, at + (uint32_t)i);
	}
}

/* Each thread loads a group of each operand: along k, four values of k of one output; across k, four outputs at one
   k. */
template <class M, int OF_B>
HU_DEVICE void
hu_broad_fetch(float *v, const hu_gemm *g, int along, uint32_t row0, uint32_t k0)
{
	uint32_t j = threadIdx.x, row = row0 + (along ? j / 2 : j % 32 * 4), k = k0 + (along ? j % 2 * 4 : j / 32);
	uint32_t at = OF_B ? M::b(g, k, row) : M::a(g, row, k);

	hu_broad_load(v, OF_B ? &g->b : &g->a, row < (OF_B ? g->n : g->m) ? at : HU_OUTSIDE);
}

HU_DEVICE void
hu_broad_stage(float *to, const float *v, int along)
{
	uint32_t j = threadIdx.x;

	if (along)
		HU_UNROLL
		for (uint32_t i = 0; i < 4; i++)
			to[(j % 2 * 4 + i) * HU_BROAD_LINE + j / 2] = v[i];
	else
		hu_store16(to + j / 32 * HU_BROAD_LINE + j % 32 * 4, v);
}

template <class M>
HU_KERNEL_FOR(HU_BROAD_THREADS, 2)
hu_broad_kernel(HU_PARAM hu_gemm g, float *sums)
{
	HU_SHARED_ALIGNED(float, room, 64 * (HU_BROAD + 8), 16);
	hu_gemm_tile_at here = hu_gemm_tile_here(&g, HU_BROAD, HU_BROAD);
	uint32_t m0 = here.m0, n0 = here.n0, p = here.part;
	uint32_t first = p * g.part, end = g.k - first > g.part ? first + g.part : g.k, at = 0;
	uint32_t row = threadIdx.x / 16 * 4, col = threadIdx.x % 16 * 4;
	int a_along = M::a_along_k(&g), b_along = M::b_along_k(&g);
	float acc[8][8], va[4], vb[4];

	HU_UNROLL
	for (int i = 0; i < 64; i++)
		acc[i / 8][i % 8] = 0;
	hu_broad_fetch<M, 0>(va, &g, a_along, m0, first);
	hu_broad_fetch<M, 1>(vb, &g, b_along, n0, first);
	hu_broad_stage(room, va, a_along);
	hu_broad_stage(room + HU_BROAD_STAGE, vb, b_along);
	HU_SYNC();
	HU_ONCE
	for (uint32_t k0 = first; k0 < end; k0 += HU_BROAD_K) {
		const float *sa = room + at * 2 * HU_BROAD_STAGE, *sb = sa + HU_BROAD_STAGE;
		float *to = room + (1 - at) * 2 * HU_BROAD_STAGE;
		int more = k0 + HU_BROAD_K < end;
		if (more) {
			hu_broad_fetch<M, 0>(va, &g, a_along, m0, k0 + HU_BROAD_K);
			hu_broad_fetch<M, 1>(vb, &g, b_along, n0, k0 + HU_BROAD_K);
		}
		HU_UNROLL
		for (uint32_t k = 0; k < HU_BROAD_K; k++) {
			float a[8], b[8];
			hu_load16(a, sa + k * HU_BROAD_LINE + row);
			hu_load16(a + 4, sa + k * HU_BROAD_LINE + 64 + row);
			hu_load16(b, sb + k * HU_BROAD_LINE + col);
			hu_load16(b + 4, sb + k * HU_BROAD_LINE + 64 + col);
			HU_UNROLL
			for (int i = 0; i < 64; i++)
				acc[i / 8][i % 8] = fmaf(a[i / 8], b[i % 8], acc[i / 8][i % 8]);
		}
		if (more) {
			hu_broad_stage(to, va, a_along);
			hu_broad_stage(to + HU_BROAD_STAGE, vb, b_along);
		}
		HU_SYNC(); /* the next stage is there, and no thread reads this one any more */
		at = 1 - at;
	}
	HU_ONCE
	for (uint32_t h = 0; h < 2;
		h++) { /* 64 rows at a time, so that whole lines are written and the code is compiled once */
		enum { LINE = HU_BROAD + 8 };
		if (h)
			HU_SYNC();
		HU_UNROLL
		for (uint32_t i = 0; i < 4; i++)
			HU_UNROLL
			for (uint32_t j = 0; j < 8; j++)
				room[(row + i) * LINE + col + j / 4 * 64 + j % 4] = h ? acc[4 + i][j] : acc[i][j];
		HU_SYNC();
		HU_ONCE
		for (uint32_t i = threadIdx.x; i < 64 * HU_BROAD / 2; i += HU_BROAD_THREADS) {
			uint32_t m = m0 + h * 64 + i / (HU_BROAD / 2), n = n0 + i % (HU_BROAD / 2) * 2;
			if (m < g.m && n < g.n)
				hu_gemm_put2(&g, sums ? sums + (size_t)p * g.m * g.n : NULL, m, n,
					room + i / (HU_BROAD / 2) * LINE + (n - n0));
		}
	}
}

/* Returns 1 if operands come in groups of four, parts in multiples of eight values of k, and the outputs fill enough of
   a tile. */
template <class M>
static int
hu_broad_serves(const hu_gemm *g)
{
	if (g->m < 64 || g->n < 64 || g->k % HU_BROAD_K || (g->parts > 1 && g->part % HU_BROAD_K))
		return 0;
	return M::a_groups(g, 4) && M::b_groups(g, 4) && (size_t)g->a.data % 16 == 0 && (size_t)g->b.data % 16 == 0;
}

template <class M>
static hu_status
hu_broad_go(hu_work *w, const hu_gemm *g)
{
	float *sums = g->parts > 1 ? (float *)hu_work_take(w, (size_t)g->parts * g->m * g->n * sizeof *sums) : NULL;

	HU_GEMM_SAY(w, "simt fp32, 128x128");
	HU_TRY(HU_GO(w, hu_broad_kernel<M>, hu_gemm_grid(g, HU_BROAD, HU_BROAD), HU_BROAD_THREADS, 0, *g, sums));
	return sums ? HU_SIDE(gemm_parts)(w, g, sums, 0, HU_FP32) : HU_OK;
}
#endif
