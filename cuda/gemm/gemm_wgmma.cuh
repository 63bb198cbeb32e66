/* SPDX-License-Identifier: Apache-2.0
   What the kernels on Hopper's warpgroup units have in common (gemm_bulk.cuh, gemm_split.cuh): a block computes tiles
   of 128 x N outputs of one part, two warpgroups 64 x N each, from buffers of 128 bytes of k that other warpgroups
   fill. N is 256 or, where that takes less time, 64 or 128. Operands are of fp16, bf16 or fp8, in groups of 16 bytes.
   The bits are those of gemm_mma.cuh, because on Hopper both units have the same model, except for fp8, which has a
   model of its own here and is stored along k or transposed before. */
#ifndef HU_CUDA_GEMM_WGMMA_CUH
#define HU_CUDA_GEMM_WGMMA_CUH

#include "cuda/gemm/gemm.cuh"
#include "cuda/gemm/wgmma.h"

enum {
	HU_GROUP_M = 128,
	HU_GROUP_LINE = 128,
	HU_GROUP_A = HU_GROUP_M * HU_GROUP_LINE,
	HU_GROUP_ROOM = 192 << 10,           /* the bytes of all stages, */
	HU_GROUP_BYTES = HU_GROUP_ROOM + 1024 /* and of shared memory, which then can start at a multiple of 1024 */
};

/* The bytes of a stage of n columns, and the number of stages. */
#define HU_GROUP_STAGE(n) (HU_GROUP_A + (n) * HU_GROUP_LINE)
#define HU_GROUP_STAGES(n) (HU_GROUP_ROOM / HU_GROUP_STAGE(n))

/* Bytes of an element, as a constant expression; a stage holds 128 bytes of k, one product 32. */
#define HU_GROUP_SIZE(kind) ((kind) >= HU_MMA_E4M3 ? 1 : 2)

/* A stage's operands: a warpgroup's rows of A, all columns of B; and the operands s products further along k. */
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

#endif
