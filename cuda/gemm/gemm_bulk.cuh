/* SPDX-License-Identifier: Apache-2.0
   matmul on Hopper's warpgroup units with operands that bulk copies bring. In a block the first warpgroup starts the
   copies and the other two compute; mbarriers (bulk.h) say which buffers are full and which are empty. There are as
   many blocks as the device runs at once, and each computes tile after tile, so that the operands of the next one
   arrive while results are stored. Two blocks may be a pair, whose tiles lie one below the other: each brings half of
   B to both. */
#ifndef HU_CUDA_BULK_GEMM_BULK_CUH
#define HU_CUDA_BULK_GEMM_BULK_CUH

#include "cuda/gemm/bulk.h"
#include "cuda/gemm/gemm_wgmma.cuh"

enum {
	HU_BULK_THREADS = 384,
	HU_BULK_FEW = 40,         /* registers of a thread that copies, */
	HU_BULK_MANY = 232,       /* and of one that computes: 128 * 40 + 256 * 232 = 64512 of 65536 */
	HU_BULK_BAND = 16,        /* rows of tiles that follow each other, so that the blocks share operands in L2 */
	HU_BULK_ROOM = 192 << 10, /* the bytes of all stages, */
	HU_BULK_BYTES = HU_BULK_ROOM + 1024 /* and of shared memory, which then can start at a multiple of 1024 */
};

/* The number of stages of n columns. */
#define HU_BULK_STAGES(n) (HU_BULK_ROOM / HU_GROUP_STAGE(n))

typedef struct hu_bulk_maps { hu_bulk_map a, b; } hu_bulk_maps;

HU_HD uint32_t
hu_bulk_tiles(const hu_gemm *g, uint32_t height, uint32_t columns)
{
	return (g->m + height - 1) / height * ((g->n + columns - 1) / columns);
}

/* The first output of tile i. */
HU_DEVICE void
hu_bulk_tile(const hu_gemm *g, uint32_t i, uint32_t height, uint32_t columns, uint32_t *m0, uint32_t *n0)
{
	enum { BAND = HU_BULK_BAND };
	uint32_t down = (g->m + height - 1) / height, across = (g->n + columns - 1) / columns,
		 first = i / (across * BAND) * BAND, rows = down - first < BAND ? down - first : BAND,
		 j = i - first * across;

	*m0 = (first + j % rows) * height;
	*n0 = j / rows * columns;
}

/* Starts the copies of ROWS outputs of an operand's stage; with BOTH 1, of the half that is this block's to both blocks
   of its pair. */
template <int ACROSS, int ROWS, int BOTH>
HU_DEVICE void
hu_bulk_fill(unsigned char *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t row0, uint32_t k0)
{
	enum { MINE = BOTH ? ROWS / 2 : ROWS };
	uint32_t from = BOTH ? hu_pair_rank() * MINE : 0;

	HU_UNROLL
	for (uint32_t q = 0; q < (ACROSS ? MINE / 64 : 1); q++) {
		unsigned char *there = to + from * HU_GROUP_LINE + q * 8192;
		uint32_t row = row0 + from + q * 64;
		if (BOTH)
			hu_bulk_copy_both(there, map, mbarrier, ACROSS ? row : k0, ACROSS ? k0 : row, blockIdx.z);
		else
			hu_bulk_copy(there, map, mbarrier, ACROSS ? row : k0, ACROSS ? k0 : row, blockIdx.z);
	}
}

/* Which buffer is next, and the parity of its mbarriers' phase. */
typedef struct hu_bulk_turn { uint32_t at, parity; } hu_bulk_turn;

template <int STAGES>
HU_DEVICE void
hu_bulk_next(hu_bulk_turn *t)
{
	if (++t->at == STAGES)
		t->at = 0, t->parity ^= 1;
}

/* Tells who fills a buffer that this warp is done with it: the pair, if there is one, because half of B comes from the
   other block. */
