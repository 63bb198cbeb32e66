/* SPDX-License-Identifier: Apache-2.0
   The product on Hopper's warpgroup units with A gathered through the operator's map. In a block one or two warpgroups
   gather, each thread by copies of 16 bytes, and two compute; where B is a matrix, bulk copies bring it. Gates, tiles
   and products are those of gemm_bulk.cuh. */
#ifndef HU_CUDA_BULK_GEMM_SPLIT_CUH
#define HU_CUDA_BULK_GEMM_SPLIT_CUH

#include "cuda/gemm/gemm_bulk.cuh"

enum { HU_SPLIT_LAG = 2 }; /* stages that are under way when the next one is begun */

/* The threads that gather for a tile of n columns, beside the 256 that compute; and the registers of one that gathers
   and of one that computes: 128 * 104 + 256 * 200 = 64512 or 256 * 88 + 256 * 168 = 65536 of 65536. */
#define HU_SPLIT_GATHER(n) ((n) == 256 ? 128 : 256)
#define HU_SPLIT_FEW(n) ((n) == 256 ? 104 : 88)
#define HU_SPLIT_MANY(n) ((n) == 256 ? 200 : 168)

/* Says that this thread's copies of a stage have arrived; the last of its warp to come tells those who compute. */
HU_DEVICE void
hu_split_arrived(hu_mbarrier *full)
{
	hu_wgmma_publish();
	hu_syncwarp();
	if (threadIdx.x % 32 == 0)
		hu_mbarrier_arrive(full);
}

/* With B_BULK 1 bulk copies bring B, whose map is b. */
template <class M, int N, int KIND, int A_ACROSS, int B_ACROSS, int B_BULK>
HU_KERNEL_FOR(HU_SPLIT_GATHER(N) + 256, 1)
hu_split_kernel(HU_PARAM hu_gemm g, HU_PARAM hu_bulk_map b, float *sums)
{
	enum {
		SIZE = HU_GROUP_SIZE(KIND),
		DEEP = HU_GROUP_LINE / SIZE,
		STAGE = HU_GROUP_STAGE(N),
		STAGES = HU_BULK_STAGES(N),
		GATHER = HU_SPLIT_GATHER(N)
	};
	HU_SHARED_BYTES(raw);
	HU_SHARED_ALIGNED(hu_mbarrier, full, STAGES, 8);
	HU_SHARED_ALIGNED(hu_mbarrier, empty, STAGES, 8);
	unsigned char *stage = raw + (1024 - (size_t)raw % 1024) % 1024;
	uint32_t group = (threadIdx.x - GATHER) / 128, tiles = hu_bulk_tiles(&g, HU_GROUP_M, N), m0, n0;
	uint32_t first = blockIdx.y * g.part, end = g.k - first > g.part ? first + g.part : g.k;
	hu_bulk_turn turn = { 0, 0 };

	if (!HU_WGMMA_HERE) /* never launched there, and cannot be compiled */
		return;
	if (threadIdx.x == 0) {
		HU_UNROLL
		for (int i = 0; i < STAGES; i++) {
			hu_mbarrier_begin(&full[i], GATHER / 32 + B_BULK);
			hu_mbarrier_begin(&empty[i], 8);
		}
		hu_mbarriers_publish();
	}
	HU_SYNC();
	if (threadIdx.x < GATHER) {
		hu_copies copies;
		uint32_t begun = 0;
		hu_registers_give<HU_SPLIT_FEW(N)>();
		HU_ONCE
		for (uint32_t i = blockIdx.x; i < tiles; i += gridDim.x) {
			hu_bulk_tile(&g, i, HU_GROUP_M, N, &m0, &n0);
			HU_ONCE
			for (uint32_t k0 = first; k0 < end; k0 += DEEP) {
				unsigned char *to = stage + turn.at * STAGE;
				hu_mbarrier_wait(&empty[turn.at], turn.parity ^ 1); /* at first they are */
				if (B_BULK && threadIdx.x == 0) {
					hu_mbarrier_expect(&full[turn.at], N * HU_GROUP_LINE);
					hu_bulk_fill<B_ACROSS, N, 0>(to + HU_GROUP_A, &b, &full[turn.at], n0, k0);
				}
				hu_group_fill<M, 0, A_ACROSS, HU_GROUP_M, SIZE, GATHER>(&g, &copies, to, m0, k0, end);
				if (!B_BULK)
					hu_group_fill<M, 1, B_ACROSS, N, SIZE, GATHER>(
						&g, &copies, to + HU_GROUP_A, n0, k0, end);
				hu_copy_commit(&copies);
				if (begun++ >= HU_SPLIT_LAG) {
					hu_copy_wait<HU_SPLIT_LAG>(&copies);
					hu_split_arrived(&full[(turn.at + STAGES - HU_SPLIT_LAG) % STAGES]);
				}
				hu_bulk_next<STAGES>(&turn);
			}
		}
		hu_copy_wait<0>(&copies);
		for (uint32_t left = begun < HU_SPLIT_LAG ? begun : HU_SPLIT_LAG; left; left--)
			hu_split_arrived(&full[(turn.at + STAGES - left) % STAGES]);
	} else {
		hu_registers_take<HU_SPLIT_MANY(N)>();
		HU_ONCE
		for (uint32_t i = blockIdx.x; i < tiles; i += gridDim.x) {
			float d[HU_WGMMA_OUTPUTS(N)];
			hu_bulk_tile(&g, i, HU_GROUP_M, N, &m0, &n0);
			hu_bulk_compute<N, KIND, A_ACROSS, B_ACROSS, 0>(
				&g, d, stage, full, empty, &turn, group, first, end);
			hu_group_put<N>(&g, sums ? sums + (size_t)blockIdx.y * g.m * g.n : NULL, m0 + (group) * 64,
				n0, d);
		}
	}
}

