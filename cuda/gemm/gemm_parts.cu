/* SPDX-License-Identifier: Apache-2.0
   Adds up each output's part sums by the fixed tree: blocks of 4096, and then these blocks' sums, which is enough for
   HU_MOST_PARTS. It also says why gemm=mma or bulk is refused. */
#include "cuda/gemm/gemm.cuh"

/* How many copies the loops over lanes have: floats stay in registers, and 32 loads are under way at once; an addition
   in a short format is so long that one copy is enough. */
template <class T> constexpr int copies = sizeof(T) == sizeof(float) ? 32 : 1;

/* lane[0] becomes the sum of 32 lanes. */
template <class T>
HU_DEVICE T
join(const hu_short *s, T *lane)
{
	enum { LANES = copies<T>, STEPS = LANES == 1 ? 1 : 5 };
	HU_UNROLL_BY(STEPS)
	for (uint32_t step = 16; step; step /= 2)
		HU_UNROLL_BY(LANES)
		for (uint32_t j = 0; j < step; j++)
			lane[j] = hu_gemm_plus(s, lane[j], lane[j + step]);
	return lane[0];
}

/* S is the type in which the sums are stored, T the one in which they are added. */
template <class S, class T>
HU_KERNEL
parts_kernel(HU_PARAM hu_gemm g, const S *sums, hu_format f)
{
	enum { LANES = copies<T> };
	size_t stride = (size_t)g.m * g.n;
	hu_short s = hu_short_of(f);

	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < g.m * g.n; i += gridDim.x * blockDim.x) {
		T lane[32], top[32], sum = 0;
		uint32_t blocks = 0;
		HU_UNROLL_BY(LANES)
		for (uint32_t j = 0; j < 32; j++)
			lane[j] = 0;
		HU_ONCE
		for (uint32_t j = 0; j < 32 && g.parts > HU_TREE_BLOCK; j++)
			top[j] = 0;
		HU_ONCE
		for (uint32_t p = 0; p < g.parts; p += 32) { /* whole groups of 32 make a block */
			HU_UNROLL_BY(LANES)
			for (uint32_t j = 0; j < 32; j++)
				if (p + j < g.parts)
					lane[j] = hu_gemm_plus(&s, lane[j], (T)sums[(p + j) * stride + i]);
			if ((p + 32) % HU_TREE_BLOCK && p + 32 < g.parts)
				continue;
			sum = join(&s, lane);
			if (g.parts > HU_TREE_BLOCK)
				top[blocks % 32] = hu_gemm_plus(&s, top[blocks % 32], sum);
			blocks++;
			HU_UNROLL_BY(LANES)
			for (uint32_t j = 0; j < 32; j++)
				lane[j] = 0;
		}
		hu_gemm_store(&g, i, (double)(blocks > 1 ? join(&s, top) : sum));
	}
}

extern "C" hu_status
HU_SIDE(gemm_parts)(hu_work *w, const hu_gemm *g, const void *sums, int doubles, hu_format_id f)
{
	unsigned blocks = hu_blocks_for((size_t)g->m * g->n, 256, 65535);

	if (!doubles && f == HU_FP32)
		return HU_GO(w, (parts_kernel<float, float>), blocks, 256, 0, *g, (const float *)sums, hu_format_of(f));
	if (!doubles)
		return HU_GO(
			w, (parts_kernel<float, double>), blocks, 256, 0, *g, (const float *)sums, hu_format_of(f));
	return HU_GO(w, (parts_kernel<double, double>), blocks, 256, 0, *g, (const double *)sums, hu_format_of(f));
}

extern "C" hu_status
HU_SIDE(gemm_no_mma)(hu_work *w, const hu_gemm *g, int compiled)
{
	const hu_call *c = w->call;
	const char *arch = w->arch < 0 || w->arch == HU_TC_ARCHS ? "hopper" : hu_tc_arch_name((hu_tc_arch)w->arch),
		   *way = hu_gemm_name((hu_gemm_way)w->gemm);
	char sum[128];

	hu_sum_print(g->sum, sum, sizeof sum);
	int units = g->sum.id == HU_SUM_TC && (w->arch < 0 || w->arch == (int)g->sum.arch);
	if (units && g->parts > HU_MOST_PARTS)
		return hu_fail(HU_EUNABLE,
			"gemm=%s: call %d, layer %s, adds %u partial sums of %u terms for each output, and the "
			"device's kernels add at most %d: use larger parts, or gemm=simt",
			way, c->id, *c->layer ? c->layer : "-", g->parts, g->part, HU_MOST_PARTS);
	if (units && compiled < 80)
		return hu_fail(HU_EUNABLE,
			"gemm=%s: the kernels of this program were compiled for compute capability %d.%d, and the "
			"matrix units' instructions need 8.0 (fp8: 8.9): configure --with-cuda-arch for this device, "
			"or use gemm=simt",
			way, compiled / 10, compiled % 10);
	if (units && g->sum.path == HU_TC_WGMMA && w->in[0]->format == g->sum.in && w->in[1]->format == g->sum.in2)
		return hu_fail(HU_EUNABLE,
			"gemm=%s: wgmma serves %s (call %d, layer %s) where operands come in 16 bytes side by side "
			"(fp8: no weight gradients of convolutions), of 64 x 64 outputs or more, compiled for sm_90a: "
			"use gemm=simt",
			way, sum, c->id, *c->layer ? c->layer : "-");
	return hu_fail(HU_EUNABLE,
		"gemm=%s: no matrix unit %s%s%s computes %s (call %d, layer %s) of %s and %s: choose the summation "
		"model tc:%s, or gemm=simt",
		way, w->arch < 0 ? "with a model" : "of this device, tc:",
		w->arch < 0              ? ""
		: w->arch == HU_TC_ARCHS ? "(unknown)"
					 : arch,
		w->arch < 0 ? "" : ",", sum, c->id, *c->layer ? c->layer : "-", hu_format_name(w->in[0]->format),
		hu_format_name(w->in[1]->format), arch);
}
