/* SPDX-License-Identifier: Apache-2.0
   One thread per output, which sums its products as the call's model says (lib/sum/table/parts.h). */
#include "cuda/gemm/gemm_plain.cuh"

/* Blocks have 128 threads; the bound of 512 leaves each thread the 128 registers with which four of them fit. */
HU_KERNEL_OF(512)
rows_kernel(HU_PARAM hu_gemm g, const double *a, const double *b, double *sums, uint32_t first, uint32_t n)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n * g.n; i += gridDim.x * blockDim.x) {
		uint32_t element = first * g.n + i;
		hu_draw draw = { g.pulse->seed, g.draw, g.pulse->step, (uint64_t)hu_gemm_element(&g, element) * g.terms,
			g.sum.bits };
		hu_gemm_store(&g, element,
			hu_parts_run(a + (size_t)(i / g.n) * g.k, b + (size_t)(i % g.n) * g.k, g.k, g.part, g.sum,
				&draw, sums + (size_t)i * g.parts, NULL));
	}
}

extern "C" hu_status
HU_SIDE(gemm_rows)(
	hu_work *w, const hu_gemm *g, const double *a, const double *b, double *sums, uint32_t first, uint32_t n)
{
	return HU_GO(w, rows_kernel, hu_blocks_for((size_t)n * g->n, 128, 65535), 128, 0, *g, a, b, sums, first, n);
}
