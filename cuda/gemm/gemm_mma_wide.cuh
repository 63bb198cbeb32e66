/* SPDX-License-Identifier: Apache-2.0
   The matrix units' product for large operands whose groups of 16 bytes are contiguous. A block of 8 warps computes 128
   x 128 outputs of one part, a warp 64 x 32, with three buffers of 16 words of k (mma.h) that are filled in the
   background. Operands keep their orientation: rows along k (16 words) or rows of one word's k (128 outputs wide).
   Groups of 16 bytes are permuted within a row so that the units' loads have no bank conflicts. k ascends and parts are
   whole blocks of the unit, so the bits are those of gemm_mma.cuh. A tile of 128 x 64, a warp 32 x 32, is for images
   whose channels are no group of 16 bytes: each thread puts its groups of A together (patch.cuh) while the units
   compute, and a part's tail may be half a block. */
#ifndef HU_CUDA_GEMM_MMA_WIDE_CUH
#define HU_CUDA_GEMM_MMA_WIDE_CUH

#include "cuda/gemm/gemm.cuh"
#include "cuda/gemm/mma.h"
#include "cuda/gemm/stage.h"

enum { HU_WIDE_TILE = 128, HU_PATCH_TILE = 64, HU_WIDE_WORDS = 16, HU_WIDE_THREADS = 256, HU_WIDE_STAGES = 3 };

/* The bytes of a stage of this many rows of an operand. */
#define HU_WIDE_BYTES(rows) ((rows) * HU_WIDE_WORDS * 4)

/* hu_mma_values as a constant expression. */
#define HU_WIDE_VALUES(kind) ((kind) == HU_MMA_TF32 ? 1 : (kind) >= HU_MMA_E4M3 ? 4 : 2)

/* The offset in bytes of group c of 16 bytes of row r of a staged operand of ROWS outputs. Along k a row has 4 groups,
   and two rows fill the 32 banks; across k it has 16 for 128 outputs (32 for tf32), and the 8 rows of one column that a
   unit loads (tf32: 4 rows of two groups) must be in different banks. */
template <int ALONG, int TF32, int ROWS>
HU_DEVICE uint32_t
hu_wide_place(uint32_t r, uint32_t c)
{
	return ALONG  ? r * 64 + (c ^ (r >> 1 & 3)) * 16
	       : TF32 ? r * (4 * ROWS) + (c ^ (r & 3) * 2) * 16
		      : r * (2 * ROWS) + (c ^ (r & 7)) * 16;
}

/* Group i of the running thread in a stage whose outputs begin at row0 and whose terms begin at k0: the output and the
   term of its first element, and its offset in the stage. */
typedef struct hu_wide_group { uint32_t row, k, place; } hu_wide_group;

template <int ALONG, int KIND, int ROWS>
HU_DEVICE hu_wide_group
hu_wide_group_of(uint32_t i, uint32_t row0, uint32_t k0)
{
	enum { GROUP = 4 * HU_WIDE_VALUES(KIND), PER_ROW = ALONG ? 4 : ROWS / GROUP };
	uint32_t j = threadIdx.x + i * HU_WIDE_THREADS, r = j / PER_ROW, c = j % PER_ROW;
	hu_wide_group at = { row0 + (ALONG ? r : c * GROUP), k0 + (ALONG ? c * GROUP : r),
		hu_wide_place<ALONG, KIND == HU_MMA_TF32, ROWS>(r, c) };

	return at;
}

/* The groups of 16 bytes of a thread in a stage of this many rows. */
#define HU_WIDE_GROUPS(rows) (HU_WIDE_BYTES(rows) / 16 / HU_WIDE_THREADS)

