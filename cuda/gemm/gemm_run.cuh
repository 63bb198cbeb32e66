/* SPDX-License-Identifier: Apache-2.0
   Chooses the kernel of a product by the call's summation model. */
#ifndef HU_CUDA_GEMM_RUN_CUH
#define HU_CUDA_GEMM_RUN_CUH

#include "cuda/gemm/gemm_cublas.cuh"
#include "cuda/gemm/gemm_mma.cuh"
#include "cuda/gemm/gemm_plain.cuh"
#include "cuda/gemm/gemm_tile.cuh"

/* Computes one product; a call may have several. */
template <class M>
static hu_status
hu_gemm_product(hu_work *w, const hu_gemm *g)
{
	int any = w->gemm == HU_GEMM_AUTO, units = hu_gemm_by_units(w->gemm);
	hu_status st;

	if (!g->m || !g->n)
		return HU_OK;
	if (!g->k) { /* sums without a term are +0 */
		double *sums = (double *)hu_work_take(w, (size_t)g->m * g->n * g->parts * sizeof *sums);
		return HU_SIDE(gemm_rows)(w, g, NULL, NULL, sums, 0, g->m);
	}
	if (w->gemm == HU_GEMM_CUBLAS)
		st = hu_gemm_cublas<M>(w, g);
	else if ((any || units) && hu_gemm_mma<M>(w, g, &st))
		;
	else if (units)
		return HU_SIDE(gemm_no_mma)(w, g, HU_COMPILED_FOR(hu_mma_kernel<M>));
	else if (!hu_gemm_tile<M>(w, g, &st))
		st = hu_gemm_plain<M>(w, g);
	return st;
}

/* The most products like g that hu_gemm_product computes in one launch if g.batches says so: 1 where parts need scratch
   space for each, operands have to be gathered or transposed first, or no tile serves. */
template <class M>
static uint32_t
hu_gemm_together(const hu_work *w, const hu_gemm *g)
{
	if (!g->k)
		return 1;
	if (w->gemm == HU_GEMM_CUBLAS)
		return hu_cublas_gathers<M>(g, hu_format_of(w->in[0]->format).bits == 8) ? 1 : HU_MOST_BATCHES;
	if (g->parts != 1)
		return 1;
	int kind = w->gemm == HU_GEMM_SIMT ? -1 : hu_mma_kind(w, g);
	if (kind >= 0)
		return kind < HU_MMA_E4M3 ? HU_MOST_BATCHES : 1;
	return !hu_gemm_by_units(w->gemm) && hu_tile_of<M>(g) != HU_TILED_NONE ? HU_MOST_BATCHES : 1;
}

template <class M>
static hu_status
hu_gemm_run(hu_work *w, const hu_gemm *g)
{
	HU_TRY(hu_gemm_product<M>(w, g));
	return hu_result_finish(w, &g->raw, w->out[0]);
}
#endif
