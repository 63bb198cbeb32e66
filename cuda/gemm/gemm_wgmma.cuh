/* SPDX-License-Identifier: Apache-2.0
   The product on Hopper's warpgroup units, for fp16, bf16 and fp8 operands in groups of 16 bytes. A block of two
   warpgroups computes 128 x N outputs of one part, each 64 x N, with four buffers of 128 bytes of k: one is being
   multiplied, the next waits, two are being filled. N is 256 or, for convolutions of few channels, 64 or 128. The bits
   are those of gemm_mma.cuh, because on Hopper both units have the same model, except for fp8, which has a model of
   its own here and is stored along k or transposed before. */
#ifndef HU_CUDA_GEMM_WGMMA_CUH
#define HU_CUDA_GEMM_WGMMA_CUH

#include "cuda/gemm/gemm_wgmma_put.cuh"
#include "cuda/gemm/wgmma.h"

enum {
	HU_GROUP_M = 128,
	HU_GROUP_LINE = 128,
	HU_GROUP_THREADS = 256,
	HU_GROUP_STAGES = 4,
	HU_GROUP_AHEAD = 2,
	HU_GROUP_A = HU_GROUP_M * HU_GROUP_LINE
};

/* The bytes of a stage of N columns, and of the shared memory, which then can start at a multiple of 1024. */
#define HU_GROUP_STAGE(n) (HU_GROUP_A + (n) * HU_GROUP_LINE)
#define HU_GROUP_BYTES(n) (HU_GROUP_STAGES * HU_GROUP_STAGE(n) + 1024)

/* Bytes of an element, as a constant expression; a stage holds 128 bytes of k, one product 32. */
#define HU_GROUP_SIZE(kind) ((kind) >= HU_MMA_E4M3 ? 1 : 2)

/* Starts the copies of ROWS outputs of an operand's stage, by the block's first THREADS threads. Along k a row is 128
   bytes of one output; across k it is one k of 64 outputs, and the rows of these outputs make 8 KiB. */
template <class M, int OF_B, int ACROSS, int ROWS, int SIZE, int THREADS>
HU_DEVICE void
hu_group_fill(const hu_gemm *g, hu_copies *copies, unsigned char *to, uint32_t row0, uint32_t k0, uint32_t end)
{
	const unsigned char *data = (const unsigned char *)(OF_B ? g->b.data : g->a.data);
	uint32_t rows = OF_B ? g->n : g->m;

	HU_UNROLL
	for (uint32_t i = 0; i < ROWS * HU_GROUP_LINE / 16 / THREADS; i++) {
		uint32_t j = threadIdx.x + i * THREADS, c = j % 8, r = ACROSS ? j / (ROWS / 8) : j / 8,
			 q = ACROSS ? j / 8 % (ROWS / 64) : 0;
		uint32_t row = row0 + (ACROSS ? q * 64 + c * 8 : r), k = k0 + (ACROSS ? r : c * (16 / SIZE));
		uint32_t at = OF_B ? M::b(g, k, row) : M::a(g, row, k);
		int inside = (row < rows) & (k < end) & (at != HU_OUTSIDE);
		hu_copy16(copies, to + q * 8192 + r * 128 + (c ^ (r & 7)) * 16, data + (size_t)(inside ? at : 0) * SIZE,
			inside);
	}
}

/* A stage's operands: the block's group-th 64 rows of A, all columns of B; and the operands s products further along
   k. */
template <int A_ACROSS>
HU_DEVICE hu_matrix
hu_group_a(const unsigned char *stage, uint32_t group)
{
	return hu_matrix_at(stage + (A_ACROSS ? group * 8192 : group * 64 * HU_GROUP_LINE), A_ACROSS ? 8192 : 16, 1024);
}

template <int B_ACROSS>
HU_DEVICE hu_matrix
hu_group_b(const unsigned char *stage)
{
	return hu_matrix_at(stage + HU_GROUP_A, B_ACROSS ? 8192 : 16, 1024);
}

template <int ACROSS>
HU_DEVICE hu_matrix
hu_group_along(hu_matrix m, uint32_t s)
{
	return hu_matrix_move(m, s * (ACROSS ? 2048 : 32));
}