/* Starts the copies of an operand's stage of ROWS outputs: of A if OF_B is 0, else of B. */
template <class M, int OF_B, int ALONG, int KIND, int ROWS>
HU_DEVICE void
hu_wide_fill(const hu_gemm *g, hu_copies *copies, unsigned char *to, uint32_t row0, uint32_t k0, uint32_t end)
{
	enum { BYTES = 4 / HU_WIDE_VALUES(KIND) };
	const unsigned char *data = (const unsigned char *)(OF_B ? g->b.data : g->a.data);
	uint32_t rows = OF_B ? g->n : g->m;

	HU_UNROLL
	for (uint32_t i = 0; i < HU_WIDE_GROUPS(ROWS); i++) {
		hu_wide_group to_copy = hu_wide_group_of<ALONG, KIND, ROWS>(i, row0, k0);
		uint32_t at =
			OF_B ? M::b(g, to_copy.k, to_copy.row)
			     /* computed even if it is not used, so that what depends on the row alone moves out of the
			        loop over k */
			     : M::a(g, to_copy.row, to_copy.k);
		int inside = (to_copy.row < rows) & (to_copy.k < end) & (at != HU_OUTSIDE);
		hu_copy16(copies, to + to_copy.place, data + (size_t)(inside ? at : 0) * BYTES, inside);
	}
}

/* Loads a thread's groups of A's stage element by element; and puts them into the stage, where a barrier shows them to
   the others. */
template <class M, int ALONG, int KIND>
HU_DEVICE void
hu_patch_fetch(uint32_t (*w)[4], const hu_gemm *g, uint32_t row0, uint32_t k0, uint32_t end)
{
	HU_UNROLL
	for (uint32_t i = 0; i < HU_WIDE_GROUPS(HU_WIDE_TILE); i++) {
		hu_wide_group at = hu_wide_group_of<ALONG, KIND, HU_WIDE_TILE>(i, row0, k0);
		M::template a_patch<4 / HU_WIDE_VALUES(KIND)>(w[i], g, at.row, at.k, end);
	}
}
template <int ALONG, int KIND>
HU_DEVICE void
hu_patch_put(unsigned char *to, uint32_t (*w)[4])
{
	HU_UNROLL
	for (uint32_t i = 0; i < HU_WIDE_GROUPS(HU_WIDE_TILE); i++)
		hu_store_words<16>(to + hu_wide_group_of<ALONG, KIND, HU_WIDE_TILE>(i, 0, 0).place, w[i]);
}

/* Loads rows row0 to row0 + 15 of k words 8 step to 8 step + 7 as hu_mma's a. */
template <int ALONG, int TF32, int ROWS>
HU_DEVICE void
hu_wide_a(uint32_t *a, const unsigned char *sa, uint32_t row0, uint32_t step)
{
	uint32_t lane = threadIdx.x % 32, i = lane / 8, r = lane % 8;

	if (ALONG)
		hu_ldmatrix<0>(a, sa + hu_wide_place<1, TF32, ROWS>(row0 + i % 2 * 8 + r, step * 2 + i / 2));
	else if (!TF32)
		hu_ldmatrix<1>(a, sa + hu_wide_place<0, 0, ROWS>(step * 16 + i / 2 * 8 + r, (row0 + i % 2 * 8) / 8));
	else
		HU_UNROLL
		for (uint32_t j = 0; j < 4; j++) {
			uint32_t row = row0 + lane / 4 + j % 2 * 8;
			uint32_t line = step * 8 + lane % 4 + j / 2 * 4;
			a[j] = *(const uint32_t *)(sa + hu_wide_place<0, 1, ROWS>(line, row / 4) + row % 4 * 4);
		}
}

/* Loads columns col0 to col0 + 15 in the same way: b[0], b[1] for the first eight, b[2], b[3] for the others. */
template <int ALONG, int TF32, int ROWS>
HU_DEVICE void
hu_wide_b(uint32_t *b, const unsigned char *sb, uint32_t col0, uint32_t step)
{
	uint32_t lane = threadIdx.x % 32, i = lane / 8, r = lane % 8;

	if (ALONG)
		hu_ldmatrix<0>(b, sb + hu_wide_place<1, TF32, ROWS>(col0 + i / 2 * 8 + r, step * 2 + i % 2));
	else if (!TF32)
		hu_ldmatrix<1>(b, sb + hu_wide_place<0, 0, ROWS>(step * 16 + i % 2 * 8 + r, (col0 + i / 2 * 8) / 8));
	else
		HU_UNROLL
		for (uint32_t j = 0; j < 4; j++) {
			uint32_t col = col0 + lane / 4 + j / 2 * 8;
			uint32_t line = step * 8 + lane % 4 + j % 2 * 4;
			b[j] = *(const uint32_t *)(sb + hu_wide_place<0, 1, ROWS>(line, col / 4) + col % 4 * 4);
		}
}

