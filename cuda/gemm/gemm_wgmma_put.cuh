/* SPDX-License-Identifier: Apache-2.0
   Stores a warpgroup's accumulators (wgmma.h) straight from registers: in 16-bit formats 16 bytes at a time, for which
   four neighbouring threads exchange what they hold. */
#ifndef HU_CUDA_GEMM_WGMMA_PUT_CUH
#define HU_CUDA_GEMM_WGMMA_PUT_CUH

#include "cuda/gemm/gemm.cuh"

/* As hu_gemm_put2, for results that are stored in no other way here. */
HU_DEVICE_CALL void
hu_group_put2(const hu_gemm *g, float *sums, uint32_t m, uint32_t n, float x, float y)
{
	float v[2] = { x, y };

	hu_gemm_put2(g, sums, m, n, v);
}

/* Transposes: v[i] of lane j of each four lanes and v[j] of lane i change places. */
HU_DEVICE void
hu_group_exchange(uint32_t *v)
{
	uint32_t lane = threadIdx.x;

	HU_UNROLL
	for (uint32_t by = 1; by < 4; by *= 2)
		HU_UNROLL
		for (uint32_t i = 0; i < 4; i++)
			if (!(i & by)) {
				int upper = (lane & by) != 0;
				uint32_t got = hu_shfl_xor(upper ? v[i] : v[i | by], by);
				v[i] = upper ? got : v[i];
				v[i | by] = upper ? v[i | by] : got;
			}
}

/* A value's code in a 16-bit format whose conversion is NATIVE. */
template <int NATIVE>
HU_DEVICE uint32_t
hu_group_code(const hu_coding *q, float x)
{
	return NATIVE == HU_CODES_HALF ? hu_half_code(q, x) : hu_brain_code(x);
}

/* Stores codes of a whole number of groups of 8 columns. row has the elements of this thread's two rows at column 0. */
template <int N, int NATIVE>
HU_DEVICE void
hu_group_put_codes(const hu_gemm *g, const size_t *row, uint32_t m, uint32_t n0, const float *d)
{
	uint32_t lane = threadIdx.x % 4;

	HU_UNROLL
	for (uint32_t h = 0; h < 2; h++)
		HU_UNROLL
		for (uint32_t j = 0; j < N / 8; j += 4) {
			uint32_t v[4], n = n0 + (j + lane) * 8;
			HU_UNROLL
			for (uint32_t i = 0; i < 4; i++) {
				const float *x = d + (j + i) * 4 + h * 2;
				v[i] = hu_group_code<NATIVE>(&g->y.code, x[0]) |
				       hu_group_code<NATIVE>(&g->y.code, x[1]) << 16;
			}
			hu_group_exchange(v);
			if (m + h * 8 < g->m && n < g->n)
				hu_store_words<16>((uint16_t *)g->y.data + row[h] + n, v);
		}
}

/* Stores pairs of floats; n is even. */
template <int N>
HU_DEVICE void
hu_group_put_floats(const hu_gemm *g, float *to, int sums, const size_t *row, uint32_t m, uint32_t n0, const float *d)
{
	HU_UNROLL
	for (uint32_t h = 0; h < 2; h++)
		HU_UNROLL
		for (uint32_t j = 0; j < N / 8; j++) {
			uint32_t n = n0 + j * 8 + threadIdx.x % 4 * 2, v[2];
			HU_UNROLL
			for (uint32_t i = 0; i < 2; i++) { /* a result's NaN is stored as the one quiet NaN */
				float x = d[j * 4 + h * 2 + i];
				v[i] = !sums && x != x ? 0x7fc00000u : hu_bits32(x);
			}
			if (m + h * 8 < g->m && n < g->n)
				hu_store_words<8>(to + row[h] + n, v);
		}
}

/* Stores 64 x N outputs from row m0 and column n0 on; to sums unless that is NULL. */
template <int N>
HU_DEVICE void
hu_group_put(const hu_gemm *g, float *sums, uint32_t m0, uint32_t n0, const float *d)
{
	uint32_t m = m0 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
	size_t row[2] = { sums ? (size_t)m * g->n : hu_gemm_row(g, m),
		sums ? (size_t)(m + 8) * g->n : hu_gemm_row(g, m + 8) };
	int codes = !sums && g->y.kind == HU_KIND_CODE16 && !g->y.exact && !g->sa.data && g->n % 8 == 0 &&
		    (size_t)g->y.data % 16 == 0;

	if (codes && g->y.code.native == HU_CODES_HALF)
		hu_group_put_codes<N, HU_CODES_HALF>(g, row, m, n0, d);
	else if (codes && g->y.code.native == HU_CODES_BRAIN)
		hu_group_put_codes<N, HU_CODES_BRAIN>(g, row, m, n0, d);
	else if (g->n % 2 == 0 && (sums || (g->y.kind == HU_KIND_F32 && g->y.exact && !g->sa.data)))
		hu_group_put_floats<N>(g, sums ? sums : (float *)g->y.data, sums != NULL, row, m, n0, d);
	else
		HU_UNROLL
		for (uint32_t i = 0; i < HU_WGMMA_OUTPUTS(N); i += 2) {
			uint32_t h = i % 4 / 2 * 8, n = n0 + i / 4 * 8 + threadIdx.x % 4 * 2;
			if (m + h < g->m && n < g->n)
				hu_group_put2(g, sums, m + h, n, d[i], d[i + 1]);
		}
}
#endif