template <int PAIR>
HU_DEVICE void
hu_bulk_release(hu_mbarrier *empty)
{
	uint32_t lane = threadIdx.x % 32;

	hu_syncwarp();
	if (PAIR && lane < 2)
		hu_mbarrier_arrive_at(empty, lane);
	if (!PAIR && lane == 0)
		hu_mbarrier_arrive(empty);
}

/* Computes 64 rows of a tile, number group of the block's, by the products from first to end. */
template <int N, int KIND, int A_ACROSS, int B_ACROSS, int PAIR>
HU_DEVICE void
hu_bulk_compute(const hu_gemm *g, float *d, const unsigned char *stage, hu_mbarrier *full, hu_mbarrier *empty,
	hu_bulk_turn *turn, uint32_t group, uint32_t first, uint32_t end)
{
	enum {
		DEEP = HU_GROUP_LINE / HU_GROUP_SIZE(KIND),
		STAGE = HU_GROUP_STAGE(N),
		STAGES = HU_BULK_STAGES(N)
	};
	hu_wgmmas units;
	uint32_t k0 = first;

	hu_wgmmas_begin(&units);
	HU_UNROLL
	for (int j = 0; j < HU_WGMMA_OUTPUTS(N); j++)
		d[j] = 0;
	HU_ONCE
	for (; k0 + DEEP <= end; k0 += DEEP) {
		hu_mbarrier_wait(&full[turn->at], turn->parity);
		hu_group_stage<N, KIND, A_ACROSS, B_ACROSS>(&units, d, stage + turn->at * STAGE, group, g->sum.arch);
		hu_wgmma_wait<1, N>(&units, d);
		if (k0 > first)
			hu_bulk_release<PAIR>(&empty[(turn->at + STAGES - 1) % STAGES]);
		hu_bulk_next<STAGES>(turn);
	}
	hu_wgmma_wait<0, N>(&units, d);
	if (k0 > first)
		hu_bulk_release<PAIR>(&empty[(turn->at + STAGES - 1) % STAGES]);
	if (k0 < end) { /* a product of zeros would turn -0 into +0 */
		hu_mbarrier_wait(&full[turn->at], turn->parity);
		hu_group_tail<N, KIND, A_ACROSS, B_ACROSS>(
			&units, d, stage + turn->at * STAGE, group, end - k0, g->sum.arch);
		hu_bulk_release<PAIR>(&empty[turn->at]);
		hu_bulk_next<STAGES>(turn);
	}
}