/* Starts a stage's four products for the block's group-th 64 rows. */
template <int N, int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_group_stage(hu_wgmmas *units, float *d, const unsigned char *stage, uint32_t group, hu_tc_arch arch)
{
	hu_matrix a = hu_group_a<A_ACROSS>(stage, group), b = hu_group_b<B_ACROSS>(stage);

	hu_wgmma_fence();
	HU_UNROLL
	for (uint32_t s = 0; s < HU_GROUP_LINE / 32; s++)
		hu_wgmma<N, KIND, A_ACROSS, B_ACROSS>(
			units, d, hu_group_along<A_ACROSS>(a, s), hu_group_along<B_ACROSS>(b, s), arch);
	hu_wgmma_commit(units);
}

/* Runs the products of a part's last stage up to k, one after another, because no accumulator may be in use by the unit
   where two paths of the code meet. */
template <int N, int KIND, int A_ACROSS, int B_ACROSS>
HU_DEVICE void
hu_group_tail(hu_wgmmas *units, float *d, const unsigned char *stage, uint32_t group, uint32_t k, hu_tc_arch arch)
{
	hu_matrix a = hu_group_a<A_ACROSS>(stage, group), b = hu_group_b<B_ACROSS>(stage);

	hu_wgmma_wait<0, N>(units, d);
	HU_ONCE
	for (uint32_t s = 0; s * (32 / HU_GROUP_SIZE(KIND)) < k; s++) {
		hu_wgmma_fence();
		hu_wgmma<N, KIND, A_ACROSS, B_ACROSS>(
			units, d, hu_group_along<A_ACROSS>(a, s), hu_group_along<B_ACROSS>(b, s), arch);
		hu_wgmma_commit(units);
		hu_wgmma_wait<0, N>(units, d);
	}
}

template <class M, int N, int KIND, int A_ACROSS, int B_ACROSS>
HU_KERNEL_FOR(HU_GROUP_THREADS, (N == 64 ? 2 : 1))
hu_group_kernel(HU_PARAM hu_gemm g, float *sums)
{
	enum {
		SIZE = HU_GROUP_SIZE(KIND),
		DEEP = HU_GROUP_LINE / SIZE,
		STAGE = HU_GROUP_STAGE(N),
		THREADS = HU_GROUP_THREADS
	};
	HU_SHARED_BYTES(raw);
	unsigned char *stage = raw + (1024 - (size_t)raw % 1024) % 1024;
	hu_gemm_tile_at here = hu_gemm_tile_here(&g, HU_GROUP_M, N);
	uint32_t m0 = here.m0, n0 = here.n0, p = here.part;
	uint32_t first = p * g.part, end = g.k - first > g.part ? first + g.part : g.k, at = 0;
	float d[HU_WGMMA_OUTPUTS(N)];
	hu_copies copies;
	hu_wgmmas units;

	if (!HU_WGMMA_HERE) /* never launched there, and cannot be compiled */
		return;
	hu_wgmmas_begin(&units);
	HU_UNROLL
	for (int i = 0; i < HU_WGMMA_OUTPUTS(N); i++)
		d[i] = 0;
	HU_ONCE
	for (uint32_t s = 0; s < HU_GROUP_AHEAD; s++) {
		unsigned char *to = stage + s * STAGE;
		if (first + s * DEEP < end) { /* nobody would wait for the zeros of a stage that does not exist */
			hu_group_fill<M, 0, A_ACROSS, HU_GROUP_M, SIZE, THREADS>(
				&g, &copies, to, m0, first + s * DEEP, end);
			hu_group_fill<M, 1, B_ACROSS, N, SIZE, THREADS>(
				&g, &copies, to + HU_GROUP_A, n0, first + s * DEEP, end);
		}
		hu_copy_commit(&copies);
	}
	uint32_t k0 = first;
	HU_ONCE
	for (; k0 + DEEP <= end; k0 += DEEP) {
		uint32_t later = k0 + HU_GROUP_AHEAD * DEEP;
		unsigned char *to = stage + (at + HU_GROUP_AHEAD) % HU_GROUP_STAGES * STAGE;
		hu_copy_wait<HU_GROUP_AHEAD - 1>(&copies);
		hu_wgmma_publish();
		HU_SYNC(); /* all threads see this stage, and both warpgroups are done with the one before the last */
		hu_group_stage<N, KIND, A_ACROSS, B_ACROSS>(
			&units, d, stage + at * STAGE, threadIdx.x / 128, g.sum.arch);
		if (later < end) {
			hu_group_fill<M, 0, A_ACROSS, HU_GROUP_M, SIZE, THREADS>(&g, &copies, to, m0, later, end);
			hu_group_fill<M, 1, B_ACROSS, N, SIZE, THREADS>(
				&g, &copies, to + HU_GROUP_A, n0, later, end);
		}
		hu_copy_commit(&copies);
		hu_wgmma_wait<1, N>(&units, d);
		at = (at + 1) % HU_GROUP_STAGES;
	}
	if (k0 < end) { /* a product of zeros would turn -0 into +0 */
		hu_copy_wait<0>(&copies);
		hu_wgmma_publish();
		HU_SYNC();
		hu_group_tail<N, KIND, A_ACROSS, B_ACROSS>(
			&units, d, stage + at * STAGE, threadIdx.x / 128, end - k0, g.sum.arch);
	}
	hu_wgmma_wait<0, N>(&units, d);
	hu_group_put<N>(&g, sums ? sums + (size_t)p * g.m * g.n : NULL, m0 + threadIdx.x / 128 * 64, n0, d);
}

