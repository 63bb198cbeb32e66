/* SPDX-License-Identifier: Apache-2.0
   One warp (or warpgroup) per tile: the operands' words go to the lanes that mma.h names, the instruction runs, and the
   accumulators come back unchanged. */
#include "cuda/probe/probe_unit.h"

#include "cuda/gemm/wgmma.h"

/* KIND is a constant in each copy, so that a copy contains one instruction only. */
template <int KIND, int HALF>
HU_KERNEL
tiles_of(float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles, unsigned steps, hu_tc_arch arch)
{
	unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;

	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		const float *from = c + tile * HU_PROBE_C;
		float *to = d + tile * HU_PROBE_C, acc[4];
		for (unsigned i = 0; i < 4; i++)
			acc[i] = from[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
		for (unsigned s = 0; s < steps; s++) {
			const uint32_t *rows = a + (tile * steps + s) * HU_PROBE_A,
				       *columns = b + (tile * steps + s) * HU_PROBE_B;
			uint32_t left[4] = { rows[g * 8 + t], rows[(g + 8) * 8 + t], rows[g * 8 + t + 4],
				rows[(g + 8) * 8 + t + 4] };
			uint32_t right[2] = { columns[g * 8 + t], columns[g * 8 + t + 4] };
			if constexpr (KIND < HU_PROBE_E4M3)
				hu_mma(KIND, HALF, acc, left, right, arch);
			else
				hu_probe_mma<KIND>(acc, left, right, arch);
		}
		for (unsigned i = 0; i < 4; i++)
			to[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = acc[i];
	}
}

/* One warpgroup per tile: the tile's rows are the first 16 of 64, the others are 0. */
template <int KIND>
HU_KERNEL
warpgroup_tiles_of(
	float *d, const uint32_t *a, const uint32_t *b, const float *c, size_t tiles, unsigned steps, hu_tc_arch arch)
{
	HU_SHARED_BYTES(shared);
	unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, own = threadIdx.x < 32;

	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		float acc[4] = { 0, 0, 0, 0 };
		for (unsigned i = 0; i < 4 && own; i++)
			acc[i] = c[tile * HU_PROBE_C + (g + i / 2 * 8) * 8 + 2 * t + i % 2];
		for (unsigned s = 0; s < steps; s++) {
			HU_SYNC(); /* no thread reads the operands before */
			for (unsigned i = threadIdx.x; i < 64 * 8; i += 128)
				*(uint32_t *)(shared + hu_probe_place(i / 8, i % 8)) =
					i < HU_PROBE_A ? a[(tile * steps + s) * HU_PROBE_A + i] : 0;
			if (threadIdx.x < HU_PROBE_B)
				*(uint32_t *)(shared + HU_PROBE_W_A +
					      hu_probe_place(threadIdx.x / 8, threadIdx.x % 8)) =
					b[(tile * steps + s) * HU_PROBE_B + threadIdx.x];
			hu_probe_wgmma<KIND>(acc, shared, arch);
		}
		for (unsigned i = 0; i < 4 && own; i++)
			d[tile * HU_PROBE_C + (g + i / 2 * 8) * 8 + 2 * t + i % 2] = acc[i];
	}
}

template <int KIND>
HU_KERNEL
spin(float *out, unsigned rounds)
{
	uint32_t left[4] = { 0, 0, 0, 0 }, right[2] = { 0, 0 };
	float acc[HU_PROBE_CHAINS][4], number = (float)(threadIdx.x % 1024);

	HU_UNROLL
	for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
		for (unsigned i = 0; i < 4; i++)
			acc[k][i] = number;
	for (unsigned r = 0; r < rounds; r++)
		HU_UNROLL
		for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
			hu_mma(KIND, 0, acc[k], left, right, HU_TC_HOPPER);
	HU_UNROLL
	for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
		for (unsigned i = 0; i < 4; i++)
			out[(((size_t)blockIdx.x * blockDim.x + threadIdx.x) * HU_PROBE_CHAINS + k) * 4 + i] =
				acc[k][i];
}

/* x / 2 + number / 2 gives number again. */
HU_KERNEL
spin_fma(float *out, unsigned rounds, float half)
{
	float acc[HU_PROBE_CHAINS][4], number = (float)(threadIdx.x % 1024), more = number * half;

	HU_UNROLL
	for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
		for (unsigned i = 0; i < 4; i++)
			acc[k][i] = number;
	for (unsigned r = 0; r < rounds; r++)
		HU_UNROLL
		for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
			HU_UNROLL
			for (unsigned i = 0; i < 4; i++)
				acc[k][i] = fmaf(acc[k][i], half, more);
	HU_UNROLL
	for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
		for (unsigned i = 0; i < 4; i++)
			out[(((size_t)blockIdx.x * blockDim.x + threadIdx.x) * HU_PROBE_CHAINS + k) * 4 + i] =
				acc[k][i];
}

/* The same for two warpgroups, whose instructions compute 64 x 256 sums from operands of zeros in shared memory. A
   thread has 128 sums, of which it writes the first HU_PROBE_CHAINS * 4: NaN if any of them has changed. */
enum { SPIN_A = 64 * 128, SPIN_B = 256 * 128, SPIN_BYTES = SPIN_A + SPIN_B + 1024 };