/* In a pair (PAIR is 1) the blocks compute two tiles one below the other. */
template <int N, int KIND, int A_ACROSS, int B_ACROSS, int PAIR>
HU_KERNEL_FOR(HU_BULK_THREADS, 1)
hu_bulk_kernel(HU_PARAM hu_gemm g, HU_PARAM hu_bulk_maps maps, float *sums)
{
	enum {
		DEEP = HU_GROUP_LINE / HU_GROUP_SIZE(KIND),
		STAGE = HU_GROUP_STAGE(N),
		STAGES = HU_BULK_STAGES(N),
		HEIGHT = HU_GROUP_M << PAIR
	};
	HU_SHARED_BYTES(raw);
	HU_SHARED_ALIGNED(hu_mbarrier, full, STAGES, 8);
	HU_SHARED_ALIGNED(hu_mbarrier, empty, STAGES, 8);
	unsigned char *stage = raw + (1024 - (size_t)raw % 1024) % 1024;
	uint32_t group = threadIdx.x / 128, tiles = hu_bulk_tiles(&g, HEIGHT, N), m0, n0,
		 mine = PAIR ? hu_pair_rank() * HU_GROUP_M : 0;
	uint32_t first = blockIdx.y * g.part, end = g.k - first > g.part ? first + g.part : g.k;
	hu_bulk_turn turn = { 0, 0 };

	if (!HU_WGMMA_HERE) /* never launched there, and cannot be compiled */
		return;
	if (threadIdx.x == 0) {
		hu_bulk_prefetch(&maps.a);
		hu_bulk_prefetch(&maps.b);
		HU_UNROLL
		for (int i = 0; i < STAGES; i++) {
			hu_mbarrier_begin(&full[i], 1);
			hu_mbarrier_begin(&empty[i], 8 << PAIR); /* the warps that compute */
		}
		hu_mbarriers_publish();
	}
	if (PAIR)
		hu_pair_sync();
	else
		HU_SYNC();
	if (group == 0) {
		hu_registers_give<HU_BULK_FEW>();
		HU_ONCE
		for (uint32_t i = blockIdx.x >> PAIR; threadIdx.x == 0 && i < tiles; i += gridDim.x >> PAIR) {
			hu_bulk_tile(&g, i, HEIGHT, N, &m0, &n0);
			HU_ONCE
			for (uint32_t k0 = first; k0 < end; k0 += DEEP) {
				unsigned char *to = stage + turn.at * STAGE;
				hu_mbarrier *mbarrier = &full[turn.at];
				hu_mbarrier_wait(&empty[turn.at], turn.parity ^ 1); /* at first they are */
				hu_mbarrier_expect(mbarrier, STAGE);
				hu_bulk_fill<A_ACROSS, HU_GROUP_M, 0>(to, &maps.a, mbarrier, m0 + mine, k0);
				hu_bulk_fill<B_ACROSS, N, PAIR>(to + HU_GROUP_A, &maps.b, mbarrier, n0, k0);
				hu_bulk_next<STAGES>(&turn);
			}
		}
		hu_syncwarp();
	} else {
		hu_registers_take<HU_BULK_MANY>();
		HU_ONCE
		for (uint32_t i = blockIdx.x >> PAIR; i < tiles; i += gridDim.x >> PAIR) {
			float d[HU_WGMMA_OUTPUTS(N)];
			hu_bulk_tile(&g, i, HEIGHT, N, &m0, &n0);
			hu_bulk_compute<N, KIND, A_ACROSS, B_ACROSS, PAIR>(
				&g, d, stage, full, empty, &turn, group - 1, first, end);
			hu_group_put<N>(&g, sums ? sums + (size_t)blockIdx.y * g.m * g.n : NULL,
				m0 + mine + (group - 1) * 64, n0, d);
		}
		hu_syncwarp();
	}
	if (PAIR) /* the other block may still arrive at this one's mbarriers */
		hu_pair_sync();
}

/* On the host: the columns of the tile by which the product takes least time, counted in columns that each
   multiprocessor computes. What a tile takes beside its columns is worth some 24 of them. */
static inline int
hu_bulk_columns(const hu_gemm *g, int kind)
{
	uint64_t least = UINT64_MAX, units = HU_SIDE(multiprocessors)(),
		 times = (uint64_t)g->parts * (g->batches ? g->batches : 1);
	int best = 256;

	for (int n = 256; n >= (kind >= HU_MMA_E4M3 ? 256 : 64); n /= 2) {
		uint64_t tiles = hu_bulk_tiles(g, HU_GROUP_M, (uint32_t)n) * times,
			 time = (tiles + units - 1) / units * (uint64_t)(n + 24);
		best = time < least ? n : best;
		least = time < least ? time : least;
	}
	return best;
}

/* On the host: how many blocks (or pairs) compute the tiles of each of so many parts and products, if units of them run
   at once. Blocks that compute several tiles are chosen unless they take more rounds than one block a tile does. */
static inline uint32_t
hu_bulk_blocks(uint32_t tiles, uint32_t times, uint32_t units)
{
	uint32_t stay = units / times;

	if (!stay || stay >= tiles)
		return tiles;
	return (tiles + stay - 1) / stay <= ((uint64_t)tiles * times + units - 1) / units ? stay : tiles;
}

/* Returns 1 if the kernels above compute what hu_group_serves allows. Their copies do not stop where a part ends, which
   may be within a product of fp8. */