#define HU_GO_LARGE(w, kernel, grid, block, shared, ...)                                                               \
	((w)->dry ? hu_launch_fits(#kernel, grid, block)                                                               \
		  : HU_LAUNCH_LARGE(kernel, grid, block, shared, (w)->queue, __VA_ARGS__))

/* Returns 1 if the warpgroup units compute KIND's product on this device and their large tile pays. */
template <class M>
static int
hu_group_serves(const hu_work *w, const hu_gemm *g, int kind)
{
#if defined(__CUDACC__) && !defined(HU_CUDA_SM90A)
	(void)w, (void)g, (void)kind;
	return 0;
#else
	int fp8 = kind >= HU_MMA_E4M3, group = fp8 ? 16 : 8;

	if ((kind != HU_MMA_F16 && kind != HU_MMA_BF16 && !(fp8 && g->sum.path == HU_TC_WGMMA)) ||
		g->sum.arch != HU_TC_HOPPER || g->sum.path == HU_TC_MMA || (w->arch >= 0 && w->arch != HU_TC_HOPPER))
		return 0;
	if (g->m < 64 || g->n < 64 || g->k % 16 || (g->parts > 1 && g->part % 16))
		return 0;
	if (fp8 && (!M::a_along_k(g) || !M::b_along_k(g)))
		return 0; /* the units do not transpose matrices of bytes */
	return M::a_groups(g, group) && M::b_groups(g, group) && (size_t)g->a.data % 16 == 0 &&
	       (size_t)g->b.data % 16 == 0;
#endif
}

/* The columns of the tile for g: no more than needed where M has kernels for fewer, which only 16-bit formats have. */
template <class M>
static inline int
hu_group_columns(const hu_gemm *g, int kind)
{
	return !M::narrow || kind >= HU_MMA_E4M3 || g->n > 128 ? 256 : g->n > 64 ? 128 : 64;
}

template <class M, int N, int KIND>
static hu_status
hu_group_launch(hu_work *w, const hu_gemm *g, float *sums)
{
	dim3 grid = hu_gemm_grid(g, HU_GROUP_M, N);
	int a = M::a_along_k(g), b = M::b_along_k(g);

#define HU_GROUP_CASE(A, B)                                                                                            \
	if constexpr (M::may_lie(A, B) && (KIND < HU_MMA_E4M3 || ((A) && (B))))                                        \
		if (a == (A) && b == (B))                                                                              \
	return HU_GO_LARGE(                                                                                            \
		w, (hu_group_kernel<M, N, KIND, !(A), !(B)>), grid, HU_GROUP_THREADS, HU_GROUP_BYTES(N), *g, sums)
	HU_GROUP_CASE(1, 1);
	HU_GROUP_CASE(1, 0);
	HU_GROUP_CASE(0, 1);
	HU_GROUP_CASE(0, 0);
#undef HU_GROUP_CASE
	return HU_OK; /* never reached */
}

template <class M, int KIND>
static hu_status
hu_group_go(hu_work *w, const hu_gemm *g, float *sums)
{
	int columns = hu_group_columns<M>(g, KIND);

	(void)columns;
	if constexpr (M::narrow && KIND < HU_MMA_E4M3) {
		if (columns == 64)
			return hu_group_launch<M, 64, KIND>(w, g, sums);
		if (columns == 128)
			return hu_group_launch<M, 128, KIND>(w, g, sums);
	}
	return hu_group_launch<M, 256, KIND>(w, g, sums);
}
#endif
