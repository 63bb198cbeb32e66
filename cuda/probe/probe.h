/* SPDX-License-Identifier: Apache-2.0
   Runs the matrix unit by itself: tiles of operands, given as machine words, go through one instruction of mma.h, so
   that probes see only what it answers. */
#ifndef HU_CUDA_PROBE_H
#define HU_CUDA_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/base/status.h"
#include "lib/sum/sum.h"

#include <stddef.h>
#include <stdint.h>

/* Kinds of instruction that only probes run (probe_unit.h), besides those of mma.h, the first four of which have these
   numbers. */
enum {
	HU_PROBE_F16 = 0,
	HU_PROBE_F16_F16,
	HU_PROBE_BF16,
	HU_PROBE_TF32,
	HU_PROBE_E4M3 = 100,
	HU_PROBE_E5M2,
	HU_PROBE_E4M3_F16,
	HU_PROBE_E5M2_F16,
	HU_PROBE_W_F16,
	HU_PROBE_W_F16_F16,
	HU_PROBE_W_BF16,
	HU_PROBE_W_TF32,
	HU_PROBE_W_E4M3,
	HU_PROBE_W_E5M2,
	HU_PROBE_W_E4M3_F16,
	HU_PROBE_W_E5M2_F16
};

/* A tile is 16 x 8 sums. For each tile A holds [steps][16][8] words, B [steps][8 columns][8], C and D [16][8] floats.
   If half is set, only words 0 to 3 of a row or column are used. */
enum { HU_PROBE_A = 16 * 8, HU_PROBE_B = 8 * 8, HU_PROBE_C = 16 * 8 };

/* What D starts with if the build has no code of the instruction for the device: a NaN that no instruction computes. */
#define HU_PROBE_NO_CODE 0x7fc0deadu

/* Computes D = C + A B for each tile, by steps instructions of this kind (mma.h, probe_unit.h) one after the other, in
   device memory. arch says whose model the shim computes. It does not wait for the device. */
hu_status hu_gpu_probe(void *queue, int kind, int half, hu_tc_arch arch, float *d, const uint32_t *a, const uint32_t *b,
	const float *c, size_t tiles, unsigned steps);
hu_status hu_shim_probe(void *queue, int kind, int half, hu_tc_arch arch, float *d, const uint32_t *a,
	const uint32_t *b, const float *c, size_t tiles, unsigned steps);

/* Measures the units' peak rate: rounds instructions of this kind (HU_PROBE_FMA: fp32 fused multiply-adds) in each of
   HU_PROBE_CHAINS independent sums of every warp, with warps warps per block. The operands leave the accumulators
   unchanged, at their thread's number modulo 1024: out[blocks][32 warps][chains][4] floats. The kinds of the warpgroup
   units (W_F16, W_BF16, W_TF32, W_E4M3, W_E5M2; 8 warps, Hopper alone) run as many instructions of 64 x 256 sums in
   each warpgroup. */
enum { HU_PROBE_CHAINS = 8, HU_PROBE_FMA = -1 };
hu_status hu_gpu_probe_rate(void *queue, int kind, unsigned blocks, unsigned warps, unsigned rounds, float *out);
hu_status hu_shim_probe_rate(void *queue, int kind, unsigned blocks, unsigned warps, unsigned rounds, float *out);

#ifdef __cplusplus
}
#endif
#endif