/* The accumulators of a warp have HU_WIDE_DEEP(n) times 16 rows in a tile of n columns. */
#define HU_WIDE_DEEP(n) ((n) / 32)

template <int N, int KIND>
HU_DEVICE void
hu_wide_products(float (*d)[4][4], uint32_t (*a)[4], uint32_t (*b)[4], int half, hu_tc_arch arch)
{
	HU_UNROLL
	for (uint32_t i = 0; i < HU_WIDE_DEEP(N); i++)
		HU_UNROLL
		for (uint32_t j = 0; j < 4; j++)
			if (N == HU_PATCH_TILE && half)
				hu_mma(KIND, 1, d[i][j], a[i], b[j / 2] + j % 2 * 2, arch);
			else
				hu_mma(KIND, 0, d[i][j], a[i], b[j / 2] + j % 2 * 2, arch);
}

/* A stage is two steps of the unit; the last stage of a part may have only one. left is the number of terms from this
   step on: those of half a step are half a product, as in gemm_mma.cuh. */
template <int N, int KIND, int A_ALONG, int B_ALONG>
HU_DEVICE void
hu_wide_step(float (*d)[4][4], const unsigned char *sa, const unsigned char *sb, uint32_t row, uint32_t col,
	uint32_t step, uint32_t left, int kind, hu_tc_arch arch)
{
	enum { TF32 = KIND == HU_MMA_TF32 };
	uint32_t a[HU_WIDE_DEEP(N)][4], b[2][4];
	int half = left <= 4 * HU_WIDE_VALUES(KIND);

	HU_UNROLL
	for (uint32_t j = 0; j < 2; j++)
		hu_wide_b<B_ALONG, TF32, N>(b[j], sb, col + j * 16, step);
	HU_UNROLL
	for (uint32_t i = 0; i < HU_WIDE_DEEP(N); i++)
		hu_wide_a<A_ALONG, TF32, HU_WIDE_TILE>(a[i], sa, row + i * 16, step);
	if constexpr (KIND == HU_MMA_TF32)
		hu_wide_products<N, KIND>(d, a, b, half, arch);
	else if constexpr (KIND == HU_MMA_F16)
		if (kind == HU_MMA_F16)
			hu_wide_products<N, HU_MMA_F16>(d, a, b, half, arch);
		else
			hu_wide_products<N, HU_MMA_BF16>(d, a, b, half, arch);
	else if (kind == HU_MMA_E4M3)
		hu_wide_products<N, HU_MMA_E4M3>(d, a, b, half, arch);
	else if (kind == HU_MMA_E5M2)
		hu_wide_products<N, HU_MMA_E5M2>(d, a, b, half, arch);
	else if (kind == HU_MMA_E4M3_E5M2)
		hu_wide_products<N, HU_MMA_E4M3_E5M2>(d, a, b, half, arch);
	else
		hu_wide_products<N, HU_MMA_E5M2_E4M3>(d, a, b, half, arch);
}

/* Writes the block's outputs through shared memory, 64 rows at a time, so that whole lines are written and the code is
   compiled once. */
