/* SPDX-License-Identifier: Apache-2.0
   The operands of the plain product, gathered as doubles through the operator's index map; gemm_plain.cu runs the
   call's summation model on them. It is slow, and correct for every model. */
#ifndef HU_CUDA_GEMM_PLAIN_CUH
#define HU_CUDA_GEMM_PLAIN_CUH

#include "cuda/gemm/gemm.cuh"

/* Gathers n rows of A from the first on, k values in each row. */
template <class M>
HU_KERNEL
hu_gather_a_kernel(HU_PARAM hu_gemm g, double *to, uint32_t first, uint32_t n)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n * g.k; i += gridDim.x * blockDim.x)
		to[i] = hu_gemm_f64(&g.a, M::a(&g, first + i / g.k, i % g.k));
}

/* Gathers all columns of B, k values in each row. */
template <class M>
HU_KERNEL
hu_gather_b_kernel(HU_PARAM hu_gemm g, double *to)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < g.n * g.k; i += gridDim.x * blockDim.x)
		to[i] = hu_gemm_f64(&g.b, M::b(&g, i % g.k, i / g.k));
}

/* gemm_plain.cu: computes n rows of outputs from the first on. sums has room for every part of each output. */
extern "C" hu_status HU_SIDE(gemm_rows)(
	hu_work *w, const hu_gemm *g, const double *a, const double *b, double *sums, uint32_t first, uint32_t n);

/* Computes rows in pieces, so that the gathered operands take bounded space. */
template <class M>
static hu_status
hu_gemm_plain(hu_work *w, const hu_gemm *g)
{
	enum { ROOM = 1 << 22 };
	size_t each = g->k + (size_t)g->n * g->parts;
	uint32_t rows = ROOM / each < 1 ? 1 : ROOM / each > g->m ? g->m : (uint32_t)(ROOM / each);
	double *b = (double *)hu_work_take(w, (size_t)g->n * g->k * sizeof *b),
	       *a = (double *)hu_work_take(w, (size_t)rows * g->k * sizeof *a);
	double *sums = (double *)hu_work_take(w, (size_t)rows * g->n * g->parts * sizeof *sums);

	HU_GEMM_SAY(w, "simt plain, one thread an output");
	HU_TRY(HU_GO(w, hu_gather_b_kernel<M>, hu_blocks_for((size_t)g->n * g->k, 256, 65535), 256, 0, *g, b));
	for (uint32_t first = 0; first < g->m; first += rows) {
		uint32_t n = g->m - first < rows ? g->m - first : rows;
		HU_TRY(HU_GO(w, hu_gather_a_kernel<M>, hu_blocks_for((size_t)n * g->k, 256, 65535), 256, 0, *g, a,
			first, n));
		HU_TRY(HU_SIDE(gemm_rows)(w, g, a, b, sums, first, n));
	}
	return HU_OK;
}
#endif
