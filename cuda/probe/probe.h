/* SPDX-License-Identifier: Apache-2.0
   The matrix unit by itself: tiles of operands' own words through one instruction of
   mma.h, so that probes see what it answers and nothing else. */
#ifndef HU_CUDA_PROBE_H
#define HU_CUDA_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/base/status.h"
#include "lib/sum/sum.h"

#include <stddef.h>
#include <stdint.h>

/* Kinds of instruction that only probes run (probe_unit.h), apart from those of mma.h, whose first four have these
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

/* A tile is 16 x 8 sums. Of it A holds [steps][16][8] words, B [steps][8 columns][8], C and D [16][8] floats; of HALF
   only words 0 to 3 of a row or column are looked at. */
enum { HU_PROBE_A = 16 * 8, HU_PROBE_B = 8 * 8, HU_PROBE_C = 16 * 8 };

/* What D begins with where the build has no code of the instruction for the device: a NaN that none computes. */
#define HU_PROBE_NO_CODE 0x7fc0deadu

/* D = C + A B for each of TILES tiles, STEPS instructions of KIND (mma.h, probe_unit.h) one after the other, all in
   device memory. ARCH: whose model the shim computes. Nothing waits for the device. */
hu_status hu_gpu_probe(void *queue, int kind, int half, hu_tc_arch arch, float *d, const uint32_t *a, const uint32_t *b,
	const float *c, size_t tiles, unsigned steps);
hu_status hu_shim_probe(void *queue, int kind, int half, hu_tc_arch arch, float *d, const uint32_t *a,
	const uint32_t *b, const float *c, size_t tiles, unsigned steps);

/* ROUNDS instructions of KIND (HU_PROBE_FMA: fp32 fused multiply-adds) in each of HU_PROBE_CHAINS independent sums of
   every warp, WARPS warps a block: what the units can do at most. Operands leave the accumulators as they began, each
   its thread's number modulo 1024: OUT[blocks][32 WARPS][CHAINS][4] floats. */
enum { HU_PROBE_CHAINS = 8, HU_PROBE_FMA = -1 };
hu_status hu_gpu_probe_rate(void *queue, int kind, unsigned blocks, unsigned warps, unsigned rounds, float *out);
hu_status hu_shim_probe_rate(void *queue, int kind, unsigned blocks, unsigned warps, unsigned rounds, float *out);

#ifdef __cplusplus
}
#endif
#endif