template <int N>
HU_DEVICE void
hu_wide_put(const hu_gemm *g, float *sums, float *room, uint32_t m0, uint32_t n0, uint32_t row, uint32_t col,
	const float (*d)[4][4])
{
	enum { LINE = N + 8 };
	uint32_t lane = threadIdx.x % 32;

	HU_ONCE
	for (uint32_t h = 0; h < HU_WIDE_TILE; h += 64) {
		HU_SYNC();
		if (row / 64 * 64 == h)
			HU_UNROLL
			for (uint32_t i = 0; i < 8 * HU_WIDE_DEEP(N); i++) {
				float *to = room + (row % 64 + i / 8 * 16 + i % 2 * 8 + lane / 4) * LINE + col +
					    i / 2 % 4 * 8 + lane % 4 * 2;
				to[0] = d[i / 8][i / 2 % 4][i % 2 * 2];
				to[1] = d[i / 8][i / 2 % 4][i % 2 * 2 + 1];
			}
		HU_SYNC();
		HU_ONCE
		for (uint32_t i = threadIdx.x; i < 64 * N / 2; i += HU_WIDE_THREADS) {
			uint32_t r = i / (N / 2), c = i % (N / 2) * 2;
			if (m0 + h + r < g->m && n0 + c < g->n)
				hu_gemm_put2(g, sums, m0 + h + r, n0 + c, room + r * LINE + c);
		}
	}
}

/* KIND is kind, or HU_MMA_F16 for bf16 too, HU_MMA_E4M3 for every kind of fp8: their kernels differ in the instruction
   alone, and one takes half as long to compile as two. N is HU_WIDE_TILE, or HU_PATCH_TILE if A is no groups. */
template <class M, int N, int KIND, int A_ALONG, int B_ALONG>
HU_KERNEL_FOR(HU_WIDE_THREADS, 2)
hu_wide_kernel(HU_PARAM hu_gemm g, float *sums, int kind)
{
	enum {
		DEEP = HU_WIDE_WORDS * HU_WIDE_VALUES(KIND),
		PATCHES = N == HU_PATCH_TILE,
		SIDE_A = HU_WIDE_BYTES(HU_WIDE_TILE),
		STAGE = SIDE_A + HU_WIDE_BYTES(N),
		DOWN = 256 / N
	};
	HU_SHARED_ALIGNED(unsigned char, stage, HU_WIDE_STAGES * STAGE, 128);
	hu_gemm_tile_at here = hu_gemm_tile_here(&g, HU_WIDE_TILE, N);
	uint32_t m0 = here.m0, n0 = here.n0, p = here.part;
	uint32_t first = p * g.part, end = g.k - first > g.part ? first + g.part : g.k, at = 0,
		 next = HU_WIDE_STAGES - 1;
	uint32_t warp = threadIdx.x / 32, row = warp % DOWN * (HU_WIDE_TILE / DOWN), col = warp / DOWN * 32;
	uint32_t patch[HU_WIDE_GROUPS(HU_WIDE_TILE)][4];
	float d[HU_WIDE_DEEP(N)][4][4];
	hu_copies copies;

	(void)patch;
	HU_UNROLL
	for (int i = 0; i < 16 * HU_WIDE_DEEP(N); i++)
		d[i / 16][i / 4 % 4][i % 4] = 0;
	HU_UNROLL
	for (uint32_t s = 0; s < HU_WIDE_STAGES - 1; s++) {
		unsigned char *to = stage + s * STAGE;
		if (first + s * DEEP < end) {
			if constexpr (PATCHES) {
				hu_patch_fetch<M, A_ALONG, KIND>(patch, &g, m0, first + s * DEEP, end);
				hu_patch_put<A_ALONG, KIND>(to, patch);
			} else {
				hu_wide_fill<M, 0, A_ALONG, KIND, HU_WIDE_TILE>(
					&g, &copies, to, m0, first + s * DEEP, end);
			}
			hu_wide_fill<M, 1, B_ALONG, KIND, N>(&g, &copies, to + SIDE_A, n0, first + s * DEEP, end);
		}
		hu_copy_commit(&copies);
	}
	HU_ONCE
	for (uint32_t k0 = first; k0 < end; k0 += DEEP) {
		const unsigned char *sa = stage + at * STAGE, *sb = sa + SIDE_A;
		unsigned char *to = stage + next * STAGE;
		uint32_t later = k0 + (HU_WIDE_STAGES - 1) * DEEP;
		hu_copy_wait<HU_WIDE_STAGES - 2>(&copies);
		HU_SYNC(); /* all threads see this stage, and none reads the one before it any more */
		if (later < end) {
			if constexpr (PATCHES)
				hu_patch_fetch<M, A_ALONG, KIND>(patch, &g, m0, later, end);
			else
				hu_wide_fill<M, 0, A_ALONG, KIND, HU_WIDE_TILE>(&g, &copies, to, m0, later, end);
			hu_wide_fill<M, 1, B_ALONG, KIND, N>(&g, &copies, to + SIDE_A, n0, later, end);
		}
		hu_copy_commit(&copies);
		hu_wide_step<N, KIND, A_ALONG, B_ALONG>(d, sa, sb, row, col, 0, end - k0, kind, g.sum.arch);
		if (k0 + DEEP / 2 < end)
			hu_wide_step<N, KIND, A_ALONG, B_ALONG>(
				d, sa, sb, row, col, 1, end - k0 - DEEP / 2, kind, g.sum.arch);
		if constexpr (PATCHES)
			if (later < end) /* after the products, during which the loads are under way */
				hu_patch_put<A_ALONG, KIND>(to, patch);
		at = at + 1 == HU_WIDE_STAGES ? 0 : at + 1;
		next = next + 1 == HU_WIDE_STAGES ? 0 : next + 1;
	}
	hu_wide_put<N>(&g, sums ? sums + (size_t)p * g.m * g.n : NULL, (float *)stage, m0, n0, row, col, d);
}