template <class M, int N, int KIND, int B_BULK>
static hu_status
hu_split_launch(hu_work *w, const hu_gemm *g, float *sums)
{
	uint32_t batches = g->batches ? g->batches : 1;
	dim3 grid(hu_bulk_blocks(hu_bulk_tiles(g, HU_GROUP_M, N), g->parts * batches, HU_SIDE(multiprocessors)()),
		g->parts, batches);
	int a = M::a_along_k(g), b = M::b_along_k(g);
	hu_bulk_map map;

	memset((void *)&map, 0, sizeof map);
	if (!w->dry && B_BULK)
		HU_TRY(hu_bulk_map_of(&map, g, g->b.data, HU_GROUP_SIZE(KIND), b, g->n, 0, N));
#define HU_SPLIT_CASE(A, B)                                                                                            \
	if constexpr (M::may_lie(A, B) && (KIND < HU_MMA_E4M3 || ((A) && (B))))                                        \
		if (a == (A) && b == (B))                                                                              \
	return HU_GO_LARGE(w, (hu_split_kernel<M, N, KIND, !(A), !(B), B_BULK>), grid, HU_SPLIT_GATHER(N) + 256,       \
		HU_BULK_BYTES, *g, map, sums)
	HU_SPLIT_CASE(1, 1);
	HU_SPLIT_CASE(1, 0);
	HU_SPLIT_CASE(0, 1);
	HU_SPLIT_CASE(0, 0);
#undef HU_SPLIT_CASE
	return HU_OK; /* never reached */
}

/* As hu_group_go; where B's bulk copies would bring more of k than a part has, to a product of fp8, it is gathered. */
template <class M, int KIND>
static hu_status
hu_split_go(hu_work *w, const hu_gemm *g, float *sums)
{
	int columns = hu_group_columns<M>(g, KIND);

	(void)columns;
	hu_gemm_add(w, ", gathering warps");
	if constexpr (M::narrow && KIND < HU_MMA_E4M3) {
		if (columns == 64)
			return hu_split_launch<M, 64, KIND, M::b_matrix>(w, g, sums);
		if (columns == 128)
			return hu_split_launch<M, 128, KIND, M::b_matrix>(w, g, sums);
	}
	if constexpr (KIND >= HU_MMA_E4M3 && M::b_matrix)
		if (g->parts > 1 && g->part % 32)
			return hu_split_launch<M, 256, KIND, 0>(w, g, sums);
	return hu_split_launch<M, 256, KIND, M::b_matrix>(w, g, sums);
}
#endif
