/* SPDX-License-Identifier: Apache-2.0
   Chooses the kernel of a product by the call's summation model. */
#ifndef HU_CUDA_GEMM_RUN_CUH
#define HU_CUDA_GEMM_RUN_CUH

#include "cuda/gemm/gemm_cublas.cuh"
#include "cuda/gemm/gemm_mma.cuh"
#include "cuda/gemm/gemm_plain.cuh"
#include "cuda/gemm/gemm_tile.cuh"

template <class M>
static hu_status
hu_gemm_run(hu_work *w, const hu_gemm *g)
{
	int any = w->gemm == HU_GEMM_AUTO;
	hu_status st;

	if (!g->m || !g->n)
		return HU_OK;
	if (w->gemm == HU_GEMM_CUBLAS && g->k)
		st = hu_gemm_cublas<M>(w, g);
	else if ((any || w->gemm == HU_GEMM_MMA) && hu_gemm_mma<M>(w, g, &st))
		;
	else if (w->gemm == HU_GEMM_MMA)
		return HU_SIDE(gemm_no_mma)(w, g);
	else if (!hu_gemm_tile<M>(w, g, &st))
		st = hu_gemm_plain<M>(w, g);
	return st == HU_OK ? hu_result_finish(w, &g->raw, w->out[0]) : st;
}
#endif