/* The columns of the tile that computes M's product of KIND: HU_WIDE_TILE if operands come in whole groups of 16 bytes
   and whole blocks of the unit, HU_PATCH_TILE if all but A's do and M has kernels for it; 0: neither. */
template <class M>
static int
hu_wide_columns(const hu_gemm *g, int kind)
{
	uint32_t block = 8 * hu_mma_values(kind), group = block / 2;

	if (kind >= HU_MMA_E4M3 && (!M::a_along_k(g) || !M::b_along_k(g)))
		return 0; /* the units do not transpose matrices of bytes */
	if (kind == HU_MMA_F16_F16 || g->m < 64 || g->n < 32 || (g->parts > 1 && g->part % block) ||
		!M::b_groups(g, group) || (size_t)g->a.data % 16 || (size_t)g->b.data % 16)
		return 0;
	if (M::a_groups(g, group) && g->k % block == 0)
		return HU_WIDE_TILE;
	return M::patched && kind < HU_MMA_E4M3 && !M::a_groups(g, group) ? HU_PATCH_TILE : 0;
}

template <class M, int N, int KIND>
static hu_status
hu_wide_launch(hu_work *w, const hu_gemm *g, float *sums, int kind)
{
	dim3 grid = hu_gemm_grid(g, HU_WIDE_TILE, N);
	int a = M::a_along_k(g), b = M::b_along_k(g);

#define HU_WIDE_CASE(A, B)                                                              \
	if constexpr (M::may_lie(A, B) && (KIND < HU_MMA_E4M3 || ((A) && (B)))) \
		if (a == (A) && b == (B))                                       \
			return HU_GO(w, (hu_wide_kernel<M, N, KIND, A, B>), grid, HU_WIDE_THREADS, 0, *g, sums, kind)
	HU_WIDE_CASE(1, 1);
	HU_WIDE_CASE(1, 0);
	HU_WIDE_CASE(0, 1);
	HU_WIDE_CASE(0, 0);
#undef HU_WIDE_CASE
	return HU_OK; /* never reached */
}

template <class M, int KIND>
static hu_status
hu_wide_go(hu_work *w, const hu_gemm *g, float *sums, int kind)
{
	if constexpr (M::patched && KIND < HU_MMA_E4M3)
		if (hu_wide_columns<M>(g, kind) == HU_PATCH_TILE)
			return hu_wide_launch<M, HU_PATCH_TILE, KIND>(w, g, sums, kind);
	return hu_wide_launch<M, HU_WIDE_TILE, KIND>(w, g, sums, kind);
}
#endif