template <int KIND>
HU_KERNEL_OF(256)
spin_group(float *out, unsigned rounds)
{
	HU_SHARED_BYTES(raw);
	unsigned char *shared = raw + (1024 - (size_t)raw % 1024) % 1024;
	float d[HU_WGMMA_OUTPUTS(256)], number = (float)(threadIdx.x % 1024);
	int same = 1;
	hu_wgmmas units;

	if (!HU_WGMMA_HERE) /* never launched there, and cannot be compiled */
		return;
	hu_wgmmas_begin(&units);
	for (unsigned i = threadIdx.x; i < (SPIN_A + SPIN_B) / 4; i += blockDim.x)
		((uint32_t *)shared)[i] = 0;
	HU_UNROLL
	for (unsigned i = 0; i < HU_WGMMA_OUTPUTS(256); i++)
		d[i] = number;
	hu_wgmma_publish();
	HU_SYNC();
	hu_matrix a = hu_matrix_at(shared, 16, 1024), b = hu_matrix_at(shared + SPIN_A, 16, 1024);
	HU_ONCE
	for (unsigned r = 0; r < rounds; r++) {
		hu_wgmma_fence();
		HU_UNROLL
		for (unsigned k = 0; k < HU_PROBE_CHAINS; k++)
			hu_wgmma<256, KIND, 0, 0>(&units, d, hu_matrix_move(a, k % 4 * 32),
				hu_matrix_move(b, k % 4 * 32), HU_TC_HOPPER);
		hu_wgmma_commit(&units);
		hu_wgmma_wait<1, 256>(&units, d);
	}
	hu_wgmma_wait<0, 256>(&units, d);
	HU_UNROLL
	for (unsigned i = 0; i < HU_WGMMA_OUTPUTS(256); i++)
		same &= d[i] == number;
	for (unsigned i = 0; i < HU_PROBE_CHAINS * 4; i++)
		out[((size_t)blockIdx.x * blockDim.x + threadIdx.x) * HU_PROBE_CHAINS * 4 + i] =
			same ? number : hu_from_bits32(HU_PROBE_NO_CODE);
}

extern "C" hu_status
HU_SIDE(probe)(void *queue, int kind, int half, hu_tc_arch arch, float *d, const uint32_t *a, const uint32_t *b,
	const float *c, size_t tiles, unsigned steps)
{
	unsigned blocks = hu_blocks_for(tiles, 1, 65535);

#define CASE(k)                                                                                                        \
	case k:                                                                                                        \
		return half ? HU_LAUNCH((tiles_of<k, 1>), blocks, 32, 0, queue, d, a, b, c, tiles, steps, arch)        \
			    : HU_LAUNCH((tiles_of<k, 0>), blocks, 32, 0, queue, d, a, b, c, tiles, steps, arch)
#define EIGHT(k) case k: return HU_LAUNCH((tiles_of<k, 0>), blocks, 32, 0, queue, d, a, b, c, tiles, steps, arch)
#define GROUP(k)                                                                                                       \
	case k:                                                                                                        \
		return HU_LAUNCH(                                                                                      \
			(warpgroup_tiles_of<k>), blocks, 128, HU_PROBE_W_BYTES, queue, d, a, b, c, tiles, steps, arch)
	switch (kind) {
	CASE(HU_MMA_F16);
	CASE(HU_MMA_F16_F16);
	CASE(HU_MMA_BF16);
	CASE(HU_MMA_TF32);
	EIGHT(HU_PROBE_E4M3);
	EIGHT(HU_PROBE_E5M2);
	EIGHT(HU_PROBE_E4M3_F16);
	EIGHT(HU_PROBE_E5M2_F16);
	GROUP(HU_PROBE_W_F16);
	GROUP(HU_PROBE_W_F16_F16);
	GROUP(HU_PROBE_W_BF16);
	GROUP(HU_PROBE_W_TF32);
	GROUP(HU_PROBE_W_E4M3);
	GROUP(HU_PROBE_W_E5M2);
	GROUP(HU_PROBE_W_E4M3_F16);
	GROUP(HU_PROBE_W_E5M2_F16);
	default: return hu_fail(HU_EUNABLE, "there is no matrix instruction %d", kind);
	}
#undef CASE
#undef EIGHT
#undef GROUP
}

extern "C" hu_status
HU_SIDE(probe_rate)(void *queue, int kind, unsigned blocks, unsigned warps, unsigned rounds, float *out)
{
#define GROUP(probed, kind) \
	case probed: return HU_LAUNCH(spin_group<kind>, blocks, 32 * warps, SPIN_BYTES, queue, out, rounds)
	switch (kind) {
	case HU_PROBE_FMA: return HU_LAUNCH(spin_fma, blocks, 32 * warps, 0, queue, out, rounds, 0.5f);
	case HU_MMA_F16: return HU_LAUNCH(spin<HU_MMA_F16>, blocks, 32 * warps, 0, queue, out, rounds);
	case HU_MMA_F16_F16: return HU_LAUNCH(spin<HU_MMA_F16_F16>, blocks, 32 * warps, 0, queue, out, rounds);
	case HU_MMA_BF16: return HU_LAUNCH(spin<HU_MMA_BF16>, blocks, 32 * warps, 0, queue, out, rounds);
	case HU_MMA_TF32: return HU_LAUNCH(spin<HU_MMA_TF32>, blocks, 32 * warps, 0, queue, out, rounds);
	GROUP(HU_PROBE_W_F16, HU_MMA_F16);
	GROUP(HU_PROBE_W_BF16, HU_MMA_BF16);
	GROUP(HU_PROBE_W_TF32, HU_MMA_TF32);
	GROUP(HU_PROBE_W_E4M3, HU_MMA_E4M3);
	GROUP(HU_PROBE_W_E5M2, HU_MMA_E5M2);
	default: return hu_fail(HU_EUNABLE, "there is no matrix instruction %d", kind);
	}
#undef GROUP
}