template <class M>
static inline int
hu_bulk_serves(const hu_gemm *g, int kind)
{
	return M::bulk && (kind < HU_MMA_E4M3 || g->parts == 1 || g->part % 32 == 0);
}

/* Makes the map of an operand whose elements for one k lie `rows` apart or, along k, side by side. */
static inline hu_status
hu_bulk_map_of(hu_bulk_map *map, const hu_gemm *g, const void *data, int size, int along, uint32_t rows, uint32_t apart,
	uint32_t box)
{
	uint32_t count = g->batches ? g->batches : 1;

	return along ? HU_SIDE(bulk_map)(map, data, (uint32_t)size, g->k, rows, count, apart, box)
		     : HU_SIDE(bulk_map)(map, data, (uint32_t)size, rows, g->k, count, apart, 64);
}

template <class M, int N, int KIND, int PAIR>
static hu_status
hu_bulk_launch(hu_work *w, const hu_gemm *g, float *sums)
{
	enum { SIZE = HU_GROUP_SIZE(KIND) };
	uint32_t batches = g->batches ? g->batches : 1,
		 blocks = hu_bulk_blocks(hu_bulk_tiles(g, HU_GROUP_M << PAIR, N), g->parts * batches,
			 HU_SIDE(multiprocessors)() >> PAIR);
	dim3 grid(blocks << PAIR, g->parts, batches);
	int a = M::a_along_k(g), b = M::b_along_k(g);
	hu_bulk_maps maps;

	if (!w->dry) {
		HU_TRY(hu_bulk_map_of(&maps.a, g, g->a.data, SIZE, a, g->m, g->step_a, HU_GROUP_M));
		HU_TRY(hu_bulk_map_of(&maps.b, g, g->b.data, SIZE, b, g->n, g->step_b, N >> PAIR));
	}
#define HU_BULK_CASE(A, B)                                                                                             \
	if constexpr (KIND < HU_MMA_E4M3 || ((A) && (B)))                                                              \
		if (a == (A) && b == (B))                                                                              \
	return HU_GO_ENLARGED(                                                                                         \
		w, (hu_bulk_kernel<N, KIND, !(A), !(B), PAIR>), grid, HU_BULK_THREADS, HU_BULK_BYTES, *g, maps, sums)
#define HU_GO_ENLARGED(w, kernel, grid, block, shared, ...)                                                            \
	((w)->dry ? hu_launch_fits(#kernel, grid, block)                                                               \
	 : PAIR   ? HU_LAUNCH_PAIRS(kernel, grid, block, shared, (w)->queue, __VA_ARGS__)                              \
		  : HU_LAUNCH_LARGE(kernel, grid, block, shared, (w)->queue, __VA_ARGS__))
	HU_BULK_CASE(1, 1);
	HU_BULK_CASE(1, 0);
	HU_BULK_CASE(0, 1);
	HU_BULK_CASE(0, 0);
#undef HU_GO_ENLARGED
#undef HU_BULK_CASE
	return HU_OK; /* never reached */
}

template <class M, int KIND>
static hu_status
hu_bulk_go(hu_work *w, const hu_gemm *g, float *sums)
{
	int columns = hu_bulk_columns(g, KIND);

	(void)columns;
	int pair = g->m > HU_GROUP_M && HU_SIDE(multiprocessors)() > 1;
	hu_gemm_add(w, ", bulk copies");
	if constexpr (KIND < HU_MMA_E4M3) {
		if (columns == 64)
			return hu_bulk_launch<M, 64, KIND, 0>(w, g, sums);
		if (columns == 128)
			return pair ? hu_bulk_launch<M, 128, KIND, 1>(w, g, sums)
				    : hu_bulk_launch<M, 128, KIND, 0>(w, g, sums);
	}
	return pair ? hu_bulk_launch<M, 256, KIND, 1>(w, g, sums) : hu_bulk_launch<M, 256, KIND, 0>(w, g, sums);
}
#endif
