/* SPDX-License-Identifier: Apache-2.0
   Each output's part sums to one by the fixed tree: at most 4096 of them, one block of it. */
#include "cuda/gemm.cuh"

/* S: as the sums lie; T: in which they are added. */
template <class S, class T>
HU_KERNEL
parts_kernel(HU_PARAM hu_gemm g, const S *sums, hu_format f)
{
	size_t stride = (size_t)g.m * g.n;
	hu_short s = hu_short_of(f);

	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < g.m * g.n; i += gridDim.x * blockDim.x) {
		T lane[32];
		HU_ONCE
		for (uint32_t j = 0; j < 32; j++)
			lane[j] = 0;
		HU_ONCE
		for (uint32_t p = 0; p < g.parts; p++)
			lane[p % 32] = hu_gemm_plus(&s, lane[p % 32], (T)sums[p * stride + i]);
		HU_ONCE
		for (uint32_t step = 16; step; step /= 2)
			HU_ONCE
			for (uint32_t j = 0; j < step; j++)
				lane[j] = hu_gemm_plus(&s, lane[j], lane[j + step]);
		hu_gemm_store(&g, i, (double)lane[0]);
	}
}

extern "C" hu_status
HU_SIDE(gemm_parts)(hu_work *w, const hu_gemm *g, const void *sums, int doubles, hu_format_id f)
{
	unsigned blocks = hu_blocks_for((size_t)g->m * g->n, 256, 65535);

	if (!doubles && f == HU_FP32)
		return HU_GO(w, (parts_kernel<float, float>), blocks, 256, 0, *g, (const float *)sums, hu_format_of(f));
	if (!doubles)
		return HU_GO(w, (parts_kernel<float, double>), blocks, 256, 0, *g, (const float *)sums, hu_format_of(f));
	return HU_GO(w, (parts_kernel<double, double>), blocks, 256, 0, *g, (const double *)sums, hu_format_of(f));
}
